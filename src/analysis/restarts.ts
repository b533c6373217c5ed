// Finds when threads of workers were replaced by new ones, while the worker and its results remained.
import { oncePer, pushTo } from '../base/lookUps.js';
import { WORKER_RESTARTED } from '../protocol/eventTopics.js';
import type { Trace } from '../trace/trace.js';

/** Returns the times of restarts by row of workers, in order. Computed once per trace. */
export const restartsOf = oncePer(({ events, strings }: Trace): ReadonlyMap<number, readonly number[]> => {
  const restarts = new Map<number, number[]>();
  for (let row = 0; row < events.length; row++)
    if (events.worker[row]! >= 0 && strings.get(events.topic[row]!) === WORKER_RESTARTED)
      pushTo(restarts, events.worker[row]!, events.time[row]!);
  for (const times of restarts.values()) times.sort((a, b) => a - b);
  return restarts;
});
