// Runs a program of JavaScript or TypeScript in a process of its own, on this terminal: its input, output, signals and exit
// code are its own.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

export interface ScriptOptions {
  /** For Node, before the script. */
  readonly nodeArguments?: readonly string[];
  /** Beside the environment of this process. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface ScriptEnd {
  /** That of the program; one that a signal ended has 128 and the signal's number, as in a shell. */
  readonly code: number;
  readonly signal: NodeJS.Signals | null;
}

/** A terminal sends these to the program itself, with all of its process group. */
const FROM_TERMINAL: readonly NodeJS.Signals[] = ['SIGINT', 'SIGHUP', 'SIGQUIT'];
const FORWARDED: readonly NodeJS.Signals[] = [...FROM_TERMINAL, 'SIGTERM', 'SIGUSR1', 'SIGUSR2'];

/** Runs the program to its end. This process stays until then, so that the prompt comes back last. */
export async function runScript(
  file: string,
  args: readonly string[],
  { nodeArguments = [], environment = {} }: ScriptOptions = {},
): Promise<ScriptEnd> {
  const child = spawn(process.execPath, [...nodeArguments, file, ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  });
  const onTerminal = process.stdin.isTTY === true || process.stderr.isTTY === true;
  const forward = (signal: NodeJS.Signals): void => {
    if (!onTerminal || !FROM_TERMINAL.includes(signal)) child.kill(signal);
  };
  for (const signal of FORWARDED) process.on(signal, forward);
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) =>
        resolve({ code: code ?? 128 + (signal === null ? 0 : constants.signals[signal]), signal }),
      );
    });
  } finally {
    for (const signal of FORWARDED) process.off(signal, forward);
  }
}
