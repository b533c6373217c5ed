// What functions that `client.run` sends to a worker see of it: a copy of its facts and logs at that moment.
import type { TransferLogEntry } from '../transfer/transferLog.js';

export interface WorkerSnapshot {
  readonly name: string;
  readonly address: string;
  readonly pid: number;
  readonly memoryLimit: number;
  readonly localDirectory: string;
  readonly nthreads: number;
  /** What it gave to others, oldest first. */
  readonly outgoingTransferLog: readonly TransferLogEntry[];
  /** What it took from others, oldest first. */
  readonly incomingTransferLog: readonly TransferLogEntry[];
  /** Fine performance metrics: `["execute", span, prefix, activity, unit]` → value. */
  readonly digestsTotal: ReadonlyMap<readonly string[], number>;
  /** Bytes. */
  readonly memory: { readonly managed: number; readonly spilled: number; readonly process: number };
}

export interface WorkerView {
  snapshot(): WorkerSnapshot;
}
