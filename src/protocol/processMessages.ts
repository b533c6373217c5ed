// Messages between this process and a child process, whose main thread passes them to its isolate. The channel copies
// typed arrays as bytes, so large data travels in columns.
import type { ErrorInfo } from './errorInfo.js';
import type { FinishedTasks } from './finishedTasks.js';
import type {
  CloseRun,
  Fetched,
  IsolateReady,
  OfferedBatch,
  OfTasks,
  OpenRunMessage,
  RunBatch,
  TaskSecedes,
} from './isolateMessages.js';
import type { MessageOf, WorkerOrders } from './workerMessages.js';

export interface ProcessBirth {
  readonly type: 'birth';
  readonly name: string;
  readonly epochOffsetMs: number;
}

export interface OpenRunInProcess
  extends Pick<OpenRunMessage, 'type' | 'run' | 'program' | 'functions' | 'concurrentTasks'> {
  readonly maxOutstanding: number;
}

/** A batch, with the data that the process's main thread puts into the memory that it shares with the isolate. */
export type RunBatchInProcess = RunBatch & OfferedBatch;

/** Calls of an isolate about tasks of a run. */
export type IsolateOrders = Pick<WorkerOrders, 'release' | 'fetch' | 'steal'>;

export type ToProcess =
  | ProcessBirth
  | OpenRunInProcess
  | RunBatchInProcess
  | MessageOf<IsolateOrders>
  | CloseRun;

/** The running task, or -1; sent when a poll of the isolate finds a change. */
export interface RunningInProcess {
  readonly type: 'running';
  readonly run: number;
  readonly id: number;
}

export type FetchedFromProcess = Omit<Fetched, 'opening'>;

/** The isolate in the process died; the process is about to end. */
export interface IsolateLost {
  readonly type: 'lost';
  readonly run: number;
  readonly running: number;
  readonly error: ErrorInfo;
}

export type FromProcess =
  | IsolateReady
  | FinishedTasks
  | RunningInProcess
  | FetchedFromProcess
  | OfTasks<'stolen'>
  | TaskSecedes
  | IsolateLost;
