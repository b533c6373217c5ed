// Functions that all commands share: output with its width and style, errors, and exit codes.
import { isError, LongpoleError, sentenceOf } from '../base/errors.js';
import { visibleText } from '../base/visibleText.js';

const DONE = 0;
/** Exit code if the user's program or a check failed. */
export const FAILED = 1;
/** Exit code for wrong usage or unreadable input. */
export const WRONG_USAGE = 2;

/** Columns of a terminal with an unknown width. */
const USUAL_WIDTH = 80;

/** Returns the columns of the terminal. For other outputs, returns COLUMNS of the environment, or Infinity. */
export function outputWidth(): number {
  // A terminal with an unknown width has 0 columns.
  if (process.stdout.isTTY) return process.stdout.columns || USUAL_WIDTH;
  const { COLUMNS } = process.env;
  const columns = Number(COLUMNS);
  return Number.isInteger(columns) && columns > 0 ? columns : Number.POSITIVE_INFINITY;
}

/** Returns the text in bold if the output is a terminal and NO_COLOR is not set. Makes control characters visible. */
export function heading(text: string): string {
  const { NO_COLOR } = process.env;
  const plain = !process.stdout.isTTY || (NO_COLOR !== undefined && NO_COLOR !== '');
  return plain ? visibleText(text) : `\u001b[1m${visibleText(text)}\u001b[22m`;
}

/** Prints text. Makes control characters from a trace visible. */
export async function printText(text: string): Promise<void> {
  await print(visibleText(text));
}

/**
 * Prints data or escaped text, and waits until the output has accepted it. If the reader has closed the pipe, as `head`
 * does, the command ends.
 *
 * @throws (rejects) CommandError if the output cannot be written, e.g. because the disk is full
 */
export async function print(text: string | Uint8Array): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      // Writing to a file throws at once.
      process.stdout.write(text, (error) => (isError(error) ? reject(error) : resolve()));
    });
  } catch (error) {
    if (isError(error) && 'code' in error && error.code === 'EPIPE') process.exit(DONE);
    throw new CommandError(
      `the output cannot be written: ${sentenceOf(error)} Check where standard output goes.`,
      FAILED,
    );
  }
}

/** Prints lines that are not results to stderr. Makes control characters visible. */
export function note(text: string): void {
  process.stderr.write(`${visibleText(text)}\n`);
}

/** Error of a command: a message for the user, and the exit code. */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Runs `action` and converts errors of Longpole to CommandErrors with `exitCode`. ERR_LONGPOLE_TRACE_FORMAT becomes
 * wrong usage, because large traces are read while they are used. Other errors are bugs and are not converted.
 */
export function failingWith<T>(exitCode: number, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof LongpoleError)) throw error;
    const code = error.code === 'ERR_LONGPOLE_TRACE_FORMAT' ? WRONG_USAGE : exitCode;
    throw new CommandError(`${error.message} (${error.code})`, code);
  }
}

/** Does the same for a promise. */
export async function failingLater<T>(exitCode: number, action: Promise<T>): Promise<T> {
  try {
    return await action;
  } catch (error) {
    return failingWith(exitCode, () => {
      throw error;
    });
  }
}

/** Resolves at SIGINT (Ctrl-C), SIGTERM or SIGHUP (the terminal closes). */
export function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
}

/** Resolves when the standard input receives anything or ends. The open input does not keep this process alive. */
export function inputEnds(): Promise<void> {
  const { stdin } = process;
  return new Promise((resolve) => {
    const end = (): void => resolve();
    stdin.once('data', end).once('end', end).once('error', end);
    // A file as input is no socket.
    if ('unref' in stdin) stdin.unref();
  });
}

/** Runs a command. Prints a CommandError, and sets its exit code. */
export async function runCommand(action: () => Promise<void>): Promise<void> {
  // A write to a closed pipe also emits an event. `print` handles the error.
  process.stdout.on('error', () => {});
  // The terminal may close before the command ends. The command must still complete its files.
  process.stderr.on('error', () => {});
  try {
    await action();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    note(`longpole: ${error.message}`);
    process.exitCode = error.exitCode;
  }
}
