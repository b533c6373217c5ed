// The channel to a worker process that is a child of this process. remoteChannel.ts has the channel to other machines.
import { fileURLToPath } from 'node:url';
import { killChild } from '../../base/killChild.js';
import type { Several } from '../../protocol/isolateMessages.js';
import type { FromWorker, ToWorker } from '../../protocol/workerMessages.js';
import {
  channelTo,
  type ProcessChannel,
  type ProcessEvents,
  type StartedChild,
  startChild,
} from '../pool/childChannel.js';

export type WorkerChannel = ProcessChannel<ToWorker | Several<ToWorker>>;
export type ChannelEvents = ProcessEvents<FromWorker>;

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

const startWorker = (): StartedChild => startChild(ENTRY, { ...ALLOCATOR, ...process.env });

/** Processes that boot while the program loads the code of the cluster. */
export class BootingWorkers {
  readonly #started: StartedChild[];

  constructor(count: number) {
    this.#started = Array.from({ length: count }, startWorker);
  }

  /** Opens the channel to one of the processes, or to a new one if there is none left. */
  readonly open: OpenChannel = (events) => channelTo(this.#started.shift() ?? startWorker(), events);

  /** Kills the processes that no worker uses. */
  end(): void {
    for (const { child } of this.#started.splice(0)) killChild(child, 'SIGKILL');
  }
}

export const forkWorker: OpenChannel = (events) => channelTo(startWorker(), events);
