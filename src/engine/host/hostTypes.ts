// The interface between a cluster and a worker: WorkerHost has the cluster's calls, HostEvents the worker's reports. A
// worker that is a thread of this process implements it directly, a worker that is a process through messages.
import type { MemorySample, Transfer, WorkInterval } from '../../protocol/clusterObserver.js';
import type { CompletionColumns } from '../../protocol/completionLog.js';
import type { ErrorInfo } from '../../protocol/errorInfo.js';
import type { FunctionRef } from '../../protocol/functionRef.js';
import type { Values } from '../../protocol/isolateMessages.js';
import type { MetricChanges } from '../../protocol/metrics.js';
import type { PackedResult, ResultId } from '../../protocol/packedResult.js';
import type { ProfileCycle } from '../../protocol/profileCycle.js';
import type { TaskAnswer, TaskAnswerError, TaskQuestion } from '../../protocol/questions.js';
import type {
  CallContext,
  GatherInput,
  HostBatch,
  RunTask,
  WorkerLink,
  WorkerRun,
} from '../../protocol/workerMessages.js';
import type { IsolateDump } from '../pool/isolateDump.js';
import type { MessageCount } from '../pool/messageLog.js';
import type { CallDump } from '../pool/pendingCalls.js';

/** The parts of a computation that a worker needs. */
export interface HostRun extends WorkerRun {
  /** Memory that all threads of this process share. A worker process creates its own. */
  readonly shared: { readonly claims: Int32Array; readonly wanted: Uint8Array } | undefined;
}

/** Facts about a worker that functions on the worker receive. */
export interface HostFacts {
  readonly name: string;
  readonly address: string;
  readonly pid: number;
  readonly memoryLimit: number;
  readonly localDirectory: string;
  readonly nthreads: number;
}

export interface WorkerHost {
  readonly name: string;
  /** Vitals of the isolate (see VITALS_… of isolateMessages): shared memory, or the path of the file with a copy. */
  readonly vitals: Float64Array | string;
  /** Peer links reported by the last heartbeat. Undefined before the first one, and for workers in this process. */
  readonly link?: WorkerLink | undefined;
  /**
   * Whether the worker gathers results or runs a call, or its isolate starts or computes. Tasks may wait for these
   * activities.
   */
  readonly isOccupied: boolean;
  /** Id of the worker's process. */
  readonly pid: number;
  open(run: HostRun): void;
  dispatch(run: number, batch: HostBatch): void;
  release(run: number, ids: Int32Array): void;
  /** Deletes stored results. */
  drop(results: readonly ResultId[]): void;
  fetch(run: number, ids: Int32Array): void;
  steal(run: number, ids: Int32Array): void;
  /** Cancels tasks. A running task that does not end within the grace period causes a restart of its isolate. */
  cancel(run: number, ids: Int32Array): void;
  close(run: number): void;
  /**
   * Copies stored results from another worker or the client into this worker's store. Resolves with the missing ones.
   */
  take(gather: readonly GatherInput[], what: Transfer['what']): Promise<ResultId[]>;
  /** Returns stored results to a client, without the missing ones. */
  give(results: readonly GatherInput[]): Promise<ReadonlyMap<ResultId, PackedResult>>;
  /**
   * Sends the measurements so far. Resolves after that, or when a long native call keeps the isolate from answering.
   */
  flush(): Promise<void>;
  /**
   * Calls a function in the worker's isolate with `{ worker }` and the entries of `context`. If the isolate ends before
   * it has received a call without a context, the call goes to the next isolate. Calls with a context are setups of
   * plugins, which Installations repeats for each isolate.
   *
   * @param tasksWait whether tasks that are sent later wait for the end of the call. Default false
   */
  call(fn: FunctionRef, context?: CallContext, tasksWait?: boolean): Promise<unknown>;
  /** Answers a question of a task. Ignored if the isolate with this number has ended. */
  answer(answer: TaskAnswer | TaskAnswerError, isolate: number): void;
  /** Returns the state of the worker for a dump. Never rejects. */
  dump(): Promise<HostDump | ProcessDump>;
  terminate(): Promise<void>;
}

/** State of a run at its host, for a dump. */
export interface RunDump {
  readonly run: number;
  /** Whether the run is open in the isolate. */
  readonly isOpen: boolean;
  /** Number of batches that wait for results. */
  readonly waiting: number;
  /** Number of tasks that were sent and have not begun. With threads, the number includes all workers. */
  readonly offered: number;
  /** Local id of the first of these tasks. */
  readonly firstOffered: number | undefined;
  /** Number of tasks that have begun since the run was opened. */
  readonly begun: number;
}

/** State of a host and its isolate. */
export interface HostDump {
  /** The task that the host last saw running. */
  readonly task: RunTask | undefined;
  /** Number of isolates so far. */
  readonly isolates: number;
  readonly runs: readonly RunDump[];
  readonly isolate: IsolateDump;
}

/** Whether the answer of a worker process is a host's dump. */
export function isHostDump(answer: unknown): answer is HostDump {
  return typeof answer === 'object' && answer !== null && 'isolate' in answer;
}

/** State of a worker process, from outside and from its answer. */
export interface ProcessDump {
  readonly state: 'starting' | 'connected' | 'disconnected';
  readonly sent: readonly MessageCount[];
  readonly received: readonly MessageCount[];
  /** Calls without an answer. */
  readonly calls: readonly CallDump[];
  /** States of the threads according to the system, e.g. `7 × S futex_wait_queue`. */
  readonly threads: readonly string[];
  /** The answer of the process, or why there is none. */
  readonly inside: HostDump | string;
}

/** An input of a batch that could not be gathered; see GatherInput. */
export interface MissingInput {
  readonly id: number;
  readonly from: number;
  readonly result: ResultId;
}

export interface StoredResult {
  readonly id: number;
  readonly nbytes: number;
}

/** Reports of a worker. They may be called from within calls of WorkerHost. */
export interface HostEvents {
  /** Called when the worker is up. */
  ready(facts: HostFacts): void;
  /** See RunHandler.finished. Results of kind STORED stay in the host. */
  finished(run: number, columns: CompletionColumns, values: ReadonlyMap<number, unknown>): void;
  fetched(run: number, values: Values, stored: readonly StoredResult[], missing: Int32Array): void;
  fetchFailed(run: number, id: number, error: ErrorInfo): void;
  stolen(run: number, ids: readonly number[]): void;
  /** Reports inputs that could not be gathered. The worker skips the tasks that need them. */
  gatherFailed(run: number, missing: readonly MissingInput[]): void;
  /** Reports a task that exceeded its time limit. `restarted` follows. */
  timedOut(task: RunTask, seconds: number): void;
  /**
   * Reports that a new isolate has replaced one that ended. Stored results remain. `running`: the task that ran, if
   * any. `isWanted`: the host has ended the isolate because of a cancelled task or a time limit.
   */
  restarted(running: RunTask | undefined, cause: Error, isWanted: boolean): void;
  /** Reports the task that a poll has found running, and its start on the isolate's clock; undefined: none. */
  running(task: RunTask | undefined, since: number): void;
  /** Reports a question of a task, and the number of its isolate, for the answer. */
  asked(question: TaskQuestion, isolate: number): void;
  /** Reports that the memory crossed the pause threshold. A paused worker receives no new tasks. */
  paused(paused: boolean): void;
  /**
   * Reports that the memory is full of results that cannot be spilled, so that the worker cannot take any task.
   * Repeated with `still` after some seconds without room. `why` is undefined when there is room again.
   */
  noteFull(why: Error | undefined, still: boolean): void;
  /** Reports an event that also becomes a warning of the process. */
  warning(topic: string, text: string): void;
  transfer(transfer: Transfer): void;
  interval(interval: WorkInterval): void;
  memory(sample: MemorySample): void;
  /** Reports changed metrics. They include all tasks that ended before `upTo` on the isolate's clock. */
  metrics(changes: MetricChanges, upTo: number): void;
  /** Reports a cycle of the statistical profiler. Tasks are given as ResultIds. */
  profile(cycle: ProfileCycle): void;
  /** @param task the task to which the event belongs. Default: none */
  event(topic: string, text: string, task?: Omit<RunTask, 'batch'>): void;
  /** Reports that the worker has ended and its results are lost. */
  lost(cause: Error): void;
}
