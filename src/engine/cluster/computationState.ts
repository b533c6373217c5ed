// One computation as the cluster holds it: what its isolates need to run its tasks, also once more after a loss, where it stands in
// the scheduler, the results that came inline, and who waits for what. And the handles by which clients hold single results of
// it. Nothing here leads to a Future or to a function of the caller: the collector would never take the futures of a
// computation that uses them, nor whatever such a function can see.
import { LongpoleError, releaseFrames } from '../../base/errors.js';
import type { Plan } from '../../graph/compile.js';
import { External } from '../../graph/external.js';
import type { Computation } from '../../protocol/clusterObserver.js';
import type { ResultId } from '../../protocol/frames.js';
import type { FunctionRef } from '../../protocol/functionRef.js';
import type { Program } from '../../protocol/program.js';
import { type TaskKinds, taskKinds } from '../../protocol/taskKinds.js';
import type { Segment } from '../scheduler/taskGraph.js';

/** Local id → where a requested result stands. */
const UNSETTLED = 0;
const SETTLED = 1;

export class ComputationState {
  readonly program: Program;
  /** Arguments, by the numbers in the program. */
  constants: unknown[];
  /** Local id → 1 if the task can never run again. See spentTasks. */
  spent: Uint8Array | undefined;
  readonly segment: Segment;
  /** As observers see it. */
  readonly info: Computation;
  readonly functions: readonly FunctionRef[];
  /** Seconds that a task may run; 0: as long as it likes. */
  readonly timeout: number;
  readonly kinds: TaskKinds;
  /** Inline results by local id. */
  results: unknown[];
  readonly dispatchedAt: Float64Array;
  /** Shared by all threads of this process. */
  readonly shared: { readonly claims: Int32Array; readonly wanted: Uint8Array } | undefined;
  /** Workers that have opened it. */
  readonly opened = new Set<number>();
  readonly handles = new Map<number, ResultHandle>();
  /** Local id → why its last run failed. */
  readonly reasons = new Map<number, unknown>();
  readonly runs: Uint8Array;
  /** Import → what it stands for. */
  imports: ReadonlyMap<number, ResultHandle>;
  #requestedLeft: number;
  readonly #settled: Uint8Array;
  /** Requested results that will never come, by local id → why. */
  readonly #failures = new Map<number, { readonly status: 'error' | 'cancelled'; readonly error: unknown }>();
  #cancelled: { readonly error: unknown } | undefined;
  #error: { readonly error: unknown } | undefined;
  #waiting: { readonly resolve: () => void; readonly reject: (error: unknown) => void }[] = [];

  constructor(parts: {
    plan: Plan;
    segment: Segment;
    info: Computation;
    functions: readonly FunctionRef[];
    timeout: number;
    threads: boolean;
    imports: ReadonlyMap<number, ResultHandle>;
    results?: unknown[];
  }) {
    const { plan, segment, info, functions, timeout, threads, imports } = parts;
    const { size } = plan.program;
    this.program = plan.program;
    this.constants = plan.constants;
    this.segment = segment;
    this.info = info;
    this.functions = functions;
    this.timeout = timeout;
    this.kinds = taskKinds(info);
    this.imports = imports;
    this.results = parts.results ?? new Array(size);
    this.dispatchedAt = new Float64Array(size);
    this.runs = new Uint8Array(size);
    this.shared = threads
      ? {
          claims: new Int32Array(new SharedArrayBuffer(4 * size)),
          wanted: new Uint8Array(new SharedArrayBuffer(size)),
        }
      : undefined;
    this.#settled = new Uint8Array(size);
    let requested = 0;
    for (const flag of plan.requested) requested += flag;
    this.#requestedLeft = requested;
  }

  resultId(local: number): ResultId {
    return this.info.firstId + local;
  }

  /** A handle for a requested result, which may be there, or have failed, already. */
  addHandle(local: number): ResultHandle {
    const handle = new ResultHandle(this.info.keys[local]!, this, local);
    this.handles.set(local, handle);
    const failure = this.#failures.get(local);
    if (failure !== undefined) handle.set(failure.status, failure.error);
    else if (this.#cancelled !== undefined) handle.set('cancelled', this.#cancelled.error);
    else if (this.#settled[local] === SETTLED) handle.set('finished');
    return handle;
  }

  /** A requested result has come, or was lost. */
  arrived(local: number, there: boolean): void {
    if (this.#settled[local] === (there ? SETTLED : UNSETTLED)) return;
    this.#settled[local] = there ? SETTLED : UNSETTLED;
    this.#requestedLeft += there ? -1 : 1;
    this.handles.get(local)?.set(there ? 'finished' : 'lost');
    if (this.#requestedLeft === 0) this.#end();
  }

  /** A requested result will never come. `cancelled`: because what it needs was cancelled. */
  failed(local: number, error: unknown, status: 'error' | 'cancelled' = 'error'): void {
    this.#failures.set(local, { status, error });
    this.handles.get(local)?.set(status, error);
    this.#error ??= { error };
    this.#end();
  }

  /** Nobody will wait any longer. */
  cancel(error: unknown): void {
    this.#cancelled ??= { error };
    for (const handle of this.handles.values()) handle.set('cancelled', error);
    this.#error ??= { error };
    this.#end();
  }

  /** Drops all values. The cluster has forgotten the computation, and futures that were released may still lead to it. */
  clear(): void {
    this.constants = [];
    this.results = [];
    this.imports = new Map();
    this.reasons.clear();
  }

  /** Resolves when all requested results are there; rejects as soon as one will never be. */
  done(): Promise<void> {
    if (this.#error !== undefined) return Promise.reject(this.#error.error);
    if (this.#requestedLeft === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
    });
  }

  #end(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { resolve, reject } of waiting) {
      if (this.#error === undefined) resolve();
      else reject(this.#error.error);
    }
  }
}

/** `lost`: it was there, its worker died, and it is being computed again; data that cannot be is an error. */
export type ResultStatus = 'pending' | 'finished' | 'error' | 'cancelled' | 'lost';

export class ResultHandle extends External {
  readonly computation: ComputationState;
  readonly local: number;
  status: ResultStatus = 'pending';
  #error: unknown;
  /** Futures that stand for it. At 0 the result leaves the workers. */
  references = 0;
  /** Who waits; most handles are never waited for. */
  #waiting: (() => void)[] | undefined;

  constructor(key: string, computation: ComputationState, local: number) {
    super(key);
    this.computation = computation;
    this.local = local;
  }

  /** What `result()` throws, with the status `error` or `cancelled`. Made when it is asked for: a stack costs microseconds. */
  get error(): unknown {
    if (this.status === 'cancelled' && this.#error === undefined) {
      this.#error = new LongpoleError(
        'ERR_LONGPOLE_FUTURE',
        `The future '${this.key}' was released or cancelled.`,
      );
      releaseFrames(this.#error);
    }
    return this.#error;
  }

  get isSettled(): boolean {
    return this.status !== 'pending' && this.status !== 'lost';
  }

  /** Resolves when the result is there or will never be. */
  settled(): Promise<void> {
    if (this.isSettled) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting ??= [];
      this.#waiting.push(resolve);
    });
  }

  set(status: ResultStatus, error?: unknown): void {
    if (this.status === 'cancelled' || this.status === 'error') return;
    this.status = status;
    this.#error = error;
    releaseFrames(error);
    const waiting = this.#waiting;
    if (!this.isSettled || waiting === undefined) return;
    this.#waiting = undefined;
    for (const resolve of waiting) resolve();
  }
}

/** The handle of what stands for a result in a graph; undefined: it is none of a cluster. */
export function handleOf(external: External): ResultHandle | undefined {
  if (external instanceof ResultHandle) return external;
  return 'handle' in external && external.handle instanceof ResultHandle ? external.handle : undefined;
}
