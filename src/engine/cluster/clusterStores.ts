// The interface of the parts that differ between clusters of threads and clusters of processes.
import type { PackedResult, ResultId } from '../../protocol/packedResult.js';
import type { HostEvents, WorkerHost } from '../host/hostTypes.js';
import type { ClusterWorker } from './clusterWorker.js';

export interface ClusterStores {
  makeHost(worker: ClusterWorker, events: HostEvents): WorkerHost;
  /**
   * Offers results of the client to workers until `withdraw`. Returns the address at which the results are available.
   */
  offer(results: ReadonlyMap<ResultId, PackedResult>): Promise<string>;
  withdraw(results: Iterable<ResultId>): Promise<void>;
  close(): Promise<void>;
}
