// Whether bytes travel faster as they are or compressed. Sockets between processes of one machine are faster than lz4;
// between containers, or when the machine is busy, they need not be. So both are measured as they happen.
import { MAX_RATIO } from '../store/compression.js';

/** Bytes per second. */
export interface Speeds {
  readonly link: number;
  readonly compress: number;
  readonly decompress: number;
}

/** A unix socket between two processes of one machine, and lz4 on one core of it. */
export const MEASURED_SPEEDS: Speeds = { link: 1.2e9, compress: 0.6e9, decompress: 1.2e9 };

/** How much the newest measurement counts. */
const WEIGHT = 0.2;
/** What is shorter tells more about waking up than about speed. */
export const MIN_SAMPLE_BYTES = 2 ** 20;

export class LinkSpeed {
  #link: number;
  #compress: number;
  readonly #decompress: number;

  constructor(speeds: Speeds = MEASURED_SPEEDS) {
    this.#link = speeds.link;
    this.#compress = speeds.compress;
    this.#decompress = speeds.decompress;
  }

  /** Bytes per second. */
  get bandwidth(): number {
    return this.#link;
  }

  travelled(nbytes: number, seconds: number): void {
    if (nbytes >= MIN_SAMPLE_BYTES && seconds > 0) this.#link += WEIGHT * (nbytes / seconds - this.#link);
  }

  compressed(nbytes: number, seconds: number): void {
    if (nbytes >= MIN_SAMPLE_BYTES && seconds > 0)
      this.#compress += WEIGHT * (nbytes / seconds - this.#compress);
  }

  /** Whether bytes that shrink at all would arrive earlier if they were compressed. */
  couldPay(): boolean {
    return this.pays(0);
  }

  /** The same for bytes that shrink to this share of their size. */
  pays(ratio: number): boolean {
    if (ratio > MAX_RATIO) return false;
    return 1 / this.#compress + ratio / this.#link + 1 / this.#decompress < 1 / this.#link;
  }
}
