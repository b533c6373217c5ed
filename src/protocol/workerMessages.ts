// Messages between a cluster and a worker process. The channel copies typed arrays as bytes, so large data travels in
// columns. Stored results travel between the workers, not here.

import type { MemorySample, Transfer, WorkInterval } from './clusterObserver.js';
import type { ErrorInfo } from './errorInfo.js';
import type { FinishedTasks } from './finishedTasks.js';
import type { FunctionRef } from './functionRef.js';
import type { UncloneableValue, Values } from './isolateMessages.js';
import type { MetricChanges } from './metrics.js';
import type { ProfileCycle, ProfileSettings } from './profileCycle.js';
import type { Program } from './program.js';
import type { TaskAnswer, TaskAnswerError, TaskQuestion } from './questions.js';
import type { Several } from './several.js';
import type { TaskKinds } from './taskKinds.js';

/** A computation in the form that a worker needs. */
export interface WorkerRun {
  /** Number of the computation. */
  readonly run: number;
  /** Local id + firstId is the ResultId. */
  readonly firstId: number;
  readonly program: Program;
  readonly functions: readonly FunctionRef[];
  readonly maxOutstanding: number;
  readonly inlineBytes: number;
  /** See OpenRunMessage.keys. */
  readonly keys: readonly string[] | null;
  /** Time limit of a task in seconds; 0 for none. */
  readonly timeout: number;
  /** See OpenRunMessage.marks. */
  readonly marks: boolean;
  /** Prefix and span of each task, under which its metrics are counted. */
  readonly kinds: TaskKinds;
}

/** See GatherInput of the engine. */
export interface WorkerGather {
  readonly id: number;
  readonly result: number;
  readonly key: string;
  readonly nbytes: number;
  readonly from: number;
  readonly address: string;
}

/** Entries that a function called in an isolate receives with `worker`. */
export type CallContext = Readonly<Record<string, unknown>>;

/** See MemoryThresholds of the engine. */
export interface WorkerThresholds {
  readonly target?: number | false;
  readonly spill?: number | false;
  readonly pause?: number | false;
  readonly terminate?: number | false;
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
      readonly thresholds: WorkerThresholds;
      readonly profile: ProfileSettings | undefined;
      /** Directory for spilled results and the socket. */
      readonly directory: string;
      /** The secret of the cluster. */
      readonly token: string;
      /** Address of this machine at which peers reach the worker; undefined if all peers are on this machine. */
      readonly listen: string | undefined;
    }
  | { readonly type: 'open'; readonly run: WorkerRun }
  | {
      readonly type: 'batch';
      readonly uncloneable?: readonly UncloneableValue[];
      readonly uncloneableInputs?: readonly UncloneableValue[];
      readonly run: number;
      readonly batch: number;
      readonly ids: Int32Array;
      readonly publish: Uint8Array;
      readonly keep: Int32Array;
      readonly inputs: Values;
      readonly gather: readonly WorkerGather[];
      readonly constants: Values;
    }
  | { readonly type: 'release'; readonly run: number; readonly ids: Int32Array }
  | { readonly type: 'drop'; readonly results: readonly number[] }
  | { readonly type: 'fetch'; readonly run: number; readonly ids: Int32Array }
  | { readonly type: 'steal'; readonly run: number; readonly ids: Int32Array }
  | { readonly type: 'cancel'; readonly run: number; readonly ids: Int32Array }
  | { readonly type: 'close'; readonly run: number }
  | {
      readonly type: 'take';
      readonly call: number;
      readonly gather: readonly WorkerGather[];
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
export interface WorkerTask {
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
  | { readonly type: 'timed-out'; readonly task: WorkerTask; readonly seconds: number }
  | {
      readonly type: 'restarted';
      readonly running: WorkerTask | undefined;
      readonly error: ErrorInfo;
      readonly isWanted: boolean;
    }
  /** `since` is the start of the task on the scheduler's clock. */
  | { readonly type: 'running'; readonly task: WorkerTask | undefined; readonly since: number }
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
