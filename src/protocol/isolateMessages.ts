// What a host and its isolate say to each other, in both directions, whether the isolate is a thread of this process or
// of another: then the same messages cross the process border first (see processMessages.ts).

import type { ErrorInfo } from './errorInfo.js';
import type { Frames } from './frames.js';
import type { FunctionRef } from './functionRef.js';
import type { MetricChanges } from './metrics.js';
import type { Program } from './program.js';
import type { Several } from './several.js';
import type { TaskKinds } from './taskKinds.js';

/** A run begins: its program, and the memory shared with the host. */
export interface OpenRunMessage {
  readonly type: 'open';
  readonly run: number;
  readonly program: Program;
  readonly functions: readonly FunctionRef[];
  /** Task id → number of the batch in which the task is offered; 0 not offered; negative: started in that batch. */
  readonly claims: Int32Array;
  /** Task id → 1: send the result with the completion. The host may change its mind until the task is finished. */
  readonly wanted: Uint8Array;
  /** See CompletionLog. */
  readonly log: SharedArrayBuffer;
  /** Results that are wanted outside and larger than this many bytes are packed as frames; Infinity: none is. */
  readonly inlineBytes: number;
  /** What its tasks are counted under; without it they are not measured. */
  readonly kinds?: TaskKinds;
  /** Keys of the tasks, where somebody in the isolate wants to know them; null otherwise. */
  readonly keys: readonly string[] | null;
  /** Every task is marked as an NVTX range of its key. */
  readonly marks: boolean;
}

/** Values by task id or by index of the constant: `ids[i]` ↔ `values[i]`. */
export interface Values {
  readonly ids: Int32Array;
  readonly values: readonly unknown[];
}

/** Packed values by task id. */
export interface PackedValues {
  readonly ids: Int32Array;
  readonly frames: readonly Frames[];
}

export interface RunBatch {
  readonly type: 'batch';
  readonly run: number;
  readonly batch: number;
  readonly ids: Int32Array;
  /** Results of other isolates that the batch needs. */
  readonly inputs: Values;
  /** The same, of those that are stored. */
  readonly packed: PackedValues;
  /** Results that could not be had: tasks that need them are skipped. */
  readonly lacking: Int32Array;
  /** The program's constants that the batch needs. */
  readonly constants: Values;
  /** Those of them that could not be copied. Default: none. */
  readonly uncloneable?: readonly UncloneableValue[] | undefined;
  /** Inputs that could not be copied. Default: none. */
  readonly uncloneableInputs?: readonly UncloneableValue[] | undefined;
}

/** A value that could not be copied: tasks that use it fail with this error. */
export interface UncloneableValue {
  readonly id: number;
  readonly error: ErrorInfo;
}

/** Results that nobody needs any more. */
export interface ReleaseResults {
  readonly type: 'release';
  readonly run: number;
  readonly ids: Int32Array;
}

/** Collect garbage now. */
export interface CollectGarbage {
  readonly type: 'collect';
}

/** Results that somebody else keeps now: they are sent again with the next batch that needs them. */
export interface EvictResults {
  readonly type: 'evict';
  readonly run: number;
  readonly ids: Int32Array;
}

/** Call a function with `argument`, between two tasks or, if a task takes long, in the middle of it. */
export interface CallFunction {
  readonly type: 'call';
  readonly call: number;
  readonly fn: FunctionRef;
  readonly argument: unknown;
}

/** Send these results, between two tasks if need be. */
export interface FetchResults {
  readonly type: 'fetch';
  readonly run: number;
  readonly ids: Int32Array;
}

export interface CloseRun {
  readonly type: 'close';
  readonly run: number;
}

export type ToIsolate =
  | Several<ToIsolate>
  | OpenRunMessage
  | RunBatch
  | ReleaseResults
  | EvictResults
  | FetchResults
  | CallFunction
  | CollectGarbage
  | CloseRun;

/** The isolate is up. */
export interface IsolateReady {
  readonly type: 'ready';
}

/** Work of the isolate's thread beside the code of tasks. Times are seconds since the epoch on the isolate's clock. */
export interface IsolateWork {
  readonly action: 'serialize' | 'deserialize' | 'gc' | 'await';
  readonly start: number;
  readonly stop: number;
  /** The task that it was for; -1: none, or several. */
  readonly run: number;
  readonly id: number;
  readonly nbytes: number;
}

/** What code of a task has printed, one line, or an error that no code has caught. */
export interface IsolateOutput {
  readonly topic: 'stdout' | 'stderr' | 'uncaught-error';
  readonly text: string;
  /** The task; -1: none, or not known. */
  readonly run: number;
  readonly id: number;
}

/** What an isolate has measured since the last time. */
export interface IsolateMeasures {
  readonly metrics: MetricChanges;
  /** All tasks that ended up to here have been counted, in seconds since the epoch on the isolate's clock; 0: nothing new. */
  readonly upTo: number;
  /** Stretches that took long enough to be seen. */
  readonly work: readonly IsolateWork[];
  readonly output?: readonly IsolateOutput[];
  /** Packed results that are handed to the host with the message, and when that was. */
  readonly handed?: { readonly time: number; readonly count: number; readonly nbytes: number };
}

/** There is something new in the completion log; the values and errors of its VALUE and ERROR entries. */
export interface Report {
  readonly type: 'report';
  readonly run: number;
  readonly values: Values;
  /** The results of STORED entries. */
  readonly packed: PackedValues;
  readonly errors: readonly { readonly id: number; readonly error: ErrorInfo }[];
  readonly measures?: IsolateMeasures;
}

/** What has been measured, while there is nothing else to report. */
export interface Measured {
  readonly type: 'measured';
  readonly measures: IsolateMeasures;
}

/** The answer to a fetch, for those that are still there. A result that could not be copied is an error instead. */
export interface Fetched {
  readonly type: 'fetched';
  readonly run: number;
  /** Results that the isolate has dropped meanwhile, because all tasks that were to use them have run there. */
  readonly missing: Int32Array;
  readonly values: Values;
  readonly packed: PackedValues;
  readonly errors: readonly { readonly id: number; readonly error: ErrorInfo }[];
}

/** The answer to a close: the isolate has let go of the run. */
export interface Closed {
  readonly type: 'closed';
  readonly run: number;
}

/** The isolate has a call and begins with it. The answer comes as long after that as the function takes. */
export interface CallTaken {
  readonly type: 'call-taken';
  readonly call: number;
}

/** The answer to a call: what the function returned, or what it threw. */
export interface Called {
  readonly type: 'called';
  readonly call: number;
  readonly value: unknown;
  readonly error: ErrorInfo | undefined;
}

export type FromIsolate = IsolateReady | Report | Measured | Fetched | Called | Closed | CallTaken;

/** What a new isolate is given at birth. */
export interface IsolateBirth {
  /** Two words shared with the host: the first is 1 while a message waits that must be read between two tasks; NATIVE_CELL. */
  readonly mailbox: Int32Array;
  /** See VITALS_…: what the isolate says about itself, in shared memory, so that it can be read while it computes. */
  readonly vitals: Float64Array;
  /** Milliseconds to add to `process.hrtime` to get milliseconds since the epoch, on the caller's clock. */
  readonly epochOffsetMs: number;
  readonly name: string;
  /** Runs will come whose tasks are measured: what that takes is loaded at once. */
  readonly metered: boolean;
}

/** Bytes of its JavaScript heap. */
export const VITALS_HEAP = 0;
/** Bytes outside the heap that its objects hold. */
export const VITALS_EXTERNAL = 1;
/** Seconds of garbage collection since it began. */
export const VITALS_GC = 2;
/** When its event loop turned last, in seconds since the epoch; 0: not yet. */
export const VITALS_TURNED = 3;
/** Seconds by which the last turn was late. */
export const VITALS_DELAY = 4;
/** Seconds that the event loop has been busy, and that it has waited for events, from the beginning to that turn. */
export const VITALS_ACTIVE = 5;
export const VITALS_IDLE = 6;
/** The system's number of its thread; 0: not known. */
export const VITALS_THREAD = 7;
export const VITALS_LENGTH = 8;
/** Seconds between two turns. */
export const VITALS_INTERVAL = 0.1;

export const NO_IDS = new Int32Array(0);
export const NO_PACKED: PackedValues = { ids: new Int32Array(0), frames: [] };
export const NO_VALUES: Values = { ids: new Int32Array(0), values: [] };

export const NOTHING_MEASURED: IsolateMeasures = {
  metrics: { keys: [], values: new Float64Array(0) },
  upTo: 0,
  work: [],
};

/** The word of the mailbox that says whether the thread loads a native addon: see resources/nativeGuard. */
export const NATIVE_CELL = 1;
