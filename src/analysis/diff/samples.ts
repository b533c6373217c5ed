// Computes the values by which runs are compared: seconds of groups of tasks, and samples of their variation inside a
// run.
import { addTo, getOrMake } from '../../base/lookUps.js';
import { sortedOrder } from '../../base/sortedOrder.js';
import { IMPORT_CONTEXT, NESTED_CONTEXT } from '../../protocol/metrics.js';
import type { Trace } from '../../trace/trace.js';
import { lanesOf, ran } from '../lanes.js';

/** The tasks of one prefix or span in one run. */
export interface GroupSamples {
  readonly count: number;
  /** Seconds of all tasks. */
  readonly seconds: number;
  /**
   * Mean seconds of a task in each section of consecutive tasks, at most 40 sections. Consecutive tasks slow down
   * together, so single tasks are not independent samples. Sections follow the order of the graph, so that those of two
   * runs of one program have the same tasks.
   */
  readonly means: Float64Array;
}

const MAX_STRETCHES = 40;
export const ALL_TASKS = '';

/** Returns the rows of tasks in the order in which the program created the tasks. */
export function graphOrder({ tasks }: Trace): Int32Array {
  return sortedOrder(tasks.id, false);
}

/**
 * Returns groups by name, for rows in the `order` of the graph, with the seconds of each row. Cost: two walks over the tasks.
 */
export function groupSamples(
  trace: Trace,
  by: 'prefix' | 'span' | 'all',
  order: Int32Array,
  secondsOf: (row: number) => number,
): Map<string, GroupSamples> {
  const { tasks, strings } = trace;
  const column = by === 'all' ? undefined : tasks[by];
  const sums = new Map<number, Stretches>();
  const { outer } = lanesOf(trace);
  // Slices inside of others are rows of their own prefixes, and count in all tasks with the outer ones.
  const counted = (row: number): number =>
    !ran(trace, row) || (by === 'all' && outer[row]! >= 0) ? Number.NaN : (column?.[row] ?? -1);
  for (let row = 0; row < tasks.length; row++) {
    const group = counted(row);
    if (Number.isNaN(group)) continue;
    getOrMake(sums, group, () => new Stretches()).count += 1;
  }
  for (const row of order) {
    const group = counted(row);
    if (!Number.isNaN(group)) sums.get(group)!.add(secondsOf(row));
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

/** Returns seconds by activity from fine performance metrics. Local schedulers have none. */
export function metricSeconds({ totals }: Trace): Map<string, number> {
  const seconds = new Map<string, number>();
  for (const { context, activity, unit, value } of totals.metrics)
    if (unit === 'seconds' && context !== IMPORT_CONTEXT && context !== NESTED_CONTEXT)
      addTo(seconds, activity, value);
  return seconds;
}

/** Returns seconds by activity, from fine performance metrics, or else from intervals other than computing. */
export function activitySeconds(trace: Trace): Map<string, number> {
  const seconds = metricSeconds(trace);
  if (seconds.size > 0) return seconds;
  for (const { action, seconds: took } of trace.totals.actions)
    if (action !== 'compute') seconds.set(action, took);
  return seconds;
}
