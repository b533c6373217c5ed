// The channel to a worker process: of a child of this process here; remoteChannel.ts has that of a process elsewhere.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Several } from '../../protocol/several.js';
import type { FromWorker, ToWorker } from '../../protocol/workerMessages.js';
import { sendOrEnd, whenEnded } from '../pool/childEnd.js';

export interface WorkerChannel {
  /** Of a process of this machine; -1: it runs elsewhere, could not be started, or is not started yet. */
  readonly pid: number;
  /** Messages can be sent. */
  readonly connected: boolean;
  /** Throws if the message cannot be copied. A process that the message cannot reach is ended. */
  send(message: ToWorker | Several<ToWorker>): void;
  /** Ends the process at once. */
  kill(): void;
  /** Whether the process keeps this program alive. */
  ref(): void;
  unref(): void;
}

export interface ChannelEvents {
  message(message: FromWorker): void;
  /** Called once, when the process has ended and all of its messages have been received. */
  ended(cause: Error): void;
}

/** Starts a worker process. */
export type OpenChannel = (events: ChannelEvents) => WorkerChannel;

const ENTRY = fileURLToPath(new URL('./workerProcessMain.js', import.meta.url));
/**
 * glibc keeps freed blocks of up to 32 MB for itself once it has seen some, so a worker that had spilled everything would
 * still look full: 400 MB after 40 arrays of 20 MB. Large blocks are given back to the system at once instead, as Dask's
 * nanny has it. The user's own settings come first.
 */
export const ALLOCATOR = { MALLOC_MMAP_THRESHOLD_: '1048576', MALLOC_TRIM_THRESHOLD_: '65536' };

/** A child of this process, over Node's own channel. */
export const forkWorker: OpenChannel = (events) => {
  const child = fork(ENTRY, process.argv.slice(2), {
    env: { ...ALLOCATOR, ...process.env },
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  child.on('message', (message: FromWorker) => events.message(message));
  whenEnded(child, events.ended);
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
};
