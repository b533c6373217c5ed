// The last transfers of a worker: `worker.incomingTransferLog`, `worker.outgoingTransferLog`.
import type { Transfer } from '../../protocol/clusterObserver.js';
import type { TransferLogEntry } from '../../protocol/workerMessages.js';

/** Length of Dask's log. */
const DEFAULT_LENGTH = 100_000;

/** The newest entries. A full log discards the oldest one for each new one. */
export class TransferLog {
  readonly #entries: TransferLogEntry[] = [];
  readonly #capacity: number;
  /** Index of the oldest entry in a full log. */
  #oldest = 0;

  /** `capacity` is the number of kept entries; default 100,000. */
  constructor(capacity = DEFAULT_LENGTH) {
    this.#capacity = capacity;
  }

  add(transfer: Pick<Transfer, 'nbytes' | 'compressed' | 'start' | 'stop' | 'keys'>, peer: string): void {
    const { nbytes, compressed, start, stop, keys } = transfer;
    const entry: TransferLogEntry = { total: nbytes, compressed, start, stop, keys, peer };
    if (this.#entries.length < this.#capacity) {
      this.#entries.push(entry);
      return;
    }
    if (this.#capacity === 0) return;
    this.#entries[this.#oldest] = entry;
    this.#oldest = (this.#oldest + 1) % this.#capacity;
  }

  /** Returns the entries, oldest first. */
  toArray(): TransferLogEntry[] {
    return [...this.#entries.slice(this.#oldest), ...this.#entries.slice(0, this.#oldest)];
  }
}
