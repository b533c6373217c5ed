// The interface between a cluster and a worker: WorkerHost has the cluster's calls, HostEvents the worker's reports. A
// worker that is a thread of this process implements it directly, a worker that is a process through messages.
import type { ProfileSettings, Transfer } from '../../protocol/clusterObserver.js';
import type { CompletionColumns } from '../../protocol/completionLog.js';
import type { FunctionRef } from '../../protocol/functionRef.js';
import type { Batch } from '../../protocol/isolateMessages.js';
import type { GatherInput, PackedResult, ResultId } from '../../protocol/packedResult.js';
import type {
  CallContext,
  ExecutingTask,
  MemoryThresholds,
  Methods,
  MissingInput,
  RunTask,
  TransferLogs,
  WorkerLink,
  WorkerOrders,
  WorkerReports,
  WorkerRun,
} from '../../protocol/workerMessages.js';
import type { WorkerDigests } from '../metrics/workerDigests.js';
import type { IsolateDump } from '../pool/isolateDump.js';
import type { StartThread } from '../pool/isolateThread.js';
import type { Store } from '../store/store.js';

/** Facts about a worker that functions on the worker receive. */
export interface HostFacts {
  readonly name: string;
  readonly address: string;
  readonly pid: number;
  readonly memoryLimit: number;
  readonly localDirectory: string;
  readonly nthreads: number;
}

export interface WorkerHost extends Methods<WorkerOrders> {
  readonly name: string;
  /** Vitals of the isolate (see VITALS of isolateMessages): shared memory, or the path of the file with a copy. */
  readonly vitals: Float64Array | string;
  /** Peer links reported by the last heartbeat. Undefined before the first one, and for workers in this process. */
  readonly link?: WorkerLink | undefined;
  /**
   * Whether the worker gathers results or runs a call, or its isolate starts or computes. Tasks may wait for these
   * activities.
   */
  readonly isOccupied: boolean;
  /** The task that the last poll has seen running. The cluster keeps no copy. */
  readonly running: ExecutingTask | undefined;
  /** Id of the worker's process. */
  readonly pid: number;
  /** Whether a task that was sent has begun. Only workers in this process have this method. */
  hasBegun?(run: number, id: number): boolean;
  open(run: WorkerRun): void;
  dispatch(batch: Batch): void;
  /**
   * Copies stored results from another worker or the client into this worker's store. Resolves with the missing ones.
   */
  take(gather: readonly GatherInput[], what: Transfer['what']): Promise<ResultId[]>;
  /**
   * Returns stored results to a client, without the missing ones.
   *
   * @throws (rejects) LongpoleError ERR_LONGPOLE_UNREACHABLE if the worker never answers on the network
   */
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
  /** Returns the state of the worker for a dump. Never rejects. */
  dump(): Promise<HostDump | ProcessDump>;
  terminate(): Promise<void>;
}

export interface RunDump {
  readonly run: number;
  /** Whether the run is open in the isolate. */
  readonly isOpen: boolean;
  /** Number of batches that wait for results. */
  readonly waiting: number;
  /** Number of tasks that were sent and have not begun. */
  readonly offered: number;
  /** Local id of the first of these tasks. */
  readonly firstOffered: number | undefined;
  /** Number of tasks that have begun since the run was opened. */
  readonly begun: number;
}

export interface HostDump {
  readonly task: ExecutingTask | undefined;
  /** Number of isolates so far. */
  readonly isolates: number;
  readonly runs: readonly RunDump[];
  readonly isolate: IsolateDump;
}

export function isHostDump(answer: unknown): answer is HostDump {
  return typeof answer === 'object' && answer !== null && 'isolate' in answer;
}

/** State of a worker process, from outside and from its answer. */
export interface ProcessDump extends Pick<IsolateDump, 'sent' | 'received' | 'calls'> {
  readonly state: 'starting' | 'connected' | 'disconnected';
  /** States of the threads according to the system, e.g. `7 × S futex_wait_queue`. */
  readonly threads: readonly string[];
  /** The answer of the process, or why there is none. */
  readonly inside: HostDump | string;
}

/** Reports of a worker. They may be called from within calls of WorkerHost. */
export interface HostEvents extends Methods<WorkerReports> {
  /** Called when the worker is up. */
  ready(facts: HostFacts): void;
  /** Reports a change of `WorkerHost.running` to another process. */
  running?(task: ExecutingTask | undefined): void;
  /** See RunHandler.finished. Results of kind STORED stay in the host. */
  finished(run: number, columns: CompletionColumns, values: ReadonlyMap<number, unknown>): void;
  /**
   * Reports that a new isolate has replaced one that ended. Stored results remain. `running`: the task that ran, if
   * any. `isWanted`: the host has ended the isolate because of a cancelled task or a time limit.
   */
  restarted(running: RunTask | undefined, cause: Error, isWanted: boolean): void;
  /**
   * Reports that the memory is full of results that cannot be spilled, so that the worker cannot take any task.
   * Repeated with `still` after some seconds without room. `why` is undefined when there is room again.
   */
  noteFull(why: Error | undefined, still: boolean): void;
  /** Reports that the worker has ended and its results are lost. */
  lost(cause: Error): void;
}

export interface WorkerSnapshot extends HostFacts, TransferLogs {
  /** Fine performance metrics: `["execute", span, prefix, activity, unit]` → value. */
  readonly digestsTotal: ReadonlyMap<readonly string[], number>;
  /** Memory in bytes. */
  readonly memory: { readonly managed: number; readonly spilled: number; readonly process: number };
}

export interface PeerAnswer {
  readonly results: ReadonlyMap<ResultId, PackedResult>;
  /** Results that the peers lack, or whose peer could not be reached. */
  readonly missing: readonly MissingInput[];
  readonly gathered: readonly Gathered[];
}

/** The inputs that one peer sent. Times are seconds since the epoch on the scheduler's clock. */
export interface Gathered {
  readonly inputs: readonly GatherInput[];
  readonly nbytes: number;
  readonly start: number;
  readonly stop: number;
}

/** Fetches results. Never rejects: results of an unreachable peer are missing. */
export type FetchFromPeers = (inputs: readonly GatherInput[], what: Transfer['what']) => Promise<PeerAnswer>;

export interface ThreadHostOptions {
  readonly facts: HostFacts;
  readonly epochOffsetMs: number;
  readonly store: Store;
  readonly fetch: FetchFromPeers;
  readonly transferLogs: () => TransferLogs;
  /** Index of the worker in samples. */
  readonly index: number;
  /** The cluster's clock, which a worker process estimates from heartbeats. */
  readonly clock: () => number;
  readonly thresholds: Partial<MemoryThresholds>;
  readonly digests: WorkerDigests;
  /** Undefined: the isolate is not profiled. */
  readonly profile: ProfileSettings | undefined;
  /**
   * Returns the bytes of the worker's process. Undefined if workers share a process; then the isolate's memory counts.
   */
  readonly processBytes: (() => number) | undefined;
  /** Ends the worker, because its memory stays above the limit. */
  readonly giveUp: (why: string) => void;
  /** Default: a thread of this process. */
  readonly startThread?: StartThread;
  /** Called when the worker has ended. */
  readonly closed?: () => void;
}
