// Messages between a host and its isolate, in both directions. The isolate is a thread of this process or of another
// one. In the second case the messages cross the process border first (see processMessages.ts).

import type { RemoteCompiler } from './compiledModules.js';
import type { ErrorInfo } from './errorInfo.js';
import type { FunctionRef } from './functionRef.js';
import type { MetricChanges, TaskKinds } from './metrics.js';
import type { GatherInput, PackedResult } from './packedResult.js';
import type { Program, SingleTask } from './program.js';
import type { TaskAnswer, TaskAnswerError, TaskQuestion } from './questions.js';

/** Opens a run: its program, and the memory shared with the host. */
export interface OpenRunMessage {
  readonly type: 'open';
  readonly run: number;
  /** Unique per isolate. A run may be closed and opened again, so reports name the opening. */
  readonly opening: number;
  readonly program: Program | SingleTask;
  readonly functions: readonly FunctionRef[];
  readonly log: LogRef;
  /** Requested results larger than this many bytes are packed; Infinity for never. */
  readonly inlineBytes: number;
  /** Kinds under which its tasks are counted; without them the tasks are not measured. */
  readonly kinds?: TaskKinds;
  /** Keys of the tasks if the isolate needs them. */
  readonly keys?: readonly string[] | null;
  /** True to mark every task as an NVTX range of its key. Default false. */
  readonly marks?: boolean;
  /**
   * Largest number of tasks of the isolate that overlap. A task that awaits leaves its slot below this number. Default
   * 1.
   */
  readonly concurrentTasks?: number;
  /** False if nothing reads the sizes of results that stay in the isolate, so that they need not be estimated. Default true. */
  readonly sized?: boolean;
}

/** Memory of a run that its host and its isolate share. It may have room for more tasks than the run has. */
export interface RunMemory {
  /** Memory of the CompletionLog. */
  readonly buffer: SharedArrayBuffer;
  /**
   * Task id → number of the batch in which the task is offered; 0 not offered; negative: started in that batch, and perhaps
   * ended.
   */
  readonly claims: Int32Array;
  /** Task id → 1 to send the result with the completion. The host may change it until the task is finished. */
  readonly wanted: Uint8Array;
}

/** The memory of a run. Memory with a number serves one run after the other, and comes with the first. */
export interface LogRef {
  readonly number: number | undefined;
  readonly memory: RunMemory | undefined;
}

/** A few numbers, or a column of many: V8 makes a buffer for every typed array in a message. */
export type Numbers = Int32Array | readonly number[];

/** Values by task id or by index of the constant: `ids[i]` ↔ `values[i]`. */
export interface Values {
  readonly ids: Numbers;
  readonly values: readonly unknown[];
}

/** Packed values by task id. */
export interface PackedValues {
  readonly ids: Int32Array;
  readonly results: readonly PackedResult[];
}

/**
 * A batch of tasks with the values that it needs, from the engine to the isolate. The scheduler's instruction `Dispatch` has
 * no values, only ids in all its graphs.
 */
export interface Batch {
  readonly type: 'batch';
  readonly run: number;
  /** Positive number, unique in the run. */
  readonly batch: number;
  readonly ids: Int32Array;
  /** For the host: by task, 1 if the result is needed outside the isolate. */
  readonly publish: Uint8Array;
  /** For the host: earlier tasks of the isolate with results that are no longer needed outside. */
  readonly keep: Int32Array;
  /**
   * For the host: the isolate for which the batch is, by the number of isolates before it. Default: the present one. A batch for an
   * isolate that has ended meanwhile does not run, because its tasks are sent again.
   */
  readonly isolate?: number | undefined;
  /** Of the batches of several runs in an isolate, one with a higher priority runs first. Default 0. */
  readonly priority?: number | undefined;
  /** Results of other isolates that the batch needs. */
  readonly inputs: Values;
  /** The program's constants that the batch needs. */
  readonly constants: Values;
  /** Results in stores that the batch needs. The host gathers them, as `packed` or `lacking`, and clears this list. */
  readonly gather: readonly GatherInput[];
  /** Results of other isolates that are stored as bytes. Default: none. */
  readonly packed?: PackedValues | undefined;
  /** Results that could not be gathered: tasks that need them are skipped. Default: none. */
  readonly lacking?: Int32Array | undefined;
  /** Constants that could not be copied. Default: none. */
  readonly uncloneable?: readonly UncloneableValue[] | undefined;
  /** Inputs that could not be copied. Default: none. */
  readonly uncloneableInputs?: readonly UncloneableValue[] | undefined;
}

/** A batch in a message to the isolate, without the parts for the host. Empty parts are absent. */
export interface BatchMessage
  extends Omit<Batch, 'ids' | 'publish' | 'keep' | 'isolate' | 'inputs' | 'constants' | 'gather'>,
    Partial<Pick<Batch, 'inputs' | 'constants'>> {
  readonly ids: Numbers;
}

/** A value that could not be copied: tasks that use it fail with this error. */
interface UncloneableValue {
  readonly id: number;
  readonly error: ErrorInfo;
}

interface OfTasks<T extends string> {
  readonly type: T;
  readonly run: number;
  readonly ids: Int32Array;
}

/** Calls a function with `argument`, between two tasks or, if a task takes long, in the middle of it. */
export interface CallFunction {
  readonly type: 'call';
  readonly call: number;
  readonly fn: FunctionRef;
  readonly argument: unknown;
  /** Whether batches that arrive later wait for the answer. */
  readonly tasksWait: boolean;
}

export type ToIsolate =
  | Several<ToIsolate>
  | OpenRunMessage
  | BatchMessage
  /** Results that are not needed any more. */
  | OfTasks<'release'>
  /** Results that have another holder now: they are sent again with the next batch that needs them. */
  | OfTasks<'evict'>
  /** Requests these results, between two tasks if necessary. */
  | OfTasks<'fetch'>
  | CallFunction
  /** Collect garbage now. */
  | { readonly type: 'collect' }
  | { readonly type: 'answer'; readonly answer: TaskAnswer | TaskAnswerError }
  | { readonly type: 'close'; readonly run: number };

/** Work of the isolate's thread beside the code of tasks. Times are seconds since the epoch on the isolate's clock. */
export interface IsolateWork {
  readonly action: 'serialize' | 'deserialize' | 'gc' | 'await';
  readonly start: number;
  readonly stop: number;
  /** The task that the work was for; -1 for none or several. */
  readonly run: number;
  readonly id: number;
  readonly nbytes: number;
}

/**
 * Work for a run that is not measured, which took long: results that were packed or unpacked for a task, or the import of
 * the modules of the run's functions, of which only the duration counts. Also a graph that a task ran on workers of its own.
 */
export interface UnmeasuredWork extends Omit<IsolateWork, 'action'> {
  readonly action: 'serialize' | 'deserialize' | 'import' | 'graph';
  /** Size of a graph that the task ran on workers of its own. */
  readonly graph?: GraphSize;
}

export interface GraphSize {
  readonly tasks: number;
  readonly workers: number;
}

/** A line that a task's code printed, or an error that no code caught. */
export interface IsolateOutput {
  readonly topic: 'stdout' | 'stderr' | 'uncaught-error';
  readonly text: string;
  /** The task; -1 for none or unknown. */
  readonly run: number;
  readonly id: number;
}

/** Measurements of an isolate since the previous message. */
export interface IsolateMeasures {
  readonly metrics: MetricChanges;
  /**
   * All tasks that ended up to this time have been counted, in seconds since the epoch on the isolate's clock; 0 if
   * nothing is new.
   */
  readonly upTo: number;
  /** Intervals that were long enough to be reported singly. */
  readonly work: readonly IsolateWork[];
  readonly output?: readonly IsolateOutput[];
  /** Packed results that the message hands to the host, and the time of the message. */
  readonly handed?: { readonly time: number; readonly count: number; readonly nbytes: number };
}

/** The completion log has new entries. Contains the values and errors of its VALUE and ERROR entries, if it has any. */
export interface Report {
  readonly type: 'report';
  readonly run: number;
  readonly opening: number;
  /** The log's number of entries. The values of these entries have arrived with this message. */
  readonly written: number;
  readonly values?: Values;
  /** The results of STORED entries. */
  readonly packed?: PackedValues;
  readonly errors?: readonly { readonly id: number; readonly error: ErrorInfo }[];
  readonly measures?: IsolateMeasures;
}

/** The answer to a fetch with the results that still exist. A result that could not be copied is an error instead. */
export interface Fetched {
  readonly type: 'fetched';
  readonly run: number;
  readonly opening: number;
  /** Results that the isolate has dropped meanwhile, because all tasks that use them have run there. */
  readonly missing: Int32Array;
  readonly values: Values;
  readonly packed: PackedValues;
  readonly errors: readonly { readonly id: number; readonly error: ErrorInfo }[];
}

/** A task asks the scheduler's process. */
export interface TaskAsks {
  readonly type: 'ask';
  readonly question: TaskQuestion;
}

export type FromIsolate =
  | Several<FromIsolate>
  /** The isolate has started, and receives messages from this time on, in seconds since the epoch. */
  | { readonly type: 'ready'; readonly time: number }
  | Report
  /** Measurements without anything else to report. */
  | { readonly type: 'measured'; readonly measures: IsolateMeasures }
  | Fetched
  /** The answer to a close: the isolate has released the run. `freeLog`: number of its log if nothing more is written to it. */
  | { readonly type: 'closed'; readonly run: number; readonly freeLog: number | undefined }
  /** The isolate starts the function of a call. The answer follows when the function ends. */
  | { readonly type: 'call-taken'; readonly call: number }
  /** The answer to a call: the function's result or exception. */
  | {
      readonly type: 'called';
      readonly call: number;
      readonly value: unknown;
      readonly error: ErrorInfo | undefined;
    }
  /** A task of a local scheduler has left its slot, because it awaits. `batch`: the batch of this run of the task. */
  | { readonly type: 'seceded'; readonly run: number; readonly id: number; readonly batch: number }
  | { readonly type: 'worked'; readonly work: UnmeasuredWork }
  | TaskAsks;

/** Data that a new isolate receives at its start. */
export interface IsolateBirth {
  /** See mailbox.ts. */
  readonly mailbox: Int32Array;
  /** Figures of the isolate in shared memory, which can be read while it computes; see VITALS. */
  readonly vitals: Float64Array;
  /** Milliseconds to add to `process.hrtime` to get milliseconds since the epoch, on the caller's clock. */
  readonly epochOffsetMs: number;
  readonly name: string;
  /** True if tasks will be measured, so that the isolate loads the code for it at once. */
  readonly metered: boolean;
  /** True if tasks may ask a scheduler's process. Tasks of local schedulers may not. */
  readonly asks: boolean;
  /** Undefined if the isolate loads modules as the program does. */
  readonly compiler?: RemoteCompiler;
}

/** Indices of the figures of an isolate. */
export const VITALS = {
  /** Bytes of the JavaScript heap. */
  heap: 0,
  /** Bytes outside the heap that its objects hold. */
  external: 1,
  /** Seconds of garbage collection since the start. */
  gc: 2,
  /** Last turn of the event loop, in seconds since the epoch; 0 before the first. */
  turned: 3,
  /** Seconds by which the last turn was late. */
  delay: 4,
  /** Seconds in which the event loop was busy, and in which it waited for events, from the start to that turn. */
  active: 5,
  idle: 6,
  /** The operating system's number of its thread; 0 if unknown. */
  thread: 7,
} as const;
export const VITALS_LENGTH = 8;
/** Seconds between two turns. */
export const VITALS_INTERVAL = 0.1;

export const NO_IDS = new Int32Array(0);
export const NO_PACKED: PackedValues = { ids: new Int32Array(0), results: [] };
export const NO_VALUES: Values = { ids: [], values: [] };

export const NOTHING_MEASURED: IsolateMeasures = {
  metrics: { keys: [], values: [] },
  upTo: 0,
  work: [],
};

/** Several messages in one, because every message wakes a thread or a process. */
export interface Several<M> {
  readonly type: 'several';
  readonly messages: readonly M[];
}
