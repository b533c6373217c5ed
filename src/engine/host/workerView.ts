// The view of a worker that functions of `client.run` receive: a copy of its facts and logs at that moment.
import type { TransferLogEntry } from '../transfer/transferLog.js';

export interface WorkerSnapshot {
  readonly name: string;
  readonly address: string;
  readonly pid: number;
  readonly memoryLimit: number;
  readonly localDirectory: string;
  readonly nthreads: number;
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
