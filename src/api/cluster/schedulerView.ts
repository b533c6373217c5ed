// What functions that run on the scheduler see of it, and `client.schedulerInfo()`.

import type { Spans } from '../../engine/metrics/spans.js';
import { occupancyOf } from '../../engine/scheduler/placement.js';
import { STATE_NAMES, type StateName } from '../../engine/scheduler/taskStates.js';
import type { MetricKey } from '../../protocol/metrics.js';
import type { Cluster } from './cluster.js';

export interface WorkerSummary {
  readonly name: string;
  readonly address: string;
  readonly pid: number;
  readonly host: string;
  readonly nthreads: number;
  /** Bytes; 0: no limit. */
  readonly memoryLimit: number;
  /** `paused`: its memory is full, and it takes no more tasks. */
  readonly status: 'starting' | 'running' | 'paused';
  /** Tasks that it has and has not finished. */
  readonly processing: number;
  /** Expected seconds of them. */
  readonly occupancy: number;
  /** Bytes; as of the last look at the worker. */
  readonly memory: {
    readonly process: number;
    readonly managed: number;
    readonly unmanaged: number;
    readonly spilled: number;
  };
  /** Seconds since the epoch. */
  readonly started: number;
}

export interface SchedulerInfo {
  readonly type: 'LocalCluster' | 'DaskCluster';
  readonly totalThreads: number;
  /** Bytes. */
  readonly totalMemory: number;
  /** State → count of tasks. */
  readonly tasks: Readonly<Record<StateName, number>>;
  /** By name. */
  readonly workers: Readonly<Record<string, WorkerSummary>>;
}

export interface SchedulerView {
  readonly info: SchedulerInfo;
  readonly workers: ReadonlyMap<string, WorkerSummary>;
  /** Keys that clients hold → state. */
  readonly tasks: ReadonlyMap<string, string>;
  /**
   * Fine performance metrics of all workers: `["execute", prefix, activity, unit]`, `["gather-dep", activity, unit]`, … → sum.
   *
   * @source Dask, `Scheduler.cumulative_worker_metrics`
   */
  readonly cumulativeWorkerMetrics: Iterable<[key: MetricKey, value: number]>;
  readonly spans: Spans;
  /** The transitions of a key that is held, oldest first. */
  story(
    key: string,
  ): readonly { readonly from: StateName; readonly to: StateName; readonly worker: number }[];
}

export function schedulerView(cluster: Cluster): SchedulerView {
  const { engine } = cluster;
  const { state } = engine.scheduler;
  const workers = new Map<string, WorkerSummary>();
  for (const worker of engine.workers.values()) {
    const known = state.workers.get(worker.info.index);
    const { process = 0, managed = 0, unmanaged = 0, spilled = 0 } = worker.memorySample ?? {};
    workers.set(worker.info.name, {
      name: worker.info.name,
      address: worker.address,
      pid: worker.info.pid,
      host: worker.info.host,
      nthreads: worker.info.threads,
      memoryLimit: worker.info.memoryLimit,
      status: worker.facts === undefined ? 'starting' : worker.isPaused ? 'paused' : 'running',
      processing: known?.outstanding ?? 0,
      occupancy: known === undefined ? 0 : occupancyOf(state, known),
      memory: { process, managed, unmanaged, spilled },
      started: worker.info.startTime,
    });
  }
  const counts: [StateName, number][] = STATE_NAMES.map((name, index) => [name, state.counts[index]!]);
  const tasks = new Map<string, string>();
  for (const [key, handle] of engine.results.byKey) tasks.set(key, handle.status);
  return {
    info: {
      type: cluster.kind,
      totalThreads: [...workers.values()].reduce((sum, { nthreads }) => sum + nthreads, 0),
      totalMemory: [...workers.values()].reduce((sum, { memoryLimit }) => sum + memoryLimit, 0),
      tasks: recordOf(counts),
      workers: Object.fromEntries(workers),
    },
    workers,
    tasks,
    cumulativeWorkerMetrics: cluster.measures.cumulativeWorkerMetrics,
    spans: cluster.measures.spans,
    story: (key) => {
      const handle = engine.results.byKey.get(key);
      return handle === undefined
        ? []
        : engine.scheduler.story(handle.computation.segment.base + handle.local);
    },
  };
}

function recordOf(counts: readonly (readonly [StateName, number])[]): Record<StateName, number> {
  const record: Record<StateName, number> = {
    released: 0,
    waiting: 0,
    queued: 0,
    processing: 0,
    memory: 0,
    erred: 0,
    forgotten: 0,
  };
  for (const [name, count] of counts) record[name] = count;
  return record;
}
