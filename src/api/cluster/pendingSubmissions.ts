// Collects the submissions of a client until the end of the current turn of the event loop, and submits them as one
// computation. A loop of a thousand submits then costs one message.
import type { ClusterEngine } from '../../engine/cluster/clusterEngine.js';
import type { ComputationRequest } from '../../engine/cluster/computationRequest.js';
import type { ComputationState, ResultHandle } from '../../engine/cluster/computationState.js';
import { compileDelayed, type Plan } from '../../graph/compile.js';
import type { Delayed } from '../../graph/delayed.js';
import { functionRefs } from '../../graph/shipFunction.js';
import type { SubmitOptions, SubmitPolicy } from './clientOptions.js';
import { submitPolicy } from './clientOptions.js';
import type { Future } from './future.js';

/** Returns the spans of a plan, and the lines of the program that submitted it. */
export type PlanOrigin = (plan: Plan, code: string) => Pick<ComputationRequest, 'spans' | 'code'>;

interface Waiting {
  readonly delayed: Delayed<unknown>;
  readonly future: Future<unknown>;
}

export class PendingSubmissions {
  readonly #engine: ClusterEngine;
  readonly #client: string;
  readonly #origin: PlanOrigin;
  readonly #watch: (
    computation: ComputationState,
    handles: readonly ResultHandle[],
    options: SubmitOptions,
  ) => void;
  #waiting: Waiting[] = [];
  #options: SubmitOptions | undefined;
  #policy: SubmitPolicy | undefined;
  #code = '';
  /** Time of the first pending submission. */
  #called = Number.NaN;

  /** @param watch receives each new computation with its options */
  constructor(
    engine: ClusterEngine,
    client: string,
    origin: PlanOrigin,
    watch: (computation: ComputationState, handles: readonly ResultHandle[], options: SubmitOptions) => void,
  ) {
    this.#engine = engine;
    this.#client = client;
    this.#origin = origin;
    this.#watch = watch;
  }

  /** @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for invalid options */
  add(delayed: Delayed<unknown>, future: Future<unknown>, options: SubmitOptions, code: () => string): void {
    if (this.#waiting.length > 0 && !sameOptions(options, this.#options ?? options)) this.flush();
    if (this.#waiting.length === 0) {
      this.#policy = submitPolicy('submit()', options);
      this.#options = options;
      this.#called = this.#engine.clock();
      this.#code = code();
      queueMicrotask(() => this.flush());
    }
    this.#waiting.push({ delayed, future });
  }

  /** Submits the pending calls as one computation. A call that cannot be compiled or shipped fails its future. */
  flush(): void {
    const waiting = this.#waiting;
    const { policy, timeout } = this.#policy ?? submitPolicy('submit()', {});
    const options = this.#options ?? {};
    this.#waiting = [];
    if (waiting.length === 0) return;
    try {
      const plan = compilePlan(
        this.#engine,
        waiting.map(({ delayed }) => delayed),
      );
      const computation = this.#engine.add({
        plan,
        ...this.#origin(plan, this.#code),
        functions: functionRefs(plan.functions, this.#engine.options.runsPython === true),
        client: this.#client,
        policy,
        timeout,
        called: this.#called,
      });
      const handles: ResultHandle[] = [];
      for (const { delayed, future } of waiting) {
        const handle = this.#engine.results.of(computation, plan.ids.get(delayed.key)!);
        future.bind(handle);
        handles.push(handle);
      }
      this.#watch(computation, handles, options);
    } catch (error) {
      if (waiting.length === 1) waiting[0]!.future.fail(error);
      // A call that cannot be submitted must not fail the others.
      else for (const one of waiting) this.#single(one, options);
    }
  }

  #single(one: Waiting, options: SubmitOptions): void {
    this.#waiting = [one];
    this.#options = options;
    this.#policy = submitPolicy('submit()', options);
    this.flush();
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
