// Finds the work that was lost with workers: results that were computed again, and task runs that ended with their
// worker. A worker that leaves after it has handed over its results loses no work.
import { getOrMake, oncePer } from '../base/lookUps.js';
import { TASK_LOST, TASK_MEMORY } from '../protocol/clusterObserver.js';
import { WORKER_LOST } from '../protocol/eventTopics.js';
import { eventsOf, type Trace } from '../trace/trace.js';
import { lanesOf } from './lanes.js';
import { gapsBetween, type Span } from './spans.js';
import { previousRuns } from './submissionTimes.js';
import { lastEnds } from './workerLives.js';

/** Seconds after which the loss of a worker is noticed at the latest: Dask's default of `scheduler.worker-ttl`. */
const MAX_UNNOTICED = 300;

/** Largest number of seconds between the removal of a worker and the start of the one that replaces it, if others remain. */
const REPLACED = 1;

/** A lost worker with needed results or running tasks, or one that was replaced. */
export interface LostWorker {
  /** Row of workers. */
  readonly row: number;
  /**
   * Time of the loss, seconds since the epoch: when its first result was computed again, or when the worker was removed
   * if that was earlier.
   */
  time: number;
  /** Time at which the worker was removed. Until then, tasks may have waited for it. */
  readonly removed: number;
  /** Rows of tasks that computed a result again that only this worker had held. */
  readonly again: number[];
  /** Rows of task runs that ended with the worker. */
  readonly cut: number[];
}

/**
 * Returns the lost workers in order of time; empty if nothing was computed again and no worker was replaced. A live trace
 * has only the task runs in its window. Computed once per trace; cost: a walk over the tasks, and a second one if it is not empty.
 */
export const lostWorkers = oncePer((trace: Trace): readonly LostWorker[] => {
  if (!trace.workers.stopped.some((time) => !Number.isNaN(time))) return [];
  const replaced = replacedWorkers(trace).filter((row) => row >= 0);
  const hasMore = replaced.length > 0 || trace.tasks.attempt.some((number) => number > 1);
  return hasMore ? findLost(trace, replaced) : [];
});

/**
 * Returns by row of workers the lost worker that it replaced: one with the same name that was lost shortly before its
 * start, or since whose loss there was no worker; -1 if there is none. Computed once per trace.
 */
export const replacedWorkers = oncePer((trace: Trace): Int32Array => {
  const { workers } = trace;
  const replaced = new Int32Array(workers.length).fill(-1);
  const lost = reportedLosses(trace);
  const hadWorkers = (from: number, to: number): boolean =>
    workers.started.some(
      (start, row) => !(start >= to - REPLACED) && !(workers.stopped[row]! <= from + REPLACED),
    );
  const last = new Map<number, number>();
  for (let row = 0; row < workers.length; row++) {
    const before = last.get(workers.name[row]!) ?? -1;
    if (lost.has(before)) {
      const [from, to] = [workers.stopped[before]!, workers.started[row]!];
      if (Math.abs(to - from) <= REPLACED || (to > from && !hadWorkers(from, to))) replaced[row] = before;
    }
    last.set(workers.name[row]!, row);
  }
  return replaced;
});

/** A time in which no task ran, because the loss of a worker had not been noticed. */
export interface UnnoticedLoss extends Span {
  /** Row of workers. */
  readonly row: number;
}

/** Returns the times in which no task ran until the loss of a worker was noticed, in order. Computed once per trace. */
export const unnoticedLosses = oncePer((trace: Trace): readonly UnnoticedLoss[] => {
  const lost = lostWorkers(trace);
  if (lost.length === 0) return [];
  const { started, stopped } = trace.tasks;
  const ran = Array.from(lanesOf(trace).spans.rows, (row) => ({ start: started[row]!, stop: stopped[row]! }));
  return lost
    .flatMap(({ row, time, removed }) => gapsBetween(time, removed, ran).map((gap) => ({ ...gap, row })))
    .sort((a, b) => a.start - b.start);
});

/** Returns the lost workers in order of time. */
function findLost(trace: Trace, replaced: Int32Array): readonly LostWorker[] {
  const { state, worker, started } = trace.tasks;
  const { laneOf } = lanesOf(trace);
  const silent = silentFrom(trace);
  const lost = new Map<number, LostWorker>();
  const lostWorker = (row: number): LostWorker | undefined => {
    // A worker that stays may lose a run, too, e.g. when its process restarts.
    const removed = trace.workers.stopped[row] ?? Number.NaN;
    if (Number.isNaN(removed)) return undefined;
    return getOrMake(lost, row, () => ({ row, time: removed, removed, again: [], cut: [] }));
  };
  for (const row of replaced) lostWorker(row);
  for (const [row, last] of previousRuns(trace).entries()) {
    // The next run may have been lost, too.
    if (state[last] === TASK_LOST) lostWorker(worker[last]!)?.cut.push(last);
    else if (laneOf[row]! >= 0 && state[last] === TASK_MEMORY && state[row] === TASK_MEMORY) {
      const holder = lostWorker(holderOf(trace, silent, last, row));
      if (holder === undefined) continue;
      holder.again.push(row);
      holder.time = Math.min(holder.time, started[row]!);
    }
  }
  return [...lost.values()].sort((a, b) => a.time - b.time);
}

/**
 * Returns the worker with which a result was lost: its maker, or else the last holder that left; -1 if none left.
 *
 * @param silent see `silentFrom`
 */
function holderOf({ workers, tasks }: Trace, silent: Float64Array, made: number, again: number): number {
  const [from, to] = [tasks.stopped[made]!, tasks.started[again]!];
  const leftBetween = (worker: number): boolean =>
    workers.stopped[worker]! >= from && workers.stopped[worker]! <= to;
  const maker = tasks.worker[made]!;
  if (maker < 0 || leftBetween(maker)) return maker;
  if (silent[maker]! <= to && workers.stopped[maker]! - to <= MAX_UNNOTICED) return maker;
  let latest = -1;
  for (let worker = 0; worker < workers.length; worker++) {
    const isLater = latest < 0 || workers.stopped[worker]! > workers.stopped[latest]!;
    if (leftBetween(worker) && isLater) latest = worker;
  }
  return latest;
}

/**
 * Returns the end of the last task of each worker that was lost. Others may find that its results are unreachable, and
 * compute them again, before the worker is removed.
 */
function silentFrom(trace: Trace): Float64Array {
  const lost = reportedLosses(trace);
  return lastEnds(trace).map((end, row) =>
    lost.has(row) ? end || Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY,
  );
}

/** Returns the workers whose loss was reported, as rows of workers. */
function reportedLosses(trace: Trace): ReadonlySet<number> {
  return new Set(Array.from(eventsOf(trace, WORKER_LOST), ({ worker }) => worker));
}
