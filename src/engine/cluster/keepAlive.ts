// Keeps the program alive, e.g. while tasks of a cluster run or could run. A busy worker does this by itself. A task may also
// wait for an idle worker: until its death is reported, its isolate is replaced, or its memory has room.

/** The longest delay of a timer. */
const LONG_MS = 2 ** 31 - 1;

export class KeepAlive {
  readonly #poll: () => void;
  readonly #pollMs: number;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param poll called again and again while the program is kept alive. Default: nothing is called
   * @param pollMs milliseconds between two calls of `poll`
   */
  constructor(poll: () => void = () => undefined, pollMs = LONG_MS) {
    this.#poll = poll;
    this.#pollMs = pollMs;
  }

  /** Keeps the program alive or stops doing so. */
  hold(held: boolean): void {
    if (held) this.#timer ??= setInterval(this.#poll, this.#pollMs);
    else this.close();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
