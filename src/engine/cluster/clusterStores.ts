// What differs between clusters of threads and of processes.
import type { Frames, ResultId } from '../../protocol/frames.js';
import type { HostEvents, WorkerHost } from '../host/hostTypes.js';
import type { ClusterWorker } from './clusterWorker.js';

export interface ClusterStores {
  /** Makes the host of a worker. */
  makeHost(worker: ClusterWorker, events: HostEvents): WorkerHost;
  /** Makes values of the client available to workers; returns the address under which they are, until `withdraw`. */
  offer(results: ReadonlyMap<ResultId, Frames>): Promise<string>;
  withdraw(results: Iterable<ResultId>): Promise<void>;
  close(): Promise<void>;
}
