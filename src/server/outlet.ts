// One viewer's socket with a bounded buffer. A writer checks `isFull` before it sends. Long answers are generators that
// run while the buffer has room, for a few milliseconds at a time, because the thread is the scheduler's.
import { LongpoleError, messageOf } from '../base/errors.js';
import { encodeViewMessage } from '../protocol/viewMessages.js';
import type { Pace } from './pace.js';

/** The used part of a page's socket. */
export interface OutletSocket {
  readonly bufferedAmount: number;
  readonly readyState: number;
  /** Sends all messages in one system call. */
  send(...messages: readonly (string | Uint8Array)[]): void;
  close(code: number, reason: string): void;
  terminate(): void;
}

/** Close code of a WebSocket for an error of the server. */
const FAILED = 1011;

const OPEN = 1;
/** Milliseconds after which a stream yields to the event loop. */
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

  /** @param pace limits the time of streams; without it there is no limit */
  constructor(socket: OutletSocket, limits: ViewerLimits, pace?: Pace) {
    this.#socket = socket;
    this.#limits = limits;
    this.#pace = pace;
  }

  /** True if the viewer has not read what was sent, so that nothing more should be sent. */
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

  /** Sends what the generator yields, and calls `done` in the turn in which it ends. Replaces a running stream. */
  stream(pieces: Outgoing, done: () => void): void {
    this.#stream = { pieces, done };
    this.pump();
  }

  stop(): void {
    if (this.#next !== undefined) clearImmediate(this.#next);
    this.#next = undefined;
    this.#stream = undefined;
  }

  /** Continues the stream. Must be called regularly, because the socket may have been full or the pace out of time. */
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
      // The files of a recorded trace may have been deleted. Only the page's stream ends, not the program.
      this.#stream = undefined;
      const message = messageOf(error);
      const reason = error instanceof LongpoleError ? `${message} (${error.code})` : message;
      this.send(encodeViewMessage({ type: 'closed', reason, complete: false }));
      this.#socket.close(FAILED, 'The trace cannot be read.');
    }
  }

  /** Ends the connection if the viewer has read nothing for `stuckMs`. Must be called regularly. */
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

export interface ViewerLimits {
  /** Buffered bytes of one viewer above which the viewer receives nothing until it has read them. */
  readonly maxBuffered: number;
  /** Milliseconds after which a viewer that reads nothing is disconnected. */
  readonly stuckMs: number;
  /** Largest number of past tasks sent to a new viewer, which receives only sums of older tasks. */
  readonly maxCatchUp: number;
  /** Largest number of open WebSockets. */
  readonly maxViewers: number;
  /** Milliseconds between two messages with rows. */
  readonly intervalMs: number;
}

export const DEFAULT_LIMITS: ViewerLimits = {
  maxBuffered: 4 * 2 ** 20,
  stuckMs: 20_000,
  maxCatchUp: 300_000,
  maxViewers: 64,
  intervalMs: 125,
};
