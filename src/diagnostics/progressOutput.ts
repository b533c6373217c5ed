import { isError } from '../base/isError.js';

// Where a progress bar writes to, and what happens when that breaks: a reader that has gone away only ends the drawing; any
// other failure is the caller's to know, as is anything that a callback throws.

/** What a progress bar needs of its output; `process.stdout`, `process.stderr` and any Writable have it. */
export interface ProgressOutput {
  write(text: string, done?: (error?: Error | null) => void): unknown;
  /** A terminal: the line is drawn over again and again. Anything else is a log. */
  readonly isTTY?: boolean | undefined;
  /** Characters in a line of the terminal. */
  readonly columns?: number | undefined;
  /** File descriptor, for drawing while the main thread is blocked. */
  readonly fd?: number | undefined;
  on?(event: 'error', listener: (error: Error) => void): unknown;
  off?(event: 'error', listener: (error: Error) => void): unknown;
}

/** The reader closed its end: nobody will see the bar, and nothing is lost by not drawing it. */
const READER_GONE = new Set(['EPIPE', 'ERR_STREAM_DESTROYED']);

function isReaderGone(error: unknown): boolean {
  return isError(error) && 'code' in error && READER_GONE.has(String(error.code));
}

/** Guards one output for one progress bar. Streams report errors later by an event; they are heard until the last write is done. */
export class GuardedOutput {
  readonly out: ProgressOutput;
  #users = 0;
  #pendingWrites = 0;
  #listening = false;
  #closed = false;
  #failure: { error: unknown } | undefined;

  constructor(out: ProgressOutput) {
    this.out = out;
  }

  /** A run begins to use the output: a new chance for one that was closed. */
  open(): void {
    if (this.#users++ === 0) {
      this.#closed = false;
      this.#failure = undefined;
    }
    if (!this.#listening) this.out.on?.('error', this.#onError);
    this.#listening = true;
  }

  /** A run no longer uses it. */
  release(): void {
    this.#users--;
    this.#stopListeningIfIdle();
  }

  /** @throws what the output threw or reported, except that its reader has gone */
  write(text: string): void {
    this.check();
    if (this.#closed) return;
    try {
      if (this.out.on === undefined) {
        this.out.write(text);
        return;
      }
      this.#pendingWrites++;
      // The stream emits `error` right after it calls back.
      this.out.write(text, () => setImmediate(this.#written));
    } catch (error) {
      if (!isReaderGone(error)) throw error;
      this.#closed = true;
    }
  }

  /** @throws what the output has reported since the last call, once */
  check(): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure) throw failure.error;
  }

  readonly #written = (): void => {
    this.#pendingWrites--;
    this.#stopListeningIfIdle();
  };

  readonly #onError = (error: Error): void => {
    this.#closed = true;
    if (isReaderGone(error)) return;
    // After the run there is nobody left to tell: it ends the process, as it does without a progress bar.
    if (this.#users === 0) throw error;
    this.#failure ??= { error };
  };

  #stopListeningIfIdle(): void {
    if (this.#users > 0 || this.#pendingWrites > 0 || !this.#listening) return;
    this.#listening = false;
    this.out.off?.('error', this.#onError);
  }
}
