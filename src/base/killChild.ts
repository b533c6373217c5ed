// Ends a child process.

/** The parts of Node's `ChildProcess` that are used here. */
interface Child<Signal> {
  readonly pid?: number | undefined;
  kill(signal: Signal): boolean;
}

/**
 * Sends a signal to a child, if there is one. Use this instead of `child.kill`: if the limit of open files prevents a start
 * (EMFILE, ENFILE), Node keeps a handle with the process id 0 until it emits the error. Its `kill` would end the whole process
 * group of this program, e.g. the shell script that runs it.
 */
export function killChild<Signal>(child: Child<Signal>, signal: Signal): void {
  if (child.pid !== undefined) child.kill(signal);
}
