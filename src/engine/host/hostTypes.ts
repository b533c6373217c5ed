// The two sides of a worker of a cluster: what the cluster asks of it (WorkerHost) and what it tells (HostEvents). The
// same for a worker that is a thread of this process and for one that is a process of its own, where both sides talk
// through messages.
import type { MemorySample, Transfer, WorkInterval } from '../../protocol/clusterObserver.js';
import type { CompletionColumns } from '../../protocol/completionLog.js';
import type { ErrorInfo } from '../../protocol/errorInfo.js';
import type { Frames, ResultId } from '../../protocol/frames.js';
import type { FunctionRef } from '../../protocol/functionRef.js';
import type { UncloneableValue, Values } from '../../protocol/isolateMessages.js';
import type { MetricChanges } from '../../protocol/metrics.js';
import type { ProfileCycle } from '../../protocol/profileCycle.js';
import type { WorkerLink, WorkerRun } from '../../protocol/workerMessages.js';
import type { IsolateDump } from '../pool/isolateDump.js';
import type { MessageCount } from '../pool/messageLog.js';
import type { CallDump } from '../pool/pendingCalls.js';

/** A computation, as a worker of either kind needs it. */
export interface HostRun extends WorkerRun {
  /** Shared by all threads of this process; a process of its own makes its own. */
  readonly shared: { readonly claims: Int32Array; readonly wanted: Uint8Array } | undefined;
}

/** A stored result that a batch needs, and where it is. */
export interface GatherInput {
  /** Local id in the run. */
  readonly id: number;
  readonly result: ResultId;
  readonly key: string;
  readonly nbytes: number;
  /** Worker that has it. */
  readonly from: number;
  readonly address: string;
}

export interface HostBatch {
  readonly batch: number;
  readonly ids: Int32Array;
  readonly publish: Uint8Array;
  readonly keep: Int32Array;
  readonly inputs: Values;
  readonly gather: readonly GatherInput[];
  readonly constants: Values;
  /** Constants that could not be copied to the worker's process, and inputs. */
  readonly uncloneable?: readonly UncloneableValue[];
  readonly uncloneableInputs?: readonly UncloneableValue[];
}

/** Facts about a worker, as functions that run there see them. */
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
  /** What its isolate says about itself, see VITALS_… of isolateMessages: the memory, or the file to which it is copied. */
  readonly vitals: Float64Array | string;
  /** Its ways to the others, as of the last heartbeat; undefined: none yet, or it is in this process and needs none. */
  readonly link?: WorkerLink | undefined;
  /** It gathers, runs a call, or its isolate starts or computes: tasks may wait for that. */
  readonly isOccupied: boolean;
  /** Of the process that the worker is, or is in. */
  readonly pid: number;
  open(run: HostRun): void;
  dispatch(run: number, batch: HostBatch): void;
  release(run: number, ids: Int32Array): void;
  /** Stored results that nobody needs any more. */
  drop(results: readonly ResultId[]): void;
  fetch(run: number, ids: Int32Array): void;
  steal(run: number, ids: Int32Array): void;
  /** Does not begin these tasks; one that runs and does not end within a moment takes its isolate along. */
  cancel(run: number, ids: Int32Array): void;
  close(run: number): void;
  /** Takes over stored results from another worker, or from the client; resolves with those that were not there. */
  take(gather: readonly GatherInput[], what: Transfer['what']): Promise<ResultId[]>;
  /** Stored results, for a client. Missing ones are left out. */
  give(results: readonly GatherInput[]): Promise<ReadonlyMap<ResultId, Frames>>;
  /** Tells what has been measured so far; resolves when it has, or when the isolate is in a long native call. */
  flush(): Promise<void>;
  /**
   * Calls a function in the worker's isolate with `{ worker }` and what else is in `context`. Without a context a call that the
   * isolate had not taken when a task took it along goes to the next isolate; what every isolate has to call, Installations
   * calls again.
   */
  call(fn: FunctionRef, context?: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** Where it stands, for the dump of a cluster. Never rejects. */
  dump(): Promise<HostDump | ProcessDump>;
  terminate(): Promise<void>;
}

/** A run as its host sees it, for the dump of a cluster. */
export interface RunDump {
  readonly run: number;
  /** The isolate knows the run. */
  readonly isOpen: boolean;
  /** Batches that wait for results. */
  readonly waiting: number;
  /** Tasks that the isolate has and has not begun, and the first of them by local id. In a cluster of threads: of all workers. */
  readonly offered: number;
  readonly firstOffered: number | undefined;
  /** Tasks that have begun since the run was opened. */
  readonly begun: number;
}

/** What a host says about itself and its isolate. */
export interface HostDump {
  /** What the isolate runs, as the host has seen it. */
  readonly task: RunTask | undefined;
  /** How many isolates it has had. */
  readonly isolates: number;
  readonly runs: readonly RunDump[];
  readonly isolate: IsolateDump;
}

/** Whether an answer of a worker process is what it says of itself. */
export function isHostDump(answer: unknown): answer is HostDump {
  return typeof answer === 'object' && answer !== null && 'isolate' in answer;
}

/** A worker process, as its cluster sees it from outside, and what it says about itself. */
export interface ProcessDump {
  readonly state: 'starting' | 'connected' | 'disconnected';
  readonly sent: readonly MessageCount[];
  readonly received: readonly MessageCount[];
  /** Calls that wait for an answer. */
  readonly calls: readonly CallDump[];
  /** Its threads as the system sees them, e.g. `7 × S futex_wait_queue`. */
  readonly threads: readonly string[];
  /** What it says of itself, or why it says nothing. */
  readonly inside: HostDump | string;
}

/** A task of a run. */
export interface RunTask {
  readonly run: number;
  readonly id: number;
}

/** A result that a batch needed; see GatherInput. */
export interface MissingInput {
  readonly id: number;
  readonly from: number;
  readonly result: ResultId;
}

export interface StoredResult {
  readonly id: number;
  readonly nbytes: number;
}

/** Calls may come from within calls of the host's own methods. */
export interface HostEvents {
  /** The worker is up. */
  ready(facts: HostFacts): void;
  /** See RunHandler.finished; results of kind STORED stay in the host. */
  finished(run: number, columns: CompletionColumns, values: ReadonlyMap<number, unknown>): void;
  fetched(run: number, values: Values, stored: readonly StoredResult[], missing: Int32Array): void;
  fetchFailed(run: number, id: number, error: ErrorInfo): void;
  stolen(run: number, ids: readonly number[]): void;
  /** Results were not where they should be. What needs them is skipped here. */
  gatherFailed(run: number, missing: readonly MissingInput[]): void;
  /** A task ran longer than it may. `restarted` follows. */
  timedOut(task: RunTask, seconds: number): void;
  /** The isolate ended and a new one takes its place; stored results are still there. `running` undefined: none. */
  restarted(running: RunTask | undefined, cause: Error): void;
  /** What the isolate runs now, as far as known, and since when, on the isolate's clock; undefined: nothing. */
  running(task: RunTask | undefined, since: number): void;
  /** Memory is full: send nothing more; or send again. */
  paused(paused: boolean): void;
  /**
   * Memory is full of results that cannot be spilled: send nothing at all. Said again after some seconds without room, with
   * `still`. Undefined: there is room.
   */
  noteFull(why: Error | undefined, still: boolean): void;
  /** An event that the user should hear of at once. */
  warning(topic: string, text: string): void;
  transfer(transfer: Transfer): void;
  interval(interval: WorkInterval): void;
  memory(sample: MemorySample): void;
  /** What has been measured since the last time, of all tasks that ended before `upTo` on the isolate's clock. */
  metrics(changes: MetricChanges, upTo: number): void;
  /** A cycle of the statistical profiler; its tasks are ResultIds. */
  profile(cycle: ProfileCycle): void;
  /** @param task the task that the event is about. Default: none */
  event(topic: string, text: string, task?: RunTask): void;
  /** The whole worker is gone, with its results. */
  lost(cause: Error): void;
}
