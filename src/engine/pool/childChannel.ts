// The channel to a child process that runs tasks. Messages are structured clones. Detects the end of the process, and
// ends a process that cannot be reached.
import { type ChildProcess, fork, type Serializable } from 'node:child_process';
import { killChild } from '../../base/killChild.js';
import { awaitCoverage } from '../../resources/coverage.js';
import { killReason, oomKills } from '../../resources/oomKills.js';

/** Time after the exit of a process within which its last messages arrive, in milliseconds. */
export const DRAIN_MS = 1000;
/** Time between two polls. DRAIN_MS is counted in polls, so that a pause of this thread does not shorten it. */
const POLL_MS = 50;

/** A channel to a process. `Sent` are the messages to it. */
export interface ProcessChannel<Sent> {
  /** Id of the process; -1 if it runs elsewhere, could not be started, or has not started yet. */
  readonly pid: number;
  /** Whether messages can be sent. */
  readonly connected: boolean;
  /** Sends a message. Throws if it cannot be copied. Kills a process that cannot be reached. */
  send(message: Sent): void;
  /** Kills the process. */
  kill(): void;
  /** Makes the process keep this program alive. */
  ref(): void;
  unref(): void;
}

export interface ProcessEvents<Received> {
  message(message: Received): void;
  /** Called once, when the process has ended and all of its messages have been received. */
  ended(cause: Error): void;
}

export interface StartedChild {
  readonly child: ChildProcess;
  /** Resolves with the cause when the process has ended. */
  readonly ended: Promise<Error>;
}

/** Starts a child of this process with this entry point. It sends no message before it receives one. */
export function startChild(entry: string, env: NodeJS.ProcessEnv = process.env): StartedChild {
  const child = fork(entry, process.argv.slice(2), {
    env,
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  awaitCoverage(child);
  const ended = new Promise<Error>((resolve) => whenEnded(child, resolve));
  return { child, ended };
}

export function channelTo<Sent extends Serializable, Received>(
  { child, ended }: StartedChild,
  events: ProcessEvents<Received>,
): ProcessChannel<Sent> {
  child.on('message', (message: Received) => events.message(message));
  void ended.then(events.ended);
  return {
    get pid() {
      return child.pid ?? -1;
    },
    get connected() {
      return child.connected;
    },
    send: (message) => sendOrEnd(child, message),
    kill: () => killChild(child, 'SIGKILL'),
    ref: () => {
      child.ref();
      child.channel?.ref();
    },
    unref: () => {
      child.unref();
      child.channel?.unref();
    },
  };
}

/**
 * Calls `ended` once when the process has ended and its messages have been received. Node may report the exit before
 * the last messages. Also calls it if the system refuses to start the process. `cause` describes the end.
 */
export function whenEnded(child: ChildProcess, ended: (cause: Error) => void): void {
  let failure: Error | undefined;
  const before = oomKills();
  child.on('error', (error) => {
    failure ??= error;
    // The process was not started, so there will be no exit event.
    if (child.pid === undefined) ended(error);
  });
  child.once('exit', (code, signal) => {
    const how =
      signal === null ? `with exit code ${code}` : `by signal ${signal}${killReason(signal, before)}`;
    const cause = failure ?? new Error(`The worker process ended ${how}.`);
    whenDrained(child, () => ended(cause));
  });
}

/** Sends a message. Kills a process that cannot be reached, because it would wait for the message for ever. */
export function sendOrEnd(child: ChildProcess, message: Serializable): void {
  if (!child.connected) killChild(child, 'SIGKILL');
  else
    child.send(message, (error) => {
      if (error !== null) killChild(child, 'SIGKILL');
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
