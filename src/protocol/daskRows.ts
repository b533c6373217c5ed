// What the bridge to a Dask cluster says: rows, each a list whose first element is its tag; python/longpole_dask writes them.
// Tasks are named by numbers and workers by indices that the bridge gives out once. Times are seconds since the epoch: on the
// scheduler's clock, but for those of a batch and the start and stop of an ended task, which `WorkerTimes` explains.
import type { MetricSample } from './clusterObserver.js';

/** Of the rows; python/longpole_dask/__init__.py has the same. */
export const DASK_PROTOCOL = 1;

/** The first row: the bridge is attached. */
export interface HelloRow {
  readonly type: 'hello';
  readonly protocol: number;
  readonly time: number;
  /** Machines with the same text have one clock; empty: not known. */
  readonly bootId: string;
  readonly facts: Readonly<Record<string, string>>;
}

export interface WorkerRow {
  readonly type: 'worker';
  readonly index: number;
  readonly address: string;
  readonly name: string;
  readonly host: string;
  readonly pid: number;
  readonly threads: number;
  /** Bytes; 0: no limit. */
  readonly memoryLimit: number;
  readonly time: number;
}

export interface WorkerGoneRow {
  readonly type: 'worker-gone';
  readonly index: number;
  readonly time: number;
  readonly reason: string;
}

/** The names of a span. Comes before the graphs that have it. */
export interface SpanRow {
  readonly type: 'span';
  readonly id: string;
  readonly tags: readonly string[];
}

/** Tasks that were submitted together; their numbers are `firstId`, `firstId + 1`, … */
export interface GraphRow {
  readonly type: 'graph';
  /** NaN: before the bridge was attached. */
  readonly submitted: number;
  /** Empty: the tasks came otherwise, e.g. as scattered data. */
  readonly client: string;
  readonly code: string;
  readonly firstId: number;
  readonly keys: readonly string[];
  readonly prefixes: readonly string[];
  readonly prefixOf: Int32Array;
  readonly functions: readonly string[];
  readonly functionOf: Int32Array;
  /** Ids of spans; empty: none. */
  readonly spans: readonly string[];
  readonly spanOf: Int32Array;
  /** How many of `dependencies` each task has. */
  readonly dependencyCounts: Int32Array;
  /** Numbers of tasks, of earlier or later graphs as well. */
  readonly dependencies: Float64Array;
  /** Places in `keys` of what is there already. */
  readonly given: Int32Array;
}

/** The last input of a task is there. */
export interface ReadyRow {
  readonly type: 'ready';
  readonly id: number;
  readonly time: number;
}

export interface SentRow {
  readonly type: 'sent';
  readonly id: number;
  /** NaN: before the bridge was attached. */
  readonly time: number;
  /** -1: not known. */
  readonly worker: number;
}

export interface StartStop {
  readonly action: string;
  readonly start: number;
  readonly stop: number;
}

/** What the worker's plugin knew when the task began. `delay` is what distributed adds to the worker's clock. */
export interface WorkerTimes {
  /** On the worker's clock; NaN: not known. */
  readonly received: number;
  /** In the times of startstops, but for those of transfers and of the disk: the latter have none. */
  readonly delay: number;
  /** By transfer among the startstops: bytes, and the delay in its times. */
  readonly transfers: readonly { readonly nbytes: number; readonly delay: number }[];
}

/** A run that gave a result or an error. */
export interface EndedRow {
  readonly type: 'ended';
  readonly id: number;
  readonly time: number;
  readonly erred: boolean;
  readonly worker: number;
  /** What the system calls it. */
  readonly thread: number;
  readonly nbytes: number;
  readonly resultType: string;
  readonly startstops: readonly StartStop[];
  /** Undefined: the plugin was not there yet. */
  readonly times: WorkerTimes | undefined;
}

export const LEFT_REASONS = ['lost', 'retried', 'cancelled'] as const;

/** A run that gave nothing. */
export interface LeftRow {
  readonly type: 'left';
  readonly id: number;
  readonly time: number;
  readonly why: (typeof LEFT_REASONS)[number];
}

/** The scheduler has forgotten the tasks. */
export interface ForgottenRow {
  readonly type: 'forgotten';
  readonly ids: Float64Array;
}

/** A heartbeat of a worker. */
export interface BeatRow {
  readonly type: 'beat';
  readonly worker: number;
  readonly time: number;
  /** Percent of a core. */
  readonly cpu: number;
  /** Seconds between two ticks of its event loop. */
  readonly tick: number;
  readonly figures: ReadonlyMap<string, number>;
  readonly process: number;
  readonly managed: number;
  readonly spilled: number;
  readonly tasks: number;
}

/** How all stands. */
export interface StatusRow {
  readonly type: 'status';
  readonly time: number;
  /** Dask's state → tasks. */
  readonly states: ReadonlyMap<string, number>;
  readonly workers: readonly {
    readonly index: number;
    readonly status: string;
    readonly processing: number;
    readonly occupancy: number;
  }[];
}

/** The machine that scheduler and workers share, since the last such row. There is none where they have several. */
export interface MachineRow {
  readonly type: 'machine';
  readonly time: number;
  readonly cores: number;
  /** Cores that were busy on average, that the scheduler and the workers kept busy, and the workers alone. */
  readonly busy: number;
  readonly used: number;
  readonly workers: number;
}

export interface EventRow {
  readonly type: 'event';
  readonly time: number;
  /** -1: the scheduler. */
  readonly worker: number;
  readonly topic: string;
  readonly text: string;
}

export interface Moved {
  readonly direction: 'incoming' | 'outgoing';
  /** Address of the other worker; of a client anything else. */
  readonly peer: string;
  readonly start: number;
  readonly stop: number;
  readonly nbytes: number;
  /** NaN: not known. */
  readonly compressed: number;
  readonly keys: readonly string[];
}

/** What a worker or a span adds to a sum; the span is an id, or empty. */
export type MetricChange = Omit<MetricSample, 'worker' | 'time'>;

/** A node of a call tree as distributed samples it: one per line of a function. */
export interface TreeNode {
  /** Place of the caller, which comes before; -1: the root, which is no function. */
  readonly parent: number;
  /** Samples, those of what it called included. */
  readonly count: number;
  readonly functionName: string;
  readonly file: string;
  readonly line: number;
}

export interface ProfiledCycle {
  /** When it ended. */
  readonly time: number;
  readonly prefix: string;
  readonly nodes: readonly TreeNode[];
}

/** What a worker collected since the last time. All times are its own clock's. */
export interface BatchRow {
  readonly type: 'batch';
  readonly address: string;
  readonly time: number;
  /** What distributed adds to this worker's clock now. */
  readonly delay: number;
  readonly bootId: string;
  /** Seconds between two samples of the profiler, and of a cycle. */
  readonly sampling: { readonly interval: number; readonly cycle: number };
  readonly moved: readonly Moved[];
  readonly metrics: readonly MetricChange[];
  readonly running: readonly { readonly key: string; readonly started: number }[];
  readonly profiles: readonly ProfiledCycle[];
  readonly logs: readonly { readonly time: number; readonly level: string; readonly text: string }[];
}

export interface WarningRow {
  readonly type: 'warning';
  readonly text: string;
}

export const REFUSALS = ['distributed', 'connect', 'versions', 'plugin'] as const;

/** Instead of a hello: the bridge cannot be. */
export interface RefusedRow {
  readonly type: 'refused';
  readonly code: (typeof REFUSALS)[number];
  readonly text: string;
}

/** The last row. `asked`: because the bridge was to end. */
export interface ClosedRow {
  readonly type: 'closed';
  readonly reason: string;
}

export type DaskRow =
  | HelloRow
  | WorkerRow
  | WorkerGoneRow
  | SpanRow
  | GraphRow
  | ReadyRow
  | SentRow
  | EndedRow
  | LeftRow
  | ForgottenRow
  | BeatRow
  | StatusRow
  | MachineRow
  | EventRow
  | BatchRow
  | WarningRow
  | RefusedRow
  | ClosedRow;
