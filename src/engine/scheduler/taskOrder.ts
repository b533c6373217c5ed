// The order of the tasks of a graph whose tasks differ in priority.
import { countsOf } from '../../base/lookUps.js';

export interface TaskOrder {
  /** Task → priority. */
  readonly priorities: Float64Array;
  /** Task → place. The first place is that of the task that should run first. */
  readonly places: Int32Array;
  /** Place → task. */
  readonly tasks: Int32Array;
}

/** Returns the order by priority, highest first, then by id. Its cost is linear for a bounded number of priorities. */
export function orderByPriority(priorities: Float64Array): TaskOrder {
  const next = new Map<number, number>();
  let first = 0;
  for (const [priority, count] of [...countsOf(priorities)].sort(([a], [b]) => b - a)) {
    next.set(priority, first);
    first += count;
  }
  const places = new Int32Array(priorities.length);
  const tasks = new Int32Array(priorities.length);
  for (const [id, priority] of priorities.entries()) {
    const place = next.get(priority)!;
    next.set(priority, place + 1);
    places[id] = place;
    tasks[place] = id;
  }
  return { priorities, places, tasks };
}
