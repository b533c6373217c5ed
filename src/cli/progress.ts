// A progress bar on stderr for work of more than a second. Commands work without returning to the event loop, so the
// work draws the bar, not a timer. Where stderr is no terminal, each update is a line.
import { writeSync } from 'node:fs';

const WIDTH = 40;
/** Milliseconds of work before the bar appears, and between two updates. */
const APPEARS_AFTER = 1000;
const REFRESH = 100;
/** Milliseconds between two lines. */
const REFRESH_LINES = 1000;
const STDERR = 2;

export interface ProgressOptions {
  /** Whether to draw. Default: stderr is a terminal. */
  readonly enabled?: boolean;
  /** Milliseconds of work before the bar appears. Default 1000; pass 0 for work that takes long. */
  readonly after?: number;
  /** Whether each update is a line. Default: stderr is no terminal. */
  readonly lines?: boolean;
  /** Clock in milliseconds. */
  readonly now?: () => number;
  readonly write?: (text: string) => void;
}

export class Progress {
  readonly #what: string;
  readonly #enabled: boolean;
  readonly #after: number;
  readonly #lines: boolean;
  readonly #now: () => number;
  readonly #write: (text: string) => void;
  readonly #started: number;
  #drawn = Number.NEGATIVE_INFINITY;

  /** @param what text before the bar, e.g. `reading` */
  constructor(what: string, options: ProgressOptions = {}) {
    this.#what = what;
    this.#enabled = options.enabled ?? process.stderr.isTTY === true;
    this.#after = options.after ?? APPEARS_AFTER;
    this.#lines = options.lines ?? process.stderr.isTTY !== true;
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

  /** Removes the bar. Lines stay. */
  end(): void {
    if (this.#lines) return;
    if (this.#drawn > Number.NEGATIVE_INFINITY) this.#write('\r\u001b[K');
    this.#drawn = Number.NEGATIVE_INFINITY;
  }

  #draw(picture: () => string): void {
    if (!this.#enabled) return;
    const now = this.#now();
    const refresh = this.#lines ? REFRESH_LINES : REFRESH;
    if (now - this.#started < this.#after || now - this.#drawn < refresh) return;
    this.#drawn = now;
    const text = `${this.#what} ${picture()}`;
    this.#write(this.#lines ? `${text}\n` : `\r\u001b[K${text}`);
  }
}

/** Returns the options of a bar: with `--progress`, it appears at once, also where stderr is no terminal. */
export function requested(progress: boolean | undefined): ProgressOptions {
  return progress === true ? { enabled: true, after: 0 } : {};
}
