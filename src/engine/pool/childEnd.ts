// The end of a child process, as its parent learns of it, and as its parent brings it about.
import type { ChildProcess, Serializable } from 'node:child_process';

/** What a process had sent before it ended is received within this time after its exit, in milliseconds. */
export const DRAIN_MS = 1000;
/** The time counts in looks of the event loop, each of which receives: while this thread has no core, none passes. */
const LOOK_MS = 50;

/**
 * Calls back once when the process has ended and what it had sent has been received: Node may tell of the exit before the
 * last messages. Also if the system refuses to start it. `cause` says how it ended.
 */
export function whenEnded(child: ChildProcess, ended: (cause: Error) => void): void {
  let failure: Error | undefined;
  child.on('error', (error) => {
    failure ??= error;
    // It was not started, and will never exit.
    if (child.pid === undefined) ended(error);
  });
  child.once('exit', (code, signal) => {
    const how = signal === null ? `with exit code ${code}` : `by signal ${signal}`;
    const cause = failure ?? new Error(`The worker process ended ${how}.`);
    whenDrained(child, () => ended(cause));
  });
}

/** Sends a message. A process that cannot be reached is ended, if it has not: it would wait for the message for ever. */
export function sendOrEnd(child: ChildProcess, message: Serializable): void {
  if (!child.connected) child.kill('SIGKILL');
  else
    child.send(message, (error) => {
      if (error !== null) child.kill('SIGKILL');
    });
}

function whenDrained(child: ChildProcess, drained: () => void): void {
  if (!child.connected) {
    drained();
    return;
  }
  const done = (): void => {
    clearInterval(timer);
    child.off('disconnect', done);
    drained();
  };
  let looks = 0;
  const timer = setInterval(() => {
    if (++looks * LOOK_MS >= DRAIN_MS) done();
  }, LOOK_MS);
  child.once('disconnect', done);
}
