// Stack frames of this package, which say nothing about the program whose task failed.

const STACK_LINE = /^\s+at /;
/** Folders of the code that calls tasks. The examples beside them are programs. */
const FOLDERS = ['api', 'bundle', 'diagnostics', 'engine'].map(
  (folder) => new URL(`../${folder}/`, import.meta.url).href,
);

export function isStackLine(line: string): boolean {
  return STACK_LINE.test(line);
}

/** Returns whether a line of a stack is a stack frame of this package or of Node. */
export function isOwnStackFrame(line: string): boolean {
  return STACK_LINE.test(line) && (/[ (]node:/.test(line) || FOLDERS.some((folder) => line.includes(folder)));
}

/**
 * Makes an error without stack frames of this package. If none is left, because the error is made when a worker reports,
 * the stack names the call of the program instead.
 *
 * @param call place and text of the call's line; empty if unknown
 */
export function withoutOwnStackFrames<E extends Error>(error: E, call = ''): E {
  const shown = (error.stack ?? '').split('\n').filter((line) => isStackLine(line) && !isOwnStackFrame(line));
  if (shown.length === 0 && call !== '') shown.push(`    at ${call}`);
  error.stack = [`${error.name}: ${error.message}`, ...shown].join('\n');
  return error;
}
