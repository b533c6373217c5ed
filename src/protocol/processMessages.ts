// Calls between this process and a child process, whose main thread passes them to its isolate. The channel copies
// typed arrays as bytes, so large data travels in columns.
import type { ErrorInfo } from './errorInfo.js';
import type { FinishedTasks } from './finishedTasks.js';
import type { Batch, OpenRunMessage, PackedValues, UnmeasuredWork, Values } from './isolateMessages.js';
import type { ExecutingTask, MessageOf, WorkerOrders, WorkerReports, WorkerRun } from './workerMessages.js';

export type RunInProcess = Pick<OpenRunMessage, 'sized'> &
  Pick<WorkerRun, 'run' | 'functions' | 'program' | 'maxOutstanding' | 'concurrentTasks'>;

/** Calls of an isolate, with their parameters. */
export interface IsolateOrders extends Pick<WorkerOrders, 'release' | 'fetch' | 'steal' | 'close'> {
  /** Creates the isolate. This is the first call. */
  birth: [name: string, epochOffsetMs: number];
  open: [run: RunInProcess];
  dispatch: [batch: Batch];
}

/** Reports of an isolate, with their parameters. */
export interface IsolateReports extends Pick<WorkerReports, 'fetchFailed' | 'stolen'> {
  /** The process receives calls from this time on, in seconds since the epoch. */
  ready: [time: number];
  fetched: [run: number, values: Values, missing: Int32Array, packed: PackedValues];
  /** A poll has found that another task runs, or none. */
  running: [task: ExecutingTask | undefined];
  seceded: [run: number, id: number, batch: number];
  worked: [work: UnmeasuredWork];
  /** Reports that the isolate died. The process is about to end. */
  lost: [run: number, running: number, error: ErrorInfo];
}

export type ToProcess = MessageOf<IsolateOrders>;
export type FromProcess = FinishedTasks | MessageOf<IsolateReports>;
