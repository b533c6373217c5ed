// The channel to a worker process that is a child of this process. remoteChannel.ts has the channel to other machines.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Several } from '../../protocol/several.js';
import type { FromWorker, ToWorker } from '../../protocol/workerMessages.js';
import { sendOrEnd, whenEnded } from '../pool/childEnd.js';

export interface WorkerChannel {
  /** Id of the process; -1 if it runs elsewhere, could not be started, or has not started yet. */
  readonly pid: number;
  /** Whether messages can be sent. */
  readonly connected: boolean;
  /** Sends a message. Throws if it cannot be copied. Kills a process that cannot be reached. */
  send(message: ToWorker | Several<ToWorker>): void;
  /** Kills the process. */
  kill(): void;
  /** Makes the process keep this program alive. */
  ref(): void;
  unref(): void;
}

export interface ChannelEvents {
  message(message: FromWorker): void;
  /** Called once, when the process has ended and all of its messages have been received. */
  ended(cause: Error): void;
}

/** Starts a worker process. `token` is the secret of the cluster. */
export type OpenChannel = (events: ChannelEvents, token: string) => WorkerChannel;

const ENTRY = fileURLToPath(new URL('./workerProcessMain.js', import.meta.url));
/**
 * Settings of glibc's allocator. The first two return large freed blocks to the system at once, as Dask's nanny does. By
 * default glibc keeps freed blocks of up to 32 MB once it has seen some. A worker that had spilled everything would then
 * still look full: 400 MB after 40 arrays of 20 MB. The third one requests huge pages for large blocks, as numpy does:
 * the first access to 100 MB costs 10 ms of CPU instead of 45 ms. The user's settings take precedence.
 */
export const ALLOCATOR = {
  MALLOC_MMAP_THRESHOLD_: '1048576',
  MALLOC_TRIM_THRESHOLD_: '65536',
  GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1',
};

interface StartedChild {
  readonly child: ChildProcess;
  /** Resolves with the cause when the process has ended. */
  readonly ended: Promise<Error>;
}

/** Starts a child of this process, with Node's channel. It sends no message before it receives one. */
function startChild(): StartedChild {
  const child = fork(ENTRY, process.argv.slice(2), {
    env: { ...ALLOCATOR, ...process.env },
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = new Promise<Error>((resolve) => whenEnded(child, resolve));
  return { child, ended };
}

/** Processes that boot while the program loads the code of the cluster. */
export class BootingWorkers {
  readonly #started: StartedChild[];

  constructor(count: number) {
    this.#started = Array.from({ length: count }, startChild);
  }

  /** Opens the channel to one of the processes, or to a new one if there is none left. */
  readonly open: OpenChannel = (events) => channelTo(this.#started.shift() ?? startChild(), events);

  /** Kills the processes that no worker uses. */
  end(): void {
    for (const { child } of this.#started.splice(0)) child.kill('SIGKILL');
  }
}

export const forkWorker: OpenChannel = (events) => channelTo(startChild(), events);

function channelTo({ child, ended }: StartedChild, events: ChannelEvents): WorkerChannel {
  child.on('message', (message: FromWorker) => events.message(message));
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
