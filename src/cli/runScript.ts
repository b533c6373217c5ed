// Runs a program in a separate process on this terminal. Input, output, signals and exit code are those of the program.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { killReason, oomKills } from '../api/oomKills.js';
import { killChild } from '../base/killChild.js';

export interface ScriptOptions {
  readonly nodeArguments?: readonly string[];
  /** Variables in addition to the environment of this process. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface ScriptEnd {
  /** Exit code of the program; 128 plus the number of the signal that ended it, as in a shell. */
  readonly code: number;
  readonly signal: NodeJS.Signals | null;
  /** Why the signal ended the program, to be appended; empty if unknown. */
  readonly reason: string;
}

/** Signals that a terminal sends to the whole process group, including the program. */
const FROM_TERMINAL: readonly NodeJS.Signals[] = ['SIGINT', 'SIGHUP', 'SIGQUIT'];
const FORWARDED: readonly NodeJS.Signals[] = [...FROM_TERMINAL, 'SIGTERM', 'SIGUSR1', 'SIGUSR2'];

/** Runs the program and waits for its end, so that the shell's prompt appears after it. */
export async function runScript(
  file: string,
  args: readonly string[],
  { nodeArguments = [], environment = {} }: ScriptOptions = {},
): Promise<ScriptEnd> {
  const before = oomKills();
  const child = spawn(process.execPath, [...nodeArguments, file, ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  });
  const onTerminal = process.stdin.isTTY === true || process.stderr.isTTY === true;
  const forward = (signal: NodeJS.Signals): void => {
    if (!onTerminal || !FROM_TERMINAL.includes(signal)) killChild(child, signal);
  };
  for (const signal of FORWARDED) process.on(signal, forward);
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) =>
        resolve({
          code: code ?? 128 + (signal === null ? 0 : constants.signals[signal]),
          signal,
          reason: killReason(signal, before),
        }),
      );
    });
  } finally {
    for (const signal of FORWARDED) process.off(signal, forward);
  }
}
