// Detects the end of a child process, and ends a process that cannot be reached.
import type { ChildProcess, Serializable } from 'node:child_process';

/** Time after the exit of a process within which its last messages arrive, in milliseconds. */
export const DRAIN_MS = 1000;
/** Time between two polls. DRAIN_MS is counted in polls, so that a pause of this thread does not shorten it. */
const POLL_MS = 50;

/**
 * Calls `ended` once when the process has ended and its messages have been received. Node may report the exit before
 * the last messages. Also calls it if the system refuses to start the process. `cause` describes the end.
 */
export function whenEnded(child: ChildProcess, ended: (cause: Error) => void): void {
  let failure: Error | undefined;
  child.on('error', (error) => {
    failure ??= error;
    // The process was not started, so there will be no exit event.
    if (child.pid === undefined) ended(error);
  });
  child.once('exit', (code, signal) => {
    const how = signal === null ? `with exit code ${code}` : `by signal ${signal}`;
    const cause = failure ?? new Error(`The worker process ended ${how}.`);
    whenDrained(child, () => ended(cause));
  });
}

/** Sends a message. Kills a process that cannot be reached, because it would wait for the message for ever. */
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
  let polls = 0;
  const timer = setInterval(() => {
    if (++polls * POLL_MS >= DRAIN_MS) done();
  }, POLL_MS);
  child.once('disconnect', done);
}
