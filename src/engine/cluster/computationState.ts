// The state of one computation on a cluster. It has the program for the isolates, the segment in the scheduler, the
// inline results, and the clients' handles and waiting calls. Nothing here refers to a Future or to a function of the
// caller. Otherwise the garbage collector could free neither the futures of a computation nor the values in such a
// closure.
import { type LongpoleError, releaseStack, unusableFuture } from '../../base/errors.js';
import type { Plan } from '../../graph/compile.js';
import { External } from '../../graph/external.js';
import type { Computation, DropReason } from '../../protocol/clusterObserver.js';
import type { FunctionRef } from '../../protocol/functionRef.js';
import { type TaskKinds, taskKinds } from '../../protocol/metrics.js';
import type { ResultId } from '../../protocol/packedResult.js';
import type { Program } from '../../protocol/program.js';
import type { Segment } from '../scheduler/taskGraph.js';

/** State of a requested result, by local id. */
const UNSETTLED = 0;
const SETTLED = 1;

export class ComputationState {
  readonly program: Program;
  /** Arguments, by their numbers in the program. */
  constants: unknown[];
  /** Local id → 1 if the task can never run again. See dropSpentArguments. */
  spent: Uint8Array | undefined;
  readonly segment: Segment;
  /** The description that observers receive. */
  readonly info: Computation;
  readonly functions: readonly FunctionRef[];
  /** Limit on the run time of a task, in seconds; 0: none. */
  readonly timeout: number;
  readonly kinds: TaskKinds;
  /** Inline results by local id. */
  results: unknown[];
  readonly dispatchedAt: Float64Array;
  /** Indices of the workers on which the computation is open. */
  readonly opened = new Set<number>();
  readonly handles = new Map<number, ResultHandle>();
  /** Local id → the error of the task's last run. */
  readonly reasons = new Map<number, unknown>();
  /** Local id of a result or an import, and who needs it → how often its worker could not be reached. */
  readonly unreached = new Map<string, number>();
  /** The largest of these numbers. */
  unreachedMost = 0;
  readonly runs: Uint8Array;
  /** Local id of a task that will not run, and has no run → the reason. */
  readonly dropped = new Map<number, DropReason>();
  /** Local id of an import → the handle of the imported result. */
  imports: ReadonlyMap<number, ResultHandle>;
  #requestedLeft: number;
  readonly #settled: Uint8Array;
  /** Local id → why the requested result will never be available. */
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
    imports: ReadonlyMap<number, ResultHandle>;
    results: unknown[] | undefined;
  }) {
    const { plan, segment, info, functions, timeout, imports } = parts;
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
    this.#settled = new Uint8Array(size);
    let requested = 0;
    for (const flag of plan.requested) requested += flag;
    this.#requestedLeft = requested;
  }

  resultId(local: number): ResultId {
    return this.info.firstId + local;
  }

  /** Adds a handle for a requested result, which may already be available or have failed. */
  addHandle(local: number): ResultHandle {
    const handle = new ResultHandle(this.info.keys[local]!, this, local);
    this.handles.set(local, handle);
    const failure = this.#failures.get(local);
    if (failure !== undefined) handle.set(failure.status, failure.error);
    else if (this.#cancelled !== undefined) handle.set('cancelled', this.#cancelled.error);
    else if (this.#settled[local] === SETTLED) handle.set('finished');
    return handle;
  }

  /** Returns a handle for a result that no client holds. `results-wanted` has to follow. */
  want(local: number): ResultHandle {
    if (!this.#failures.delete(local)) this.#requestedLeft++;
    this.#settled[local] = UNSETTLED;
    return this.addHandle(local);
  }

  /** Marks a requested result as available or as lost. */
  arrived(local: number, there: boolean): void {
    if (this.#settled[local] === (there ? SETTLED : UNSETTLED)) return;
    this.#settled[local] = there ? SETTLED : UNSETTLED;
    this.#requestedLeft += there ? -1 : 1;
    this.handles.get(local)?.set(there ? 'finished' : 'lost');
    if (this.#requestedLeft === 0) this.#end();
  }

  /** Marks a requested result as failed, or as cancelled if one of its inputs was cancelled. */
  failed(local: number, error: unknown, status: 'error' | 'cancelled' = 'error'): void {
    this.#failures.set(local, { status, error });
    this.handles.get(local)?.set(status, error);
    this.#error ??= { error };
    this.#end();
  }

  /** Makes a failed result pending again, because its task runs again. */
  retry(local: number): void {
    this.reasons.delete(local);
    if (!this.#failures.delete(local)) return;
    this.handles.get(local)?.retry();
    if (this.#failures.size === 0) this.#error = this.#cancelled;
  }

  /** Cancels all handles and rejects the calls that wait. */
  cancel(error: unknown): void {
    this.#cancelled ??= { error };
    for (const handle of this.handles.values()) handle.set('cancelled', error);
    this.#error ??= { error };
    this.#end();
  }

  /** Drops all values. Released futures may still refer to a computation that the cluster has forgotten. */
  clear(): void {
    this.constants = [];
    this.results = [];
    this.imports = new Map();
    this.reasons.clear();
    this.dropped.clear();
  }

  /** Resolves when all requested results are available. Rejects as soon as one has failed. */
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

/** `lost`: the worker with the result died, and the result is computed again. Lost scattered data is an `error`. */
export type ResultStatus = 'pending' | 'finished' | 'error' | 'cancelled' | 'lost';

export class ResultHandle extends External {
  readonly computation: ComputationState;
  readonly local: number;
  status: ResultStatus = 'pending';
  #error: unknown;
  /** Number of futures for this result. At 0 the workers release the result. */
  references = 0;
  /** Callbacks of waiting calls. Undefined for most handles. */
  #waiting: (() => void)[] | undefined;

  constructor(key: string, computation: ComputationState, local: number) {
    super(key);
    this.computation = computation;
    this.local = local;
  }

  /**
   * The error that `result()` throws when the status is `error` or `cancelled`. Created on first use, because a stack
   * costs microseconds.
   */
  get error(): unknown {
    if (this.status === 'cancelled' && this.#error === undefined) {
      this.#error = releasedError(this.key);
      releaseStack(this.#error);
    }
    return this.#error;
  }

  get isSettled(): boolean {
    return this.status !== 'pending' && this.status !== 'lost';
  }

  /** Resolves when the result is available, has failed or was cancelled. */
  settled(): Promise<void> {
    if (this.isSettled) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting ??= [];
      this.#waiting.push(resolve);
    });
  }

  /** Makes a failed result pending again. */
  retry(): void {
    if (this.status !== 'error') return;
    this.status = 'pending';
    this.#error = undefined;
  }

  set(status: ResultStatus, error?: unknown): void {
    if (this.status === 'cancelled' || this.status === 'error') return;
    this.status = status;
    this.#error = error;
    releaseStack(error);
    const waiting = this.#waiting;
    if (!this.isSettled || waiting === undefined) return;
    this.#waiting = undefined;
    for (const resolve of waiting) resolve();
  }
}

/** Returns the handle behind an external value of a graph; undefined: the value belongs to no cluster. */
export function handleOf(external: External): ResultHandle | undefined {
  if (external instanceof ResultHandle) return external;
  return 'handle' in external && external.handle instanceof ResultHandle ? external.handle : undefined;
}

export function releasedError(key: string): LongpoleError {
  return unusableFuture(
    `The future '${key}' was released or cancelled. Keep a future until its last use, or submit its task again.`,
  );
}
