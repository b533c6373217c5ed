// Messages between a cluster and a worker process. The channel copies typed arrays as bytes, so large data travels in
// columns. Stored results travel between the workers, not here.

import type {
  MemorySample,
  ProfileCycle,
  ProfileSettings,
  Transfer,
  WorkInterval,
} from './clusterObserver.js';
import type { CompletionColumns } from './completionLog.js';
import type { ErrorInfo } from './errorInfo.js';
import type { FewFinishedTasks, FinishedTasks } from './finishedTasks.js';
import type { FunctionRef } from './functionRef.js';
import type { Batch, FromIsolate, Numbers, OpenRunMessage, Several, Values } from './isolateMessages.js';
import type { MetricChanges, TaskKinds } from './metrics.js';
import type { GatherInput, ResultId } from './packedResult.js';
import type { Program, SingleTask } from './program.js';
import type { TaskAnswer, TaskAnswerError, TaskQuestion } from './questions.js';

/** A computation in the form that a worker needs. */
export interface WorkerRun
  extends Pick<OpenRunMessage, 'run' | 'functions' | 'inlineBytes' | 'keys' | 'marks' | 'concurrentTasks'> {
  readonly program: Program;
  /** Local id + firstId is the ResultId. */
  readonly firstId: number;
  readonly maxOutstanding: number;
  /** Time limit of a task in seconds; 0 for none. */
  readonly timeout: number;
  /** Prefix and span of each task, under which its metrics are counted. */
  readonly kinds: TaskKinds;
}

/** A computation in a message to a worker process. */
export interface PackedRun extends Omit<WorkerRun, 'program'> {
  readonly program: Program | SingleTask;
}

/** A batch in a message to a worker process. */
export interface PackedBatch extends Omit<Batch, 'ids' | 'publish' | 'keep'> {
  readonly ids: Numbers;
  readonly publish: Uint8Array | readonly number[];
  readonly keep: Numbers;
}

/** Entries that a function called in an isolate receives with `worker`. */
export type CallContext = Readonly<Record<string, unknown>>;

/** Shares of the memory limit; false for never. */
export interface MemoryThresholds {
  /**
   * Share of results in memory beyond which results are spilled. Spilling because of `spill` also ends here. Default
   * 0.6.
   */
  readonly target: number | false;
  /** Share of the process's memory beyond which results are spilled until `target` is reached. Default 0.7. */
  readonly spill: number | false;
  /** Share of the process's memory beyond which no task is started. Default 0.8. */
  readonly pause: number | false;
  /**
   * Share of the process's memory beyond which the worker is terminated and replaced, if spilling and garbage
   * collection free no memory. Default 0.95.
   */
  readonly terminate: number | false;
}

/** Methods with these parameters. */
export type Methods<A extends Record<keyof A, unknown[]>> = {
  readonly [K in keyof A]: (...args: A[K]) => void;
};

/** A call of one of these methods, as a message. */
export type MessageOf<A, M extends keyof A = keyof A> = {
  [K in M]: { readonly type: K; readonly args: A[K] };
}[M];

/** Makes the call that a message stands for. */
export function deliver<A extends Record<keyof A, unknown[]>, M extends keyof A>(
  target: Methods<A>,
  { type, args }: MessageOf<A, M>,
): void {
  target[type](...args);
}

/** Calls of a worker without an answer, with their parameters. */
export interface WorkerOrders {
  release: [run: number, ids: Int32Array];
  /** Deletes stored results. */
  drop: [results: readonly ResultId[]];
  fetch: [run: number, ids: Int32Array];
  steal: [run: number, ids: Int32Array];
  /** Cancels tasks. A running task that does not end within the grace period causes a restart of its isolate. */
  cancel: [run: number, ids: Int32Array];
  close: [run: number];
  /** Answers a question of a task. Ignored if the isolate with this number has ended. */
  answer: [answer: TaskAnswer | TaskAnswerError, isolate: number];
}

/**
 * A transfer in Dask's form.
 * @source Dask's diagnostics: total and compressed bytes, start and stop times, keys, peer
 */
export interface TransferLogEntry {
  /** Bytes of the results. */
  readonly total: number;
  /** Bytes that were sent. */
  readonly compressed: number;
  /** Seconds since the epoch on the scheduler's clock. */
  readonly start: number;
  readonly stop: number;
  readonly keys: readonly string[];
  /** Address of the other worker. */
  readonly peer: string;
}

/** The last transfers of a worker, which the scheduler's process records. */
export interface TransferLogs {
  /** Transfers to other workers and clients, oldest first. */
  readonly outgoingTransferLog: readonly TransferLogEntry[];
  /** Transfers from other workers and clients, oldest first. */
  readonly incomingTransferLog: readonly TransferLogEntry[];
}

/** How peers on other machines reach a worker or the program. */
export interface PeerNetwork {
  /** Address of this machine. */
  readonly host: string;
  readonly isEncrypted: boolean;
}

export type ToWorker =
  | Several<ToWorker>
  | {
      readonly type: 'birth';
      readonly index: number;
      readonly name: string;
      /** See isolateClock. A worker whose clock differs starts with a corrected offset. */
      readonly epochOffsetMs: number;
      readonly memoryLimit: number;
      readonly thresholds: Partial<MemoryThresholds>;
      readonly profile: ProfileSettings | undefined;
      /** Directory for spilled results and the socket. */
      readonly directory: string;
      /** The secret of the cluster. */
      readonly token: string;
      /** Undefined if all peers are on this machine. */
      readonly network: PeerNetwork | undefined;
    }
  | { readonly type: 'open'; readonly run: PackedRun }
  | PackedBatch
  | MessageOf<WorkerOrders>
  | {
      readonly type: 'take';
      readonly call: number;
      readonly gather: readonly GatherInput[];
      readonly what: Transfer['what'];
    }
  /** Requests all measurements so far, or the state of the worker. */
  | { readonly type: 'flush'; readonly call: number }
  | { readonly type: 'dump'; readonly call: number }
  | {
      readonly type: 'call';
      readonly call: number;
      readonly fn: FunctionRef;
      readonly transferLogs: TransferLogs;
      readonly context: CallContext | undefined;
      readonly tasksWait: boolean;
    }
  /** The answer to a heartbeat: the heartbeat's time, and the scheduler's. */
  | { readonly type: 'clock'; readonly sent: number; readonly remote: number }
  /** A peer is gone: transfers from it fail. */
  | { readonly type: 'peer-gone'; readonly address: string }
  | { readonly type: 'end' };

/** A run of a task: the task, and the batch in which it began. */
export interface RunTask {
  readonly run: number;
  readonly id: number;
  readonly batch: number;
}

/**
 * The task that an isolate runs. The isolate writes it to its CompletionLog, and its host reads it there. Other processes
 * have the last report of the host.
 */
export interface ExecutingTask extends RunTask {
  /** Start in seconds since the epoch on the isolate's clock; behind a report of a worker, on the scheduler's clock. */
  readonly since: number;
}

export function isSameRun(a: RunTask | undefined, b: RunTask | undefined): boolean {
  return a?.id === b?.id && a?.batch === b?.batch && a?.run === b?.run;
}

/** The parts of completions that identify the ended runs of tasks. */
export type EndedTasks = Pick<CompletionColumns, 'ids' | 'batches' | 'count'>;

/** Returns whether the completions of a computation include this run of a task. */
export function hasEnded(
  task: RunTask | undefined,
  run: number,
  { ids, batches, count }: EndedTasks,
): boolean {
  if (task?.run !== run) return false;
  const at = ids.subarray(0, count).lastIndexOf(task.id);
  return at >= 0 && batches[at] === task.batch;
}

/** Peer links of a worker at this moment. */
export interface WorkerLink {
  /** Seconds of the last heartbeat's round trip; NaN before the first one. */
  readonly latency: number;
  /** Bytes that the worker is fetching from peers, and sending to peers. */
  readonly incomingBytes: number;
  readonly incomingCount: number;
  readonly outgoingBytes: number;
  readonly outgoingCount: number;
}

/** An input of a batch that could not be gathered; see GatherInput. */
export interface MissingInput extends Pick<GatherInput, 'id' | 'from' | 'result'> {
  /** Why the worker `from` could not be reached. Absent if it has answered. */
  readonly unreachable?: string | undefined;
}

export interface StoredResult {
  readonly id: number;
  readonly nbytes: number;
}

/** Reports of a worker, with their parameters. */
export interface WorkerReports {
  fetched: [run: number, values: Values, stored: readonly StoredResult[], missing: Int32Array];
  fetchFailed: [run: number, id: number, error: ErrorInfo];
  stolen: [run: number, ids: readonly number[]];
  /** Reports inputs that could not be gathered. The worker skips the tasks that need them. */
  gatherFailed: [run: number, missing: readonly MissingInput[]];
  /** Reports a task that exceeded its time limit. `restarted` follows. */
  timedOut: [task: RunTask, seconds: number];
  /** Reports a question of a task, and the number of its isolate, for the answer. */
  asked: [question: TaskQuestion, isolate: number];
  /** Reports that the memory crossed the pause threshold. A paused worker receives no new tasks. */
  paused: [paused: boolean];
  /** Reports an event that also becomes a warning of the process. */
  warning: [topic: string, text: string];
  /** Reports a transfer. In a message, its keys are ResultIds as text, because only the scheduler knows the names. */
  transfer: [transfer: Transfer];
  interval: [interval: WorkInterval];
  memory: [sample: MemorySample];
  /** Reports changed metrics. They include all tasks that ended before `upTo` on the isolate's clock. */
  metrics: [changes: MetricChanges, upTo: number];
  /** Reports a cycle of the statistical profiler. Tasks are given as ResultIds. */
  profile: [cycle: ProfileCycle];
  /** Reports an event of the worker, or of a task. */
  event: [topic: string, text: string, task?: Omit<RunTask, 'batch'>];
}

/** Messages with reports have times on the scheduler's clock. */
export type FromWorker =
  | MessageOf<WorkerReports>
  | { readonly type: 'ready'; readonly address: string; readonly pid: number }
  | FinishedTasks
  | FewFinishedTasks
  /** A poll has found that another task runs, or none. */
  | { readonly type: 'running'; readonly task: ExecutingTask | undefined }
  | {
      readonly type: 'restarted';
      readonly running: RunTask | undefined;
      readonly error: ErrorInfo;
      readonly isWanted: boolean;
    }
  | { readonly type: 'full'; readonly why: ErrorInfo | undefined; readonly still: boolean }
  /**
   * `occupied`: see WorkerHost.isOccupied of the engine. `answers`: number of heartbeats whose answers have arrived. It
   * stands still if the process receives nothing.
   */
  | {
      readonly type: 'heartbeat';
      readonly sent: number;
      readonly answers: number;
      readonly link: WorkerLink;
      readonly occupied: boolean;
    }
  /** A call of any type has arrived, and later its answer. */
  | Extract<FromIsolate, { type: 'call-taken' | 'called' }>
  /** The worker ends itself: the process is about to exit. */
  | { readonly type: 'giving-up'; readonly why: string };
