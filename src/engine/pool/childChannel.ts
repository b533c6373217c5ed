// The channel to a child process that runs tasks. Messages are structured clones.
import { type ChildProcess, fork, type Serializable } from 'node:child_process';
import { sendOrEnd, whenEnded } from './childEnd.js';

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
    kill: () => void child.kill('SIGKILL'),
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
