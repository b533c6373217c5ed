// Work that is taken back from a worker, for another that has none. The scheduler asks once and sends the worker nothing until
// it knows what was taken; the host is asked for each computation, and some may be over before it answers.

/** Tasks of a run, by local id. */
export interface RunTasks {
  readonly run: number;
  readonly ids: Int32Array;
}

/** What was taken back of a run. */
export interface TakenBack {
  readonly run: number;
  readonly ids: readonly number[];
}

export class Stealing {
  readonly #notify: (taken: readonly TakenBack[]) => void;
  #open = 0;
  #taken: TakenBack[] = [];

  /** `tell` is called once for what was asked for, when the last answer is there; also if nothing was taken. */
  constructor(notify: (taken: readonly TakenBack[]) => void) {
    this.#notify = notify;
  }

  /** `steal` asks the host, which answers for each run once, at once or later. */
  ask(parts: readonly RunTasks[], steal: (run: number, ids: Int32Array) => void): void {
    this.#open += parts.length;
    for (const { run, ids } of parts) steal(run, ids);
    if (parts.length === 0) this.#reportIfComplete();
  }

  /** An answer of the host. */
  answered(run: number, ids: readonly number[]): void {
    this.#open--;
    this.#taken.push({ run, ids });
    this.#reportIfComplete();
  }

  #reportIfComplete(): void {
    if (this.#open > 0) return;
    const taken = this.#taken;
    this.#taken = [];
    this.#notify(taken);
  }
}
