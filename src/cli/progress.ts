// A progress bar on a terminal's stderr for what takes longer than a second. Commands work without waiting, so it is drawn
// from within their work, never by a timer.
import { writeSync } from 'node:fs';

const WIDTH = 40;
/** Milliseconds of work before the bar appears, and between two of its pictures. */
const APPEARS_AFTER = 1000;
const REFRESH = 100;
const STDERR = 2;

export interface ProgressOptions {
  /** Whether there is a terminal that shows it. Default: stderr is one. */
  readonly enabled?: boolean;
  /** Milliseconds of work before the bar appears. Default 1000; 0 where it is known to take long. */
  readonly after?: number;
  /** Milliseconds on any clock. */
  readonly now?: () => number;
  readonly write?: (text: string) => void;
}

export class Progress {
  readonly #what: string;
  readonly #enabled: boolean;
  readonly #after: number;
  readonly #now: () => number;
  readonly #write: (text: string) => void;
  readonly #started: number;
  #drawn = Number.NEGATIVE_INFINITY;

  /** `what` stands before the bar, e.g. `reading`. */
  constructor(what: string, options: ProgressOptions = {}) {
    this.#what = what;
    this.#enabled = options.enabled ?? process.stderr.isTTY === true;
    this.#after = options.after ?? APPEARS_AFTER;
    this.#now = options.now ?? (() => performance.now());
    this.#write = options.write ?? ((text) => writeSync(STDERR, text));
    this.#started = this.#now();
  }

  /** How much is done, 0 to 1. */
  part(done: number): void {
    const filled = Math.round(Math.min(1, Math.max(0, done)) * WIDTH);
    this.#draw(() => `[${'#'.repeat(filled).padEnd(WIDTH)}] ${Math.floor(done * 100)}%`);
  }

  /** How much is done where nobody knows how much there will be. */
  bytes(done: number): void {
    this.#draw(() => `${(done / 1e6).toFixed(1)} MB`);
  }

  /** Removes the bar. */
  end(): void {
    if (this.#drawn > Number.NEGATIVE_INFINITY) this.#write('\r\u001b[K');
    this.#drawn = Number.NEGATIVE_INFINITY;
  }

  #draw(picture: () => string): void {
    if (!this.#enabled) return;
    const now = this.#now();
    if (now - this.#started < this.#after || now - this.#drawn < REFRESH) return;
    this.#drawn = now;
    this.#write(`\r\u001b[K${this.#what} ${picture()}`);
  }
}
