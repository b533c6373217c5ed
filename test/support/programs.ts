// Runs small programs as a user does: each from a file, in a separate process, with the built package.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Signal on which a program prints the state of its cluster, see the setting `dump-signal`. */
export const DUMP_SIGNAL = 'SIGUSR2';
/** Matches the lines of a brief dump, which is printed after the complete dump. */
const BRIEF_LINES = /^longpole: .*$/gm;
/** Matches the last line of a dump. */
const DUMP_END = 'longpole: end of the dump\n';
/** Time limit of a dump in milliseconds. The dump waits three seconds for a worker that does not answer. */
const DUMP_MS = 20_000;
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Returns the URL of a built entry point. A program in a temporary folder cannot import the package by its name. */
export function packageUrl(subpath: 'index' | 'local' | 'diagnostics' | 'trace' | 'analysis'): string {
  return new URL(`../../../dist/bundle/${subpath}.js`, import.meta.url).href;
}

/** Passes a new folder to the body, and removes the folder at the end. */
export async function withFolder<T>(body: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'longpole-test-'));
  try {
    return await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProgramOptions {
  readonly nodeArguments?: readonly string[];
  readonly arguments?: readonly string[];
  /** Seconds after which the program is killed and the test fails. Default 200. */
  readonly seconds?: number;
  readonly extension?: string;
}

/** Writes a program into a folder and runs it to its end. */
export function runProgram(folder: string, source: string, options: ProgramOptions = {}): Promise<Ended> {
  const file = join(folder, `program${options.extension ?? '.mjs'}`);
  writeFileSync(file, source);
  return runNode([...(options.nodeArguments ?? []), file, ...(options.arguments ?? [])], options.seconds);
}

export function runNode(args: readonly string[], seconds = 200): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const program = startNode(args);
    const { child, output } = program;
    const timer = setTimeout(() => {
      void dumpAndKill(program).then((where) => {
        const { stdout, stderr } = output;
        reject(
          new Error(
            `The program did not end within ${seconds} s. ${where}\nIt printed:\n${stdout}\n${stderr}`,
          ),
        );
      });
    }, seconds * 1000);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, ...output });
    });
  });
}

export interface Program {
  readonly child: ChildProcess;
  /** Output so far. */
  readonly output: { stdout: string; stderr: string };
}

/** Starts a program that can be dumped, see `dumpAndKill`. */
export function startNode(args: readonly string[]): Program {
  const env = { ...process.env, LONGPOLE_DUMP_SIGNAL: DUMP_SIGNAL };
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    output.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output.stderr += chunk;
  });
  return { child, output };
}

/** Returns a brief state of the program, see `dumpOf`, and ends the program. */
export async function dumpAndKill({ child, output }: Program): Promise<string> {
  const { pid } = child;
  if (pid === undefined) return 'The program could not be started.';
  const before = output.stderr.length;
  const dump = await dumpOf(pid, output, () => child.exitCode !== null || child.signalCode !== null);
  child.kill('SIGKILL');
  output.stderr = output.stderr.slice(0, before);
  return [dump.split('\n', 1)[0], ...(dump.match(BRIEF_LINES) ?? [])].join('\n');
}

/**
 * Returns the state of a program that was started with the setting `dump-signal`: its threads as the system reports
 * them, and its clusters if its event loop runs.
 */
export async function dumpOf(
  pid: number,
  output: { readonly stderr: string },
  hasEnded: () => boolean,
): Promise<string> {
  const { threadStates }: typeof import('../../src/resources/processTree.js') = await import(
    new URL('../../../dist/resources/processTree.js', import.meta.url).href
  );
  const threads = threadStates(pid).join(', ');
  const before = output.stderr.length;
  process.kill(pid, DUMP_SIGNAL);
  // Without a cluster the signal ends the program.
  for (const end = performance.now() + DUMP_MS; performance.now() < end && !hasEnded(); ) {
    if (output.stderr.includes(DUMP_END, before)) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const dump = output.stderr.slice(before);
  const clusters = dump.includes(DUMP_END)
    ? dump
    : `The program printed no complete dump, because it has no cluster or its event loop is blocked. ${dump}`;
  return `Its threads: ${threads}. ${clusters}`;
}

/** Returns whether a process with this id exists. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
