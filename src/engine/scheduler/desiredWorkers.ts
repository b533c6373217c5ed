// Estimates how many workers a cluster could use.
import { occupancyOf } from './placement.js';
import type { SchedulerState } from './schedulerState.js';

/** Seconds in which the present work should be done. */
const TARGET_SECONDS = 5;
/** Tasks of the queue that an estimate samples. */
const SAMPLE = 100;

/**
 * Returns the number of workers that would do the present work in five seconds, but at most one per task. Workers
 * that have tasks count in any case.
 *
 * @source Dask, `Scheduler.adaptive_target`
 */
export function desiredWorkers(state: SchedulerState): number {
  const { queued } = state;
  let looked = 0;
  let sampled = 0;
  for (const id of queued) {
    if (looked === SAMPLE) break;
    sampled += state.load(id);
    looked++;
  }
  let seconds = looked === 0 ? 0 : (sampled * queued.size) / looked;
  let tasks = queued.size;
  let busy = 0;
  for (const worker of state.workers.values()) {
    const own = worker.outstanding + worker.placedWork.count;
    seconds += occupancyOf(state, worker);
    tasks += own;
    if (own > 0) busy++;
  }
  return Math.max(busy, Math.min(tasks, Math.ceil(seconds / TARGET_SECONDS)));
}
