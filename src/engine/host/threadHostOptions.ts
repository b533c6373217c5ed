// Options of a ThreadHost.
import type { ProfileSettings } from '../../protocol/profileCycle.js';
import type { MemoryThresholds } from '../../protocol/workerMessages.js';
import type { WorkerDigests } from '../metrics/workerDigests.js';
import type { StartThread } from '../pool/isolateThread.js';
import type { Store } from '../store/store.js';
import type { HostFacts } from './hostTypes.js';
import type { Peers } from './peers.js';
import type { WorkerView } from './workerView.js';

export interface ThreadHostOptions {
  readonly facts: HostFacts;
  readonly epochOffsetMs: number;
  readonly store: Store;
  readonly peers: Peers;
  readonly view: WorkerView;
  /** Index of the worker in samples. */
  readonly index: number;
  /** The cluster's clock, which a worker process estimates from heartbeats. */
  readonly clock: () => number;
  readonly thresholds: Partial<MemoryThresholds>;
  readonly digests: WorkerDigests;
  /** Undefined: the isolate is not profiled. */
  readonly profile: ProfileSettings | undefined;
  /**
   * Returns the bytes of the worker's process. Undefined if workers share a process; then the isolate's memory counts.
   */
  readonly processBytes: (() => number) | undefined;
  /** Ends the worker, because its memory stays above the limit. */
  readonly giveUp: (why: string) => void;
  /** Default: a thread of this process. */
  readonly startThread?: StartThread;
  /** Called when the worker has ended. */
  readonly closed?: () => void;
}
