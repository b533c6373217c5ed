// Detects another process that sends or receives nothing. A process that is stopped or has no memory neither ends nor
// answers, so callers would wait for ever.

/** Polls within the time limit. The first may follow a message at once, so silence may be reported 5 % early. */
const POLLS = 20;

export class SilenceWatch {
  readonly #timer: NodeJS.Timeout;
  readonly #onlyFirst: boolean;
  /** Remaining polls. */
  #left: number;

  /**
   * Counts time in polls, so that a pause of this thread is not mistaken for a silent process.
   *
   * @param ttl time limit for silence in seconds; false: only the first message has a limit
   * @param first time limit for the first message in seconds, if longer than `ttl`
   * @param silent called once, when a limit is exceeded
   * @source Dask's `distributed.scheduler.worker-ttl`
   */
  constructor(ttl: number | false, first: number, silent: () => void) {
    const limit = ttl === false ? first : ttl;
    this.#onlyFirst = ttl === false;
    this.#left = Math.max(POLLS, Math.ceil((POLLS * first) / limit));
    this.#timer = setInterval(
      () => {
        if (--this.#left !== 0) return;
        // Timers run before reads. After a pause of this thread, a message may be waiting to be read.
        setImmediate(() => {
          if (this.#left > 0) return;
          this.close();
          silent();
        });
      },
      (limit * 1000) / POLLS,
    );
    this.#timer.unref();
  }

  /** The process has sent a message that proves that it receives messages, too. */
  received(): void {
    this.#left = POLLS;
    if (this.#onlyFirst) this.close();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#left = POLLS;
  }
}

/** Seconds between two heartbeats, of which a process sends two per second, that a busy machine does not explain. */
const MIN_PAUSE = 2.5;

/**
 * Returns a function that finds pauses of a process, e.g. because it was stopped. Call it with the time of each heartbeat, in
 * seconds. It returns the seconds of a pause that the heartbeat ended, or 0.
 */
export function heartbeatPauses(): (sent: number) => number {
  let last = Number.NaN;
  return (sent) => {
    const seconds = sent - last;
    last = sent;
    return seconds >= MIN_PAUSE ? seconds : 0;
  };
}
