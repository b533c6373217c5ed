// How many workers a cluster could use.
import { occupancyOf } from './placement.js';
import type { SchedulerState } from './schedulerState.js';

/** Within which the work that is there should be done, in seconds. */
const TARGET_SECONDS = 5;
/** Tasks of the queue that are looked at for an estimate. */
const SAMPLE = 100;

/**
 * Workers that would have the present work done in five seconds, but not more than there are tasks; those that have work count in
 * any case.
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
