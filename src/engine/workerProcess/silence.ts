// Whether a worker process is still heard of. One that is stopped, or that the system has no memory left for, neither ends nor
// answers; whoever waits for it would wait for ever.

/** Looks while it may be silent. */
const LOOKS = 4;

export class SilenceWatch {
  readonly #timer: NodeJS.Timeout;
  readonly #onlyFirst: boolean;
  /** Looks that are left. */
  #left: number;

  /**
   * Time counts in looks: while this thread stands still itself, it hears nobody.
   *
   * @param ttl seconds; false: only the time until something is heard for the first time is limited
   * @param first seconds until something is heard for the first time, if that is longer
   * @param silent called once, when nothing was heard for so long
   * @source Dask's `distributed.scheduler.worker-ttl`
   */
  constructor(ttl: number | false, first: number, silent: () => void) {
    const limit = ttl === false ? first : ttl;
    this.#onlyFirst = ttl === false;
    this.#left = Math.max(LOOKS, Math.ceil((LOOKS * first) / limit));
    this.#timer = setInterval(
      () => {
        if (--this.#left !== 0) return;
        this.close();
        silent();
      },
      (limit * 1000) / LOOKS,
    );
    this.#timer.unref();
  }

  received(): void {
    this.#left = LOOKS;
    if (this.#onlyFirst) this.close();
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
