// The view of a worker that functions of `client.run` receive: a copy of its facts and logs at that moment.
import type { TransferLogEntry } from '../transfer/transferLog.js';
import type { HostFacts } from './hostTypes.js';

export interface WorkerSnapshot extends HostFacts {
  /** Transfers to other workers and clients, oldest first. */
  readonly outgoingTransferLog: readonly TransferLogEntry[];
  /** Transfers from other workers and clients, oldest first. */
  readonly incomingTransferLog: readonly TransferLogEntry[];
  /** Fine performance metrics: `["execute", span, prefix, activity, unit]` → value. */
  readonly digestsTotal: ReadonlyMap<readonly string[], number>;
  /** Memory in bytes. */
  readonly memory: { readonly managed: number; readonly spilled: number; readonly process: number };
}

export interface WorkerView {
  snapshot(): WorkerSnapshot;
}
