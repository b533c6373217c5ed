// Rows of a dashboard's status, for clusters, local schedulers and watched Dask clusters.
import { hostname } from 'node:os';
import type { EngineWorker } from '../engine/cluster/engineWorker.js';
import { occupancyOf } from '../engine/scheduler/placement.js';
import type { SchedulerState } from '../engine/scheduler/schedulerState.js';
import { type Computation, prefixOf, type WorkerInfo } from '../protocol/clusterObserver.js';
import type { RunningRow, WorkerRow } from '../protocol/viewMessages.js';

/** Facts about a worker that change. Bytes and numbers are 0 by default. */
type WorkerState = {
  readonly [K in Exclude<keyof WorkerRow, keyof WorkerInfo | 'started'>]?: WorkerRow[K] | undefined;
};

export function workerRow(info: WorkerInfo, state: WorkerState): WorkerRow {
  const { startTime: started, index, name, address, host, pid, threads, memoryLimit } = info;
  const { status = 'running', processing = 0, occupancy = 0 } = state;
  const { process = 0, managed = 0, unmanaged = 0, spilled = 0 } = state;
  const known = { index, name, address, host, pid, threads, memoryLimit, started };
  return { ...known, status, processing, occupancy, process, managed, unmanaged, spilled };
}

export function clusterWorkerRow(
  state: SchedulerState,
  { info, address, isPaused, memorySample }: EngineWorker,
): WorkerRow {
  const known = state.workers.get(info.index);
  return workerRow(
    { ...info, address },
    {
      ...memorySample,
      status: isPaused ? 'paused' : 'running',
      processing: known?.outstanding,
      occupancy: known && occupancyOf(state, known),
    },
  );
}

/** Returns the facts about this program for a dashboard. */
export function programFacts(workers: string): Readonly<Record<string, string>> {
  const platform = `${process.platform} ${process.arch}`;
  return { Host: hostname(), Platform: platform, Node: process.version, Workers: workers };
}

/** A task: its computation, and its id in the computation. */
export interface TaskOf {
  readonly info: Computation;
  readonly local: number;
}

export function idOf({ info, local }: TaskOf): number {
  return info.firstId + local;
}

export function prefixOfTask({ info, local }: TaskOf): string {
  return prefixOf(info, local);
}

/** Running tasks with the times at which a status first contained them, by worker. */
export class RunningTasks {
  readonly #clock: () => number;
  readonly #seen = new Map<number, { readonly id: number; readonly since: number }>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Returns the row of a worker's task. `started` is 0 if the start is unknown; the first status counts then. */
  row(worker: number, task: TaskOf, started = 0): RunningRow {
    const id = idOf(task);
    let seen = this.#seen.get(worker);
    if (seen?.id !== id) seen = { id, since: this.#clock() };
    this.#seen.set(worker, seen);
    const key = task.info.keys[task.local] ?? '';
    return { id, key, prefix: prefixOfTask(task), worker, started: started || seen.since };
  }
}
