// The output of a progress bar. A closed pipe only ends the drawing. The caller receives any other error of the output.
import { EventEmitter } from 'node:events';
import { isError } from '../base/errors.js';

/** Output of a progress bar, e.g. `process.stdout`, `process.stderr` or any other Writable. */
export interface ProgressOutput {
  write(text: string, done?: (error?: Error | null) => void): unknown;
  /** Whether the output is a terminal, on which a line is redrawn. Any other output is a log. */
  readonly isTTY?: boolean | undefined;
  /** Characters in a line of the terminal. */
  readonly columns?: number | undefined;
  /** File descriptor, for drawing while the main thread is blocked. */
  readonly fd?: number | undefined;
  on?(event: 'error', listener: (error: Error) => void): unknown;
  off?(event: 'error', listener: (error: Error) => void): unknown;
}

/** Codes of errors of a closed pipe. Such a bar has no reader. */
const READER_GONE = new Set(['EPIPE', 'ERR_STREAM_DESTROYED']);

function isReaderGone(error: unknown): boolean {
  return isError(error) && 'code' in error && READER_GONE.has(String(error.code));
}

/** Node warns of more than ten listeners, and each thread of a pool has one on `process.stdout`. */
function listen(out: ProgressOutput, listener: (error: Error) => void): void {
  if (!(out instanceof EventEmitter)) {
    out.on?.('error', listener);
    return;
  }
  const most = out.getMaxListeners();
  out.setMaxListeners(0);
  out.on('error', listener);
  out.setMaxListeners(most);
}

/**
 * Handles errors of the output of one progress bar. Streams emit errors later, so it listens until the last write is
 * done.
 */
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

  /** Adds a run. Tries a closed output again if no other run uses it. */
  open(): void {
    if (this.#users++ === 0) {
      this.#closed = false;
      this.#failure = undefined;
    }
    if (!this.#listening) listen(this.out, this.#onError);
    this.#listening = true;
  }

  release(): void {
    this.#users--;
    this.#stopListeningIfIdle();
  }

  /** @throws the error that the output threw or emitted, except for a closed pipe */
  write(text: string): void {
    this.check();
    if (this.#closed) return;
    try {
      if (this.out.on === undefined) {
        this.out.write(text);
        return;
      }
      this.#pendingWrites++;
      // A stream emits `error` just after the callback.
      this.out.write(text, () => setImmediate(this.#written));
    } catch (error) {
      if (!isReaderGone(error)) throw error;
      this.#closed = true;
    }
  }

  /** @throws the error that the output has emitted since the last call */
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
    // After the run no caller can receive the error, so it ends the process, as without a progress bar.
    if (this.#users === 0) throw error;
    this.#failure ??= { error };
  };

  #stopListeningIfIdle(): void {
    if (this.#users > 0 || this.#pendingWrites > 0 || !this.#listening) return;
    this.#listening = false;
    this.out.off?.('error', this.#onError);
  }
}
