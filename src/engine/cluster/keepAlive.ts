// Keeps the program alive while tasks of a cluster run or could run. Workers do so themselves as long as they have
// something to do; but a task may also wait for a worker that has nothing to do: for the news that it has died, for its
// isolate to be replaced, for its memory to become free.

/** The longest that a timer can wait. */
const LONG_MS = 2 ** 31 - 1;

export class KeepAlive {
  #timer: NodeJS.Timeout | undefined;
  #held = false;

  /** Costs nothing if it is so already. */
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
