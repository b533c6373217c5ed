// A progress bar on stderr for work of more than a second. Commands work without returning to the event loop, so the
// work draws the bar, not a timer.
import { writeSync } from 'node:fs';

const WIDTH = 40;
/** Milliseconds of work before the bar appears, and between two updates. */
const APPEARS_AFTER = 1000;
const REFRESH = 100;
const STDERR = 2;

export interface ProgressOptions {
  /** Whether to draw. Default: stderr is a terminal. */
  readonly enabled?: boolean;
  /** Milliseconds of work before the bar appears. Default 1000; pass 0 for work that takes long. */
  readonly after?: number;
  /** Clock in milliseconds. */
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

  /** @param what text before the bar, e.g. `reading` */
  constructor(what: string, options: ProgressOptions = {}) {
    this.#what = what;
    this.#enabled = options.enabled ?? process.stderr.isTTY === true;
    this.#after = options.after ?? APPEARS_AFTER;
    this.#now = options.now ?? (() => performance.now());
    this.#write = options.write ?? ((text) => writeSync(STDERR, text));
    this.#started = this.#now();
  }

  /** Shows the finished share, 0 to 1. */
  part(done: number): void {
    const filled = Math.round(Math.min(1, Math.max(0, done)) * WIDTH);
    this.#draw(() => `[${'#'.repeat(filled).padEnd(WIDTH)}] ${Math.floor(done * 100)}%`);
  }

  /** Shows the finished bytes of an unknown total. */
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
