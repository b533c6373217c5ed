// Decides when V8 discards the optimised code of a profiled thread, so that V8 names all functions in samples. V8 does
// not name code that it optimised in the middle of a loop before profiling started. On Node 26, V8 sometimes also fails
// to name code that it optimised later. Then the samples of a task show its caller and no line, also in later calls,
// which run the same code. After a discard V8 compiles the code again, usually with a name.

/** Minimum milliseconds from a discard to the one for a new profile. Recompiling takes 60 to 180 ms of the thread's time. */
const START_MS = 12_000;
/**
 * Minimum milliseconds from a discard to the first one for a hidden task. Each of them doubles the time: if V8 has
 * inlined the task into its caller, a discard may not help.
 */
const FIRST_RETRY_MS = 3000;
/** Seconds for which samples must hide a call. Tasks that V8 inlines are short. */
const HIDDEN_SECONDS = 0.1;

export class CodeNaming {
  #isNew = false;
  #discarded = Number.NEGATIVE_INFINITY;
  #retryMs = FIRST_RETRY_MS;
  /** Call that the latest samples hide, and the times of the first and the last of them. */
  #hidden: { readonly task: number; readonly since: number; until: number } | undefined;

  /** Records that a profile starts. Code that V8 optimised before may lack its name. */
  started(): void {
    this.#isNew = true;
    this.#hidden = undefined;
  }

  /**
   * Records a sample of a task. Call it in the order of time, in seconds.
   *
   * @param isHidden whether the sample shows the caller of the task and no function of it
   */
  sampled(task: number, time: number, isHidden: boolean): void {
    if (!isHidden) this.#hidden = undefined;
    else if (this.#hidden?.task !== task) this.#hidden = { task, since: time, until: time };
    else this.#hidden.until = time;
  }

  /** Returns whether to discard code at this time, in milliseconds. The caller does so if the answer is true. */
  discardsAt(now: number): boolean {
    const passed = now - this.#discarded;
    const hidden = this.#hidden === undefined ? 0 : this.#hidden.until - this.#hidden.since;
    const retries = hidden >= HIDDEN_SECONDS && passed >= this.#retryMs;
    if (!retries && !(this.#isNew && passed >= START_MS)) return false;
    if (retries) this.#retryMs *= 2;
    this.#isNew = false;
    this.#hidden = undefined;
    this.#discarded = now;
    return true;
  }
}
