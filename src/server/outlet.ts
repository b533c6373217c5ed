// One viewer's socket with an end to its patience: what the viewer does not take is not buffered. Whoever writes asks
// `isFull` first; long answers are generators that are pulled as far as there is room, a few milliseconds at a time, so
// that the thread, which is the scheduler's, stays free.
import { LongpoleError, messageOf } from '../base/errors.js';
import { encodeViewMessage } from '../protocol/viewMessages.js';
import type { ViewerLimits } from './limits.js';
import type { Pace } from './pace.js';

/** What of a page's socket is used here. */
export interface OutletSocket {
  readonly bufferedAmount: number;
  readonly readyState: number;
  /** Several go out together. */
  send(...messages: readonly (string | Uint8Array)[]): void;
  close(code: number, reason: string): void;
  terminate(): void;
}

/** Of a WebSocket: the server failed. */
const FAILED = 1011;

const OPEN = 1;
/** Of encoding in one go. */
const SLICE_MS = 4;

export type Outgoing = Generator<readonly (string | Uint8Array)[], void>;

export class Outlet {
  readonly #socket: OutletSocket;
  readonly #limits: ViewerLimits;
  readonly #pace: Pace | undefined;
  #stream: { readonly pieces: Outgoing; readonly done: () => void } | undefined;
  #next: NodeJS.Immediate | undefined;
  #waiting = 0;
  #lastProgress = performance.now();

  /** `pace`: how much time streams may take; without one as much as there is. */
  constructor(socket: OutletSocket, limits: ViewerLimits, pace?: Pace) {
    this.#socket = socket;
    this.#limits = limits;
    this.#pace = pace;
  }

  /** It has not taken what it was sent: nothing more should be. */
  get isFull(): boolean {
    return this.#socket.bufferedAmount > this.#limits.maxBuffered;
  }

  get isDrained(): boolean {
    return this.#socket.bufferedAmount <= this.#limits.maxBuffered / 4;
  }

  get isStreaming(): boolean {
    return this.#stream !== undefined;
  }

  send(...messages: readonly (string | Uint8Array)[]): void {
    if (this.#socket.readyState === OPEN) this.#socket.send(...messages);
  }

  /** Sends what the generator yields; `done` runs in the same turn in which it ends. Replaces one that still goes on. */
  stream(pieces: Outgoing, done: () => void): void {
    this.#stream = { pieces, done };
    this.pump();
  }

  stop(): void {
    if (this.#next !== undefined) clearImmediate(this.#next);
    this.#next = undefined;
    this.#stream = undefined;
  }

  /** Goes on with the stream; call it now and then, for a socket that was full or a pace that had no time. */
  pump(): void {
    if (this.#next !== undefined) return;
    const start = performance.now();
    let now = start;
    while (this.#stream !== undefined && !this.isFull && this.#pace?.hasTime !== false) {
      if (now - start > SLICE_MS) {
        this.#next = setImmediate(() => {
          this.#next = undefined;
          this.pump();
        });
        this.#next.unref();
        return;
      }
      this.#step(this.#stream);
      const before = now;
      now = performance.now();
      this.#pace?.spend(now - before);
    }
  }

  #step({ pieces, done }: { readonly pieces: Outgoing; readonly done: () => void }): void {
    try {
      const { value, done: ended } = pieces.next();
      if (ended !== true) {
        this.send(...value);
        return;
      }
      this.#stream = undefined;
      done();
    } catch (error) {
      // E.g. the files of a recorded trace are gone: the page is told, the program goes on.
      this.#stream = undefined;
      const message = messageOf(error);
      const reason = error instanceof LongpoleError ? `${message} (${error.code})` : message;
      this.send(encodeViewMessage({ type: 'closed', reason, complete: false }));
      this.#socket.close(FAILED, 'The trace cannot be read.');
    }
  }

  /** Ends the connection if the viewer has taken nothing for too long; call it now and then. */
  dropIfStuck(): boolean {
    const buffered = this.#socket.bufferedAmount;
    const now = performance.now();
    const before = this.#waiting;
    this.#waiting = buffered;
    if (buffered === 0 || buffered < before) {
      this.#lastProgress = now;
      return false;
    }
    if (now - this.#lastProgress < this.#limits.stuckMs) return false;
    this.stop();
    this.#socket.terminate();
    return true;
  }
}
