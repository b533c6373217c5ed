// What ended with workers that were lost: results that were computed again, and runs that were cut off. A worker that left
// after it had handed over its results cost nothing.
import { TASK_LOST, TASK_MEMORY } from '../protocol/clusterObserver.js';
import type { Trace } from '../trace/trace.js';
import { lanesOf } from './lanes.js';

/** A worker that was lost while other tasks needed what it had. */
export interface LostWorker {
  /** Of workers. */
  readonly row: number;
  /** When it was lost. */
  readonly time: number;
  /** Rows of tasks that made a result again that only this worker had held. */
  readonly again: number[];
  /** Rows of runs that ended with it. */
  readonly cut: number[];
}

/**
 * In the order in which they were lost; none where nothing was computed again. A live trace knows of runs in its window
 * only. Cost: a walk over the tasks, and another where a task ran twice.
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

  /** Of tasks that ran more than once. */
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

  /** The worker with which a result went: the one that had made it, or another that had got it; -1: it went otherwise. */
  #holder(made: number, again: number): number {
    const { workers, tasks } = this.#trace;
    const [from, to] = [tasks.stopped[made]!, tasks.started[again]!];
    const wentBetween = (worker: number): boolean =>
      workers.stopped[worker]! >= from && workers.stopped[worker]! <= to;
    const maker = tasks.worker[made]!;
    if (maker < 0 || wentBetween(maker)) return maker;
    let latest = -1;
    for (let worker = 0; worker < workers.length; worker++) {
      const isLater = latest < 0 || workers.stopped[worker]! > workers.stopped[latest]!;
      if (wentBetween(worker) && isLater) latest = worker;
    }
    return latest;
  }

  #of(row: number): LostWorker | undefined {
    // A run may be given up by a worker that stays, e.g. when its process is restarted.
    if (row < 0 || Number.isNaN(this.#trace.workers.stopped[row]!)) return undefined;
    let worker = this.#lost.get(row);
    if (worker === undefined) {
      worker = { row, time: this.#trace.workers.stopped[row]!, again: [], cut: [] };
      this.#lost.set(row, worker);
    }
    return worker;
  }
}
