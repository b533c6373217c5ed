// Messages between this process and a child process, whose main thread passes them to its isolate. The channel copies
// typed arrays as bytes, so large data travels in columns.
import type { ErrorInfo } from './errorInfo.js';
import type { FinishedTasks } from './finishedTasks.js';
import type { FunctionRef } from './functionRef.js';
import type { FetchResults, ReleaseResults, RunBatch, Values } from './isolateMessages.js';
import type { Program } from './program.js';

export interface ProcessBirth {
  readonly type: 'birth';
  readonly name: string;
  readonly epochOffsetMs: number;
}

export interface OpenRunInProcess {
  readonly type: 'open';
  readonly run: number;
  readonly program: Program;
  readonly functions: readonly FunctionRef[];
  readonly maxOutstanding: number;
}

/** A batch, with the data that the process's main thread puts into the memory that it shares with the isolate. */
export interface RunBatchInProcess extends RunBatch {
  readonly publish: Uint8Array;
  readonly keep: Int32Array;
}

export interface StealTasks {
  readonly type: 'steal';
  readonly run: number;
  readonly ids: Int32Array;
}

export interface CloseRunInProcess {
  readonly type: 'close';
  readonly run: number;
}

export type ToProcess =
  | ProcessBirth
  | OpenRunInProcess
  | RunBatchInProcess
  | ReleaseResults
  | FetchResults
  | StealTasks
  | CloseRunInProcess;

export interface ProcessReady {
  readonly type: 'ready';
}

/** The running task, or -1; sent when a poll of the isolate finds a change. */
export interface RunningInProcess {
  readonly type: 'running';
  readonly run: number;
  readonly id: number;
}

export interface FetchedFromProcess {
  readonly type: 'fetched';
  readonly run: number;
  /** Results that the isolate has dropped meanwhile, because all tasks that use them have run there. */
  readonly missing: Int32Array;
  readonly values: Values;
  readonly errors: readonly { readonly id: number; readonly error: ErrorInfo }[];
}

export interface StolenFromProcess {
  readonly type: 'stolen';
  readonly run: number;
  readonly ids: Int32Array;
}

/** The isolate in the process died; the process is about to end. */
export interface IsolateLost {
  readonly type: 'lost';
  readonly run: number;
  readonly running: number;
  readonly error: ErrorInfo;
}

export type FromProcess =
  | ProcessReady
  | FinishedTasks
  | RunningInProcess
  | FetchedFromProcess
  | StolenFromProcess
  | IsolateLost;
