// Collects the submissions of a client until the end of the current turn of the event loop, and submits them as one
// computation. A loop of a thousand submits then costs one message.
import type { ClusterEngine } from '../../engine/cluster/clusterEngine.js';
import { compileDelayed, type Plan } from '../../graph/compile.js';
import type { Delayed } from '../../graph/delayed.js';
import { type Call, type SubmitOptions, submitPolicy } from './clientOptions.js';
import type { Future, FutureHandle } from './future.js';

/** Submits some Delayed as one computation. Returns the handles of their results. */
export type Start = (
  delayeds: readonly Delayed<unknown>[],
  options: SubmitOptions,
  call: Call,
) => readonly FutureHandle[];

interface Waiting {
  readonly delayed: Delayed<unknown>;
  readonly future: Future<unknown>;
}

export class PendingSubmissions {
  readonly #clock: () => number;
  readonly #start: Start;
  #waiting: Waiting[] = [];
  #options: SubmitOptions = {};
  #code = '';
  /** Time of the first pending submission. */
  #called = Number.NaN;
  /** Start of the current call. */
  #begin = Number.NaN;
  /** Seconds of the calls that added what is pending. */
  #inside = 0;

  constructor(clock: () => number, start: Start) {
    this.#clock = clock;
    this.#start = start;
  }

  /** Runs a part of a call of the program that adds submissions. Its time is Longpole's. */
  during<T>(call: () => T): T {
    this.#begin = this.#clock();
    try {
      return call();
    } finally {
      if (this.#waiting.length > 0) this.#inside += this.#clock() - this.#begin;
    }
  }

  /**
   * Use it in `during()`.
   * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for invalid options
   */
  add(delayed: Delayed<unknown>, future: Future<unknown>, options: SubmitOptions, code: () => string): void {
    if (this.#waiting.length > 0 && !sameOptions(options, this.#options)) this.flush();
    if (this.#waiting.length === 0) {
      submitPolicy('submit()', options);
      this.#options = options;
      this.#called = this.#begin;
      this.#code = code();
      queueMicrotask(() => this.flush());
    }
    this.#waiting.push({ delayed, future });
  }

  /** Submits the pending calls as one computation. A call that cannot be compiled or shipped fails its future. */
  flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length === 0) return;
    const prepared = Math.max(this.#called, this.#clock() - this.#inside);
    this.#submit(waiting, { called: this.#called, prepared, code: this.#code });
    this.#inside = 0;
    this.#begin = this.#clock();
  }

  #submit(waiting: readonly Waiting[], call: Call): void {
    try {
      const delayeds = waiting.map(({ delayed }) => delayed);
      const handles = this.#start(delayeds, this.#options, call);
      for (const [index, { future }] of waiting.entries()) future.bind(handles[index]!);
    } catch (error) {
      if (waiting.length === 1) waiting[0]!.future.fail(error);
      // A call that cannot be submitted must not fail the others.
      else for (const one of waiting) this.#submit([one], call);
    }
  }
}

/**
 * Returns the plan of some Delayed. It uses existing results that futures hold instead of computing their keys again.
 */
export function compilePlan(engine: ClusterEngine, delayeds: readonly Delayed<unknown>[]): Plan {
  return compileDelayed(delayeds, {
    shared: engine.options.threads,
    known: (key) => engine.results.known(key),
  });
}

function sameOptions(a: SubmitOptions, b: SubmitOptions): boolean {
  if (a === b) return true;
  return (
    a.signal === b.signal &&
    a.priority === b.priority &&
    a.retries === b.retries &&
    a.timeout === b.timeout &&
    String(a.workers) === String(b.workers) &&
    JSON.stringify(a.resources) === JSON.stringify(b.resources)
  );
}
