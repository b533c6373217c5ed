// What a run is compared by: seconds of groups of tasks, and samples that tell how much they vary within the run.
import { sortedOrder } from '../../base/sortedOrder.js';
import type { Trace } from '../../trace/trace.js';
import { lanesOf } from '../lanes.js';

/** The tasks of one prefix or span in one run. */
export interface GroupSamples {
  readonly count: number;
  /** Seconds that all of them computed. */
  readonly seconds: number;
  /**
   * Mean seconds of a task in each stretch of consecutive tasks, at most 40: tasks that follow each other slow down
   * together, so single ones would make differences look more certain than they are. In the order of the graph, so that
   * the stretches of two runs of one program hold the same tasks.
   */
  readonly means: Float64Array;
}

const MAX_STRETCHES = 40;
/** The group of all tasks. */
export const ALL_TASKS = '';

/** Rows of tasks in the order in which the program made the tasks. */
export function graphOrder({ tasks }: Trace): Int32Array {
  return sortedOrder(tasks.id, false);
}

/** Groups by name; `order` is that of the graph. Cost: two walks over the tasks. */
export function groupSamples(
  trace: Trace,
  by: 'prefix' | 'span' | 'all',
  order: Int32Array,
): Map<string, GroupSamples> {
  const { tasks, strings } = trace;
  const { duration } = tasks;
  const { laneOf } = lanesOf(trace);
  const column = by === 'all' ? undefined : tasks[by];
  const sums = new Map<number, Stretches>();
  const counted = (row: number): number => (laneOf[row]! < 0 ? Number.NaN : (column?.[row] ?? -1));
  for (let row = 0; row < tasks.length; row++) {
    const group = counted(row);
    if (Number.isNaN(group)) continue;
    const own = sums.get(group);
    if (own === undefined) sums.set(group, new Stretches());
    sums.get(group)!.count += 1;
  }
  for (const row of order) {
    const group = counted(row);
    if (!Number.isNaN(group)) sums.get(group)!.add(duration[row]!);
  }
  return new Map(
    Array.from(sums, ([id, stretches]) => [id < 0 ? ALL_TASKS : strings.get(id), stretches.samples()]),
  );
}

class Stretches {
  count = 0;
  #seconds = 0;
  #seen = 0;
  readonly #sums: number[] = [];
  readonly #counts: number[] = [];

  add(seconds: number): void {
    const stretch = Math.floor((this.#seen * Math.min(MAX_STRETCHES, this.count)) / this.count);
    this.#seen += 1;
    this.#seconds += seconds;
    this.#sums[stretch] = (this.#sums[stretch] ?? 0) + seconds;
    this.#counts[stretch] = (this.#counts[stretch] ?? 0) + 1;
  }

  samples(): GroupSamples {
    const means = Float64Array.from(this.#sums, (sum, i) => sum / this.#counts[i]!);
    return { count: this.count, seconds: this.#seconds, means };
  }
}

/** Seconds of activities that are no tasks' own code: fine performance metrics where there are some, else intervals. */
export function activitySeconds({ totals }: Trace): Map<string, number> {
  const seconds = new Map<string, number>();
  for (const { activity, unit, value } of totals.metrics)
    if (unit === 'seconds') seconds.set(activity, (seconds.get(activity) ?? 0) + value);
  if (seconds.size > 0) return seconds;
  for (const { action, seconds: took } of totals.actions) if (action !== 'compute') seconds.set(action, took);
  return seconds;
}
