// Finds the work that was lost with workers: results that were computed again, and task runs that ended with their
// worker. A worker that leaves after it has handed over its results loses no work.
import { getOrMake } from '../base/lookUps.js';
import { TASK_LOST, TASK_MEMORY } from '../protocol/clusterObserver.js';
import type { Trace } from '../trace/trace.js';
import { lanesOf } from './lanes.js';

/** A lost worker with needed results or running tasks. */
export interface LostWorker {
  /** Row of workers. */
  readonly row: number;
  /** Time of the loss, seconds since the epoch. */
  readonly time: number;
  /** Rows of tasks that computed a result again that only this worker had held. */
  readonly again: number[];
  /** Rows of task runs that ended with the worker. */
  readonly cut: number[];
}

/**
 * Returns the lost workers in order of time; empty if nothing was computed again. A live trace has only the task runs
 * in its window. Cost: a walk over the tasks, and a second walk if a task ran twice.
 */
export function lostWorkers(trace: Trace): readonly LostWorker[] {
  const { id, attempt, length } = trace.tasks;
  if (!trace.workers.stopped.some((time) => !Number.isNaN(time))) return [];
  const ids = new Set<number>();
  for (let row = 0; row < length; row++) if (attempt[row]! > 1) ids.add(id[row]!);
  return ids.size === 0 ? [] : new LostWork(trace).find(ids);
}

class LostWork {
  readonly #trace: Trace;
  readonly #lost = new Map<number, LostWorker>();

  constructor(trace: Trace) {
    this.#trace = trace;
  }

  /** Returns the lost workers in order of time. `ids` are the ids of tasks that ran more than once. */
  find(ids: ReadonlySet<number>): readonly LostWorker[] {
    const { id, state, worker, length } = this.#trace.tasks;
    const { laneOf } = lanesOf(this.#trace);
    const before = new Map<number, number>();
    for (let row = 0; row < length; row++) {
      if (!ids.has(id[row]!)) continue;
      const last = before.get(id[row]!);
      before.set(id[row]!, row);
      if (last === undefined || laneOf[row]! < 0) continue;
      if (state[last] === TASK_LOST) this.#of(worker[last]!)?.cut.push(last);
      else if (state[last] === TASK_MEMORY && state[row] === TASK_MEMORY)
        this.#of(this.#holder(last, row))?.again.push(row);
    }
    return [...this.#lost.values()].sort((a, b) => a.time - b.time);
  }

  /** Returns the worker with which a result was lost: its maker, or else the last holder that left; -1 if none left. */
  #holder(made: number, again: number): number {
    const { workers, tasks } = this.#trace;
    const [from, to] = [tasks.stopped[made]!, tasks.started[again]!];
    const leftBetween = (worker: number): boolean =>
      workers.stopped[worker]! >= from && workers.stopped[worker]! <= to;
    const maker = tasks.worker[made]!;
    if (maker < 0 || leftBetween(maker)) return maker;
    let latest = -1;
    for (let worker = 0; worker < workers.length; worker++) {
      const isLater = latest < 0 || workers.stopped[worker]! > workers.stopped[latest]!;
      if (leftBetween(worker) && isLater) latest = worker;
    }
    return latest;
  }

  #of(row: number): LostWorker | undefined {
    // A worker that stays may lose a run, too, e.g. when its process restarts.
    const time = row < 0 ? Number.NaN : this.#trace.workers.stopped[row]!;
    if (Number.isNaN(time)) return undefined;
    return getOrMake(this.#lost, row, () => ({ row, time, again: [], cut: [] }));
  }
}
