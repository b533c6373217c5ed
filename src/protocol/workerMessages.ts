// Messages between a cluster and a worker process. The channel copies typed arrays as bytes, so large data travels in
// columns. Stored results travel between the workers, not here.

import type { MemorySample, Transfer, WorkInterval } from './clusterObserver.js';
import type { ErrorInfo } from './errorInfo.js';
import type { FinishedTasks } from './finishedTasks.js';
import type { FunctionRef } from './functionRef.js';
import type { OfferedBatch, OfTasks, OpenRunMessage, Values } from './isolateMessages.js';
import type { MetricChanges } from './metrics.js';
import type { ResultId } from './packedResult.js';
import type { ProfileCycle, ProfileSettings } from './profileCycle.js';
import type { TaskAnswer, TaskAnswerError, TaskQuestion } from './questions.js';
import type { Several } from './several.js';
import type { TaskKinds } from './taskKinds.js';

/** A computation in the form that a worker needs. */
export interface WorkerRun
  extends Pick<OpenRunMessage, 'run' | 'program' | 'functions' | 'inlineBytes' | 'keys' | 'marks'> {
  /** Local id + firstId is the ResultId. */
  readonly firstId: number;
  readonly maxOutstanding: number;
  /** Time limit of a task in seconds; 0 for none. */
  readonly timeout: number;
  /** Prefix and span of each task, under which its metrics are counted. */
  readonly kinds: TaskKinds;
}

/** A stored result that a batch needs, and its location. */
export interface GatherInput {
  /** Local id in the run. */
  readonly id: number;
  readonly result: ResultId;
  readonly key: string;
  readonly nbytes: number;
  /** Index of the worker that holds the result. */
  readonly from: number;
  readonly address: string;
}

export interface HostBatch extends OfferedBatch {
  readonly gather: readonly GatherInput[];
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
      /** Address of this machine at which peers reach the worker; undefined if all peers are on this machine. */
      readonly listen: string | undefined;
    }
  | { readonly type: 'open'; readonly run: WorkerRun }
  | ({ readonly type: 'batch'; readonly run: number } & HostBatch)
  | OfTasks<'release' | 'fetch' | 'steal' | 'cancel'>
  | { readonly type: 'drop'; readonly results: readonly number[] }
  | { readonly type: 'close'; readonly run: number }
  | {
      readonly type: 'take';
      readonly call: number;
      readonly gather: readonly GatherInput[];
      readonly what: Transfer['what'];
    }
  /** Requests all measurements so far; answered by `taken`. */
  | { readonly type: 'flush'; readonly call: number }
  /** Requests the state of the worker; answered by `called`. */
  | { readonly type: 'dump'; readonly call: number }
  | {
      readonly type: 'call';
      readonly call: number;
      readonly fn: FunctionRef;
      readonly facts: unknown;
      readonly context: CallContext | undefined;
      readonly tasksWait: boolean;
    }
  /** The answer to a question of a task in the isolate with this number. */
  | { readonly type: 'answer'; readonly answer: TaskAnswer | TaskAnswerError; readonly isolate: number }
  /** The answer to a heartbeat: the heartbeat's time, and the scheduler's. */
  | { readonly type: 'clock'; readonly sent: number; readonly remote: number }
  /** A peer is gone: transfers from it fail. */
  | { readonly type: 'peer-gone'; readonly address: string }
  | { readonly type: 'end' };

/** A running task, and the batch in which it began. */
export interface RunTask {
  readonly run: number;
  readonly id: number;
  readonly batch: number;
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

export type FromWorker =
  | { readonly type: 'ready'; readonly address: string; readonly pid: number }
  | FinishedTasks
  | {
      readonly type: 'fetched';
      readonly run: number;
      readonly values: Values;
      readonly stored: readonly { readonly id: number; readonly nbytes: number }[];
      readonly missing: Int32Array;
    }
  | { readonly type: 'fetch-failed'; readonly run: number; readonly id: number; readonly error: ErrorInfo }
  | { readonly type: 'stolen'; readonly run: number; readonly ids: readonly number[] }
  | {
      readonly type: 'gather-failed';
      readonly run: number;
      readonly missing: readonly { readonly id: number; readonly from: number; readonly result: number }[];
    }
  | { readonly type: 'timed-out'; readonly task: RunTask; readonly seconds: number }
  | {
      readonly type: 'restarted';
      readonly running: RunTask | undefined;
      readonly error: ErrorInfo;
      readonly isWanted: boolean;
    }
  /** `since` is the start of the task on the scheduler's clock. */
  | { readonly type: 'running'; readonly task: RunTask | undefined; readonly since: number }
  /** A question of a task, and the number of its isolate. */
  | { readonly type: 'ask'; readonly question: TaskQuestion; readonly isolate: number }
  | { readonly type: 'paused'; readonly paused: boolean }
  /** See HostEvents.full. */
  | { readonly type: 'full'; readonly why: ErrorInfo | undefined; readonly still: boolean }
  | { readonly type: 'warning'; readonly topic: string; readonly text: string }
  /** Keys are ResultIds as text, because only the scheduler knows the names. */
  | { readonly type: 'transfer'; readonly transfer: Transfer }
  | { readonly type: 'interval'; readonly interval: WorkInterval }
  | { readonly type: 'memory'; readonly sample: MemorySample }
  /** `upTo`: all tasks that ended before are included. */
  | { readonly type: 'metrics'; readonly changes: MetricChanges; readonly upTo: number }
  | { readonly type: 'profile'; readonly cycle: ProfileCycle }
  /** `task` is the local id of the task that the event concerns. */
  | {
      readonly type: 'event';
      readonly topic: string;
      readonly text: string;
      readonly task?: { readonly run: number; readonly id: number } | undefined;
    }
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
  | { readonly type: 'taken'; readonly call: number; readonly value: readonly number[] }
  /** A call of any type has arrived; `taken` or `called` follows. */
  | { readonly type: 'call-taken'; readonly call: number }
  | {
      readonly type: 'called';
      readonly call: number;
      readonly value: unknown;
      readonly error: ErrorInfo | undefined;
    }
  /** The worker ends itself: the process is about to exit. */
  | { readonly type: 'giving-up'; readonly why: string };
