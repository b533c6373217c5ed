// Whether a worker process is still heard of. One that is stopped, or that the system has no memory left for, neither ends nor
// answers; whoever waits for it would wait for ever.

/** Looks while it may be silent. */
const LOOKS = 4;

export class SilenceWatch {
  readonly #timer: NodeJS.Timeout | undefined;
  /** Looks that are left. */
  #left: number;

  /**
   * Time counts in looks: while this thread stands still itself, it hears nobody.
   *
   * @param ttl seconds; false: nobody looks
   * @param first seconds until something is heard for the first time, if that is longer
   * @param silent called once, when nothing was heard for so long
   * @source Dask's `distributed.scheduler.worker-ttl`
   */
  constructor(ttl: number | false, first: number, silent: () => void) {
    this.#left = 0;
    if (ttl === false) return;
    this.#left = Math.max(LOOKS, Math.ceil((LOOKS * first) / ttl));
    this.#timer = setInterval(
      () => {
        if (--this.#left !== 0) return;
        this.close();
        silent();
      },
      (ttl * 1000) / LOOKS,
    );
    this.#timer.unref();
  }

  heard(): void {
    this.#left = LOOKS;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
