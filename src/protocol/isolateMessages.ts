// What a host and its isolate say to each other, in both directions, whether the isolate is a thread of this process or
// of another: then the same messages cross the process border first (see processMessages.ts).
import type { ErrorInfo } from './errorInfo.js';
import type { FunctionRef } from './functionRef.js';
import type { Program } from './program.js';

/** A run begins: its program, and the memory shared with the host. */
export interface OpenRun {
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
}

/** Values by task id or by index of the constant: `ids[i]` ↔ `values[i]`. */
export interface Values {
  readonly ids: Int32Array;
  readonly values: readonly unknown[];
}

export interface RunBatch {
  readonly type: 'batch';
  readonly run: number;
  readonly batch: number;
  readonly ids: Int32Array;
  /** Results of other isolates that the batch needs. */
  readonly inputs: Values;
  /** The program's constants that the batch needs. */
  readonly constants: Values;
}

/** Results that nobody needs any more. */
export interface ReleaseResults {
  readonly type: 'release';
  readonly run: number;
  readonly ids: Int32Array;
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

export type ToIsolate = OpenRun | RunBatch | ReleaseResults | FetchResults | CloseRun;

/** The isolate is up. */
export interface IsolateReady {
  readonly type: 'ready';
}

/** There is something new in the completion log; the values and errors of its VALUE and ERROR entries. */
export interface Report {
  readonly type: 'report';
  readonly run: number;
  readonly values: Values;
  readonly errors: readonly { readonly id: number; readonly error: ErrorInfo }[];
}

/** The answer to a fetch, for those that are still there. A result that could not be copied is an error instead. */
export interface Fetched {
  readonly type: 'fetched';
  readonly run: number;
  /** Results that the isolate has dropped meanwhile, because all tasks that were to use them have run there. */
  readonly missing: Int32Array;
  readonly values: Values;
  readonly errors: readonly { readonly id: number; readonly error: ErrorInfo }[];
}

/** The answer to a close: the isolate has let go of the run. */
export interface Closed {
  readonly type: 'closed';
  readonly run: number;
}

export type FromIsolate = IsolateReady | Report | Fetched | Closed;

/** What a new isolate is given at birth. */
export interface IsolateBirth {
  /** One word shared with the host: 1 says that a message waits which must be read between two tasks. */
  readonly mailbox: Int32Array;
  /** Milliseconds to add to `process.hrtime` to get milliseconds since the epoch, on the caller's clock. */
  readonly epochOffsetMs: number;
  readonly name: string;
}

export const NO_VALUES: Values = { ids: new Int32Array(0), values: [] };
