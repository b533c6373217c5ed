// The host's side of an isolate, common to threads and processes.
import type { CompletionColumns } from '../../protocol/completionLog.js';
import type { ErrorInfo } from '../../protocol/errorInfo.js';
import type {
  Batch,
  OpenRunMessage,
  PackedValues,
  UnmeasuredWork,
  Values,
} from '../../protocol/isolateMessages.js';
import type { ExecutingTask, RunTask, WorkerRun } from '../../protocol/workerMessages.js';

/** The parts of a run that an isolate needs. Absent ones have the defaults of `openMessage`. */
export interface RunSpec
  extends Pick<WorkerRun, 'run' | 'functions' | 'program' | 'maxOutstanding'>,
    Partial<Pick<WorkerRun, 'kinds' | 'inlineBytes' | 'keys' | 'marks' | 'concurrentTasks'>>,
    Partial<Pick<OpenRunMessage, 'sized'>> {}

/** Reports of an isolate to a run. They may be called from within calls of Isolate. */
export interface RunHandler {
  /**
   * Reports finished tasks, in this order. `values` holds the results of kind VALUE, the packed results of kind STORED and the
   * ErrorInfo of kind ERROR. Both arguments are reused, so copy the parts that you keep.
   */
  finished(isolate: Isolate, columns: CompletionColumns, values: ReadonlyMap<number, unknown>): void;
  /** Reports fetched results. `missing`: results that the isolate has dropped meanwhile. */
  fetched(isolate: Isolate, values: Values, missing: Int32Array, packed: PackedValues): void;
  /** Reports a fetched result that could not be copied. */
  fetchFailed(isolate: Isolate, id: number, error: ErrorInfo): void;
  stolen(isolate: Isolate, ids: readonly number[]): void;
  /** Reports a task that has left its slot. Its batch distinguishes this run of the task from others. */
  seceded?(isolate: Isolate, id: number, batch: number): void;
  /** Reports work beside tasks that took long, if the isolate measures no tasks. A packed result is reported later. */
  worked?(isolate: Isolate, work: UnmeasuredWork): void;
  /** Reports the end of the isolate. `running`: the task that ran; -1: none; undefined: unknown. */
  lost(isolate: Isolate, running: number | undefined, cause: Error): void;
}

/** The task of another run that was last known to run. */
export interface OtherTask extends Omit<RunTask, 'batch'> {
  /** Whether the last batch of its run has a higher priority than that of the waiting run. */
  readonly isUrgent: boolean;
}

export interface Isolate {
  /** Name that is unique in the program, e.g. `threads-0`. */
  readonly name: string;
  readonly pid: number;
  /** See WorkerPlace. */
  readonly vitals: Float64Array | null;
  /** Time from which it receives messages, in seconds since the epoch; NaN if it has not reported that yet. */
  readonly readyAt: number;
  readonly alive: boolean;
  /** Whether no run is open and no task of a closed run still runs. */
  readonly isFree: boolean;
  open(spec: RunSpec, handler: RunHandler): void;
  /** @throws DOMException DataCloneError if an input or constant cannot be copied; nothing is sent then */
  dispatch(batch: Batch): void;
  release(run: number, ids: Int32Array): void;
  fetch(run: number, ids: Int32Array): void;
  /** Takes back tasks that have not started. The handler's `stolen` follows, at once or later. */
  steal(run: number, ids: Int32Array): void;
  /** Reports completions that a busy isolate could not send. */
  poll(run: number): void;
  /** The task that was last known to run, also if its run was closed meanwhile; undefined: none. */
  readonly executing: ExecutingTask | undefined;
  /** Returns the task of another open run that was last known to run, if any. */
  runningOther(run: number): OtherTask | undefined;
  /** Closes a run. If one of its tasks does not end within the grace period, the isolate is terminated. */
  close(run: number): void;
  terminate(): void;
}

/** @param runs the open runs, with the priority of their last batches */
export function otherTask(
  executing: ExecutingTask | undefined,
  runs: ReadonlyMap<number, { readonly priority: number }>,
  run: number,
): OtherTask | undefined {
  const other = executing && runs.get(executing.run);
  if (executing === undefined || other === undefined || executing.run === run) return undefined;
  return { ...executing, isUrgent: other.priority > (runs.get(run)?.priority ?? 0) };
}

/** Grace period of a cancelled task, after which its isolate is replaced, in milliseconds. */
export const CLOSE_GRACE_MS = 100;
