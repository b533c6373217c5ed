// Keeps the program alive, e.g. while tasks of a cluster run or could run. A busy worker does this by itself. A task may also
// wait for an idle worker: until its death is reported, its isolate is replaced, or its memory has room.

/** The longest delay of a timer. */
const LONG_MS = 2 ** 31 - 1;

export class KeepAlive {
  #timer: NodeJS.Timeout | undefined;
  #held = false;

  /** Keeps the program alive or stops doing so. */
  hold(held: boolean): void {
    if (held === this.#held) return;
    this.#held = held;
    this.#timer ??= setInterval(() => undefined, LONG_MS);
    if (held) this.#timer.ref();
    else this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
