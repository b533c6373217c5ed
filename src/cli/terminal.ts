// What the commands share: where output goes, how wide it may be, whether it has colours, and which code the process ends
// with.

import { LongpoleError } from '../base/errors.js';
import { isError } from '../base/isError.js';
import { visibleText } from '../base/visibleText.js';

/** 0: done. */
export const DONE = 0;
/** The user's program or a check failed. */
export const FAILED = 1;
/** Wrong usage or unreadable input. */
export const WRONG_USAGE = 2;

/** Columns of a terminal that does not know. */
const USUAL_WIDTH = 80;

/** Columns of the terminal; where the output is none those of COLUMNS, or as many as it takes. */
export function outputWidth(): number {
  // A terminal that does not know its width says 0.
  if (process.stdout.isTTY) return process.stdout.columns || USUAL_WIDTH;
  const { COLUMNS } = process.env;
  const columns = Number(COLUMNS);
  return Number.isInteger(columns) && columns > 0 ? columns : Number.POSITIVE_INFINITY;
}

/** Returns the text in bold where the output is a terminal and NO_COLOR is not set. Control characters become visible signs. */
export function heading(text: string): string {
  const { NO_COLOR } = process.env;
  const plain = !process.stdout.isTTY || (NO_COLOR !== undefined && NO_COLOR !== '');
  return plain ? visibleText(text) : `\u001b[1m${visibleText(text)}\u001b[22m`;
}

/** Prints text for people: control characters that came with a trace become visible signs. */
export async function printText(text: string): Promise<void> {
  await print(visibleText(text));
}

/**
 * Prints data, or lines that are visible already, and waits until the output took them. A reader that went away, as
 * `head` does, ends the command. Throws CommandError if the output refuses the text, e.g. because the disk is full.
 */
export async function print(text: string): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      // Writing to a file throws at once.
      process.stdout.write(text, (error) => (isError(error) ? reject(error) : resolve()));
    });
  } catch (error) {
    if (isError(error) && 'code' in error && error.code === 'EPIPE') process.exit(DONE);
    const what = isError(error) ? error.message : String(error);
    throw new CommandError(`the output cannot be written: ${what}`, FAILED);
  }
}

/** Prints a line, or lines, that are no result, to the standard error output; with visible signs as `printText`. */
export function note(text: string): void {
  process.stderr.write(`${visibleText(text)}\n`);
}

/** Thrown by commands: a message for the user, and the code to end with. */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Errors of Longpole inside `action` end the command with `exitCode`, or as unreadable input where they are about the
 * form of a trace: large traces are read while they are used. Other errors are defects and stay what they are.
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

/** The same for what ends later. */
export async function failingLater<T>(exitCode: number, action: Promise<T>): Promise<T> {
  try {
    return await action;
  } catch (error) {
    return failingWith(exitCode, () => {
      throw error;
    });
  }
}

/** Ctrl-C, or what a system says when it wants a program to end. */
export function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });
}

/** The action of a command: its errors are printed, and the process ends with their code. */
export async function runCommand(action: () => Promise<void>): Promise<void> {
  // Writing to a closed pipe also raises an event; `print` has seen to it.
  process.stdout.on('error', () => {});
  try {
    await action();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    note(`longpole: ${error.message}`);
    process.exitCode = error.exitCode;
  }
}
