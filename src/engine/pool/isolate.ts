// The main side of an isolate, the same for threads and processes.
import type { CompletionColumns } from '../../protocol/completionLog.js';
import type { ErrorInfo } from '../../protocol/errorInfo.js';
import type { FunctionRef } from '../../protocol/functionRef.js';
import type { PackedValues, UncloneableValue, Values } from '../../protocol/isolateMessages.js';
import type { Program } from '../../protocol/program.js';
import type { TaskKinds } from '../../protocol/taskKinds.js';

/** What an isolate needs to take part in a run. */
export interface RunChannel {
  readonly run: number;
  readonly program: Program;
  readonly functions: readonly FunctionRef[];
  /** Shared by all threads of the run; see OpenRunMessage.claims. */
  readonly claims: Int32Array;
  /** Likewise; see OpenRunMessage.wanted. */
  readonly wanted: Uint8Array;
  /** Tasks that may be outstanding at this isolate at most. */
  readonly maxOutstanding: number;
  /** See OpenRunMessage.inlineBytes. Default Infinity. */
  readonly inlineBytes?: number;
  /** See OpenRunMessage.kinds. */
  readonly kinds?: TaskKinds | undefined;
  /** See OpenRunMessage.keys. Default null. */
  readonly keys?: readonly string[] | null;
  /** See OpenRunMessage.marks. Default false. */
  readonly marks?: boolean;
  readonly handler: RunHandler;
}

/** How an isolate tells a run what happened. Calls may come from within calls of the isolate's own methods. */
export interface RunHandler {
  /**
   * Tasks have finished, in this order. `values` holds the results of kind VALUE, the Frames of kind STORED and the
   * ErrorInfo of kind ERROR. Both arguments are reused: copy what you keep.
   */
  finished(isolate: Isolate, columns: CompletionColumns, values: ReadonlyMap<number, unknown>): void;
  /** The answer to a fetch; `missing` are results that the isolate has dropped meanwhile. */
  fetched(isolate: Isolate, values: Values, missing: Int32Array, packed: PackedValues): void;
  /** A fetched result could not be copied. */
  fetchFailed(isolate: Isolate, id: number, error: ErrorInfo): void;
  stolen(isolate: Isolate, ids: readonly number[]): void;
  /** The isolate is gone. `running` is the task that ran, -1 for none, undefined if nobody knows. */
  lost(isolate: Isolate, running: number | undefined, cause: Error): void;
}

export interface DispatchedBatch {
  readonly batch: number;
  readonly ids: Int32Array;
  /** 1: the result is wanted outside the isolate. */
  readonly publish: Uint8Array;
  /** Tasks that the isolate has already, whose results are not wanted outside any more. */
  readonly keep: Int32Array;
  readonly inputs: Values;
  /** Inputs from stores. Default: none. */
  readonly packed?: PackedValues;
  /** Inputs that could not be had. Default: none. */
  readonly lacking?: Int32Array;
  readonly constants: Values;
  /** Constants that could not be copied. Default: none. */
  readonly uncloneable?: readonly UncloneableValue[] | undefined;
  readonly uncloneableInputs?: readonly UncloneableValue[] | undefined;
}

export interface Isolate {
  /** Unique in the program, e.g. `threads-0`. */
  readonly name: string;
  readonly pid: number;
  /** See WorkerPlace. */
  readonly vitals: Float64Array | null;
  readonly alive: boolean;
  /** Whether no run is open here, and no task of a closed one still runs. */
  readonly isFree: boolean;
  open(channel: RunChannel): void;
  /** @throws DOMException DataCloneError if an input or constant cannot be copied; nothing is sent then */
  dispatch(run: number, batch: DispatchedBatch): void;
  release(run: number, ids: Int32Array): void;
  fetch(run: number, ids: Int32Array): void;
  /** Takes back what has not started; the handler's `stolen` follows, at once or later. */
  steal(run: number, ids: Int32Array): void;
  /** Hands over completions that the isolate could not announce, because it is busy. */
  poll(run: number): void;
  /** The task of the run that the isolate runs now, as far as known, or -1. */
  running(run: number): number;
  /** Ends the isolate's part in a run. A task that does not end within the grace period takes its isolate along. */
  close(run: number): void;
  terminate(): void;
}

/** How long a cancelled task may go on before its isolate is replaced, in milliseconds. */
export const CLOSE_GRACE_MS = 100;
