// The last transfers of a worker, for whoever asks it: `worker.incomingTransferLog`, `worker.outgoingTransferLog`.
import type { Transfer } from '../../protocol/clusterObserver.js';

/** @source Dask's diagnostics: total and compressed bytes, start and stop times, keys, peer */
export interface TransferLogEntry {
  /** Bytes of the results. */
  readonly total: number;
  /** Bytes that travelled. */
  readonly compressed: number;
  /** Seconds since the epoch on the scheduler's clock. */
  readonly start: number;
  readonly stop: number;
  readonly keys: readonly string[];
  /** Address of the other worker. */
  readonly peer: string;
}

/** As in Dask. */
const DEFAULT_LENGTH = 100_000;

/** The newest entries; older ones are let go of one by one. */
export class TransferLog implements Iterable<TransferLogEntry> {
  readonly #entries: TransferLogEntry[] = [];
  readonly #capacity: number;
  /** Where the oldest entry is, once all places are taken. */
  #oldest = 0;
  #total = 0;

  /** `capacity`: entries that are kept; default 100,000. */
  constructor(capacity = DEFAULT_LENGTH) {
    this.#capacity = capacity;
  }

  /** Entries that are kept. */
  get length(): number {
    return this.#entries.length;
  }

  /** Transfers since the worker began, those included that are no longer kept. */
  get count(): number {
    return this.#total;
  }

  add(transfer: Pick<Transfer, 'nbytes' | 'compressed' | 'start' | 'stop' | 'keys'>, peer: string): void {
    const { nbytes, compressed, start, stop, keys } = transfer;
    const entry: TransferLogEntry = { total: nbytes, compressed, start, stop, keys, peer };
    this.#total += 1;
    if (this.#entries.length < this.#capacity) {
      this.#entries.push(entry);
      return;
    }
    if (this.#capacity === 0) return;
    this.#entries[this.#oldest] = entry;
    this.#oldest = (this.#oldest + 1) % this.#capacity;
  }

  /** The oldest first. */
  *[Symbol.iterator](): Iterator<TransferLogEntry> {
    const count = this.#entries.length;
    for (let i = 0; i < count; i++) yield this.#entries[(this.#oldest + i) % count]!;
  }

  toArray(): TransferLogEntry[] {
    return [...this];
  }
}
