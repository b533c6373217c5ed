// Runs small programs as a user would: in a process of their own, from a file, with the built package.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Compiled tests import the package by name; programs in a temporary folder need its address. */
export function packageUrl(subpath: 'index' | 'local' | 'diagnostics' | 'trace' | 'analysis'): string {
  return new URL(`../../../dist/api/${subpath}.js`, import.meta.url).href;
}

/** A folder of its own for a test, removed when the body ends. */
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
  /** After this many seconds the program is killed and the test fails. Default 60. */
  readonly seconds?: number;
  readonly extension?: string;
}

/** Writes a program into a folder and runs it to its end. */
export function runProgram(folder: string, source: string, options: ProgramOptions = {}): Promise<Ended> {
  const file = join(folder, `program${options.extension ?? '.mjs'}`);
  writeFileSync(file, source);
  return runNode([...(options.nodeArguments ?? []), file, ...(options.arguments ?? [])], options.seconds);
}

export function runNode(args: readonly string[], seconds = 60): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`the program did not end within ${seconds} s; it printed:\n${stdout}\n${stderr}`));
    }, seconds * 1000);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, stdout, stderr });
    });
  });
}

/** Whether there is a process of this id. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
