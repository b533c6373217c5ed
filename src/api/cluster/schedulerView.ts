// The view of the scheduler for `client.runOnScheduler()` and `client.schedulerInfo()`.
import { getOrMake, recordOf } from '../../base/lookUps.js';
import type { Spans } from '../../engine/metrics/spans.js';
import { STATE_NAMES, type StateName } from '../../engine/scheduler/taskStates.js';
import { DROPPED_CONTEXT, type MetricKey } from '../../protocol/metrics.js';
import type { LiveTotals } from '../../trace/totals.js';
import { clusterWorkerRow } from '../statusRows.js';
import type { Cluster } from './cluster.js';

export interface WorkerSummary {
  readonly name: string;
  readonly address: string;
  readonly pid: number;
  readonly host: string;
  readonly nthreads: number;
  /** Bytes; 0 for no limit. */
  readonly memoryLimit: number;
  /** `paused` while the worker's memory is full and it starts no tasks. */
  readonly status: 'starting' | 'running' | 'paused';
  /** Number of tasks that the worker has received and not finished. */
  readonly processing: number;
  /** Expected duration of these tasks in seconds. */
  readonly occupancy: number;
  /** Bytes at the last measurement of the worker. */
  readonly memory: Readonly<Record<'process' | 'managed' | 'unmanaged' | 'spilled', number>>;
  /** Start of the worker in seconds since the epoch. */
  readonly started: number;
}

export interface SchedulerInfo {
  readonly type: 'LocalCluster' | 'DaskCluster';
  readonly totalThreads: number;
  /** Sum of the memory limits in bytes. */
  readonly totalMemory: number;
  /** Number of tasks by state. */
  readonly tasks: Readonly<Record<StateName, number>>;
  /** Workers by name. */
  readonly workers: Readonly<Record<string, WorkerSummary>>;
}

export interface SchedulerView {
  readonly info: SchedulerInfo;
  readonly workers: ReadonlyMap<string, WorkerSummary>;
  /** States of the results that clients hold, by key. */
  readonly tasks: ReadonlyMap<string, string>;
  /**
   * Fine performance metrics of all workers: sums by `["execute", prefix, activity, unit]`, `["gather-dep", activity,
   * unit]`, …
   *
   * @source Dask, `Scheduler.cumulative_worker_metrics`
   */
  readonly cumulativeWorkerMetrics: Iterable<[key: MetricKey, value: number]>;
  readonly spans: Spans;
  /** Returns the transitions of the task with a key that a client holds, oldest first. */
  story(
    key: string,
  ): readonly { readonly from: StateName; readonly to: StateName; readonly worker: number }[];
}

export function schedulerView(cluster: Cluster): SchedulerView {
  const { engine } = cluster;
  const { state } = engine.scheduler;
  const workers = new Map<string, WorkerSummary>();
  for (const worker of engine.workers.values()) {
    const row = clusterWorkerRow(state, worker);
    const { name, address, pid, host, threads: nthreads, memoryLimit, processing, occupancy, started } = row;
    const status = worker.facts === undefined ? 'starting' : row.status;
    const { process, managed, unmanaged, spilled } = row;
    const memory = { process, managed, unmanaged, spilled };
    const known = { name, address, pid, host, nthreads, memoryLimit };
    workers.set(name, { ...known, status, processing, occupancy, memory, started });
  }
  const tasks = new Map<string, string>();
  for (const [key, handle] of engine.results.byKey) tasks.set(key, handle.status);
  return {
    info: {
      type: cluster.kind,
      totalThreads: [...workers.values()].reduce((sum, { nthreads }) => sum + nthreads, 0),
      totalMemory: [...workers.values()].reduce((sum, { memoryLimit }) => sum + memoryLimit, 0),
      tasks: recordOf(STATE_NAMES, (name) => state.counts[STATE_NAMES.indexOf(name)]!),
      workers: Object.fromEntries(workers),
    },
    workers,
    tasks,
    cumulativeWorkerMetrics: { [Symbol.iterator]: () => cumulativeMetrics(cluster.parts.measured.totals) },
    spans: cluster.parts.measures.spans,
    story: (key) => {
      const handle = engine.results.byKey.get(key);
      return handle === undefined
        ? []
        : engine.scheduler.story(handle.computation.segment.base + handle.local);
    },
  };
}

/** Returns the current sums over all spans and workers, without tasks that no worker had. */
function cumulativeMetrics({ metrics }: LiveTotals): IterableIterator<[key: MetricKey, value: number]> {
  const sums = new Map<string, [key: MetricKey, value: number]>();
  for (const { context, prefix, activity, unit, value } of metrics) {
    if (context === DROPPED_CONTEXT) continue;
    const key = context === 'execute' ? [context, prefix, activity, unit] : [context, activity, unit];
    getOrMake(sums, key.join('\0'), (): [MetricKey, number] => [key, 0])[1] += value;
  }
  return sums.values();
}
