// How long tasks took, as histograms by prefix: counts only, so that a task costs a few nanoseconds and a run of days
// no more memory than one of seconds.
import {
  type ClusterObserver,
  TASK_ERRED,
  TASK_MEMORY,
  type TaskRuns,
} from '../../protocol/clusterObserver.js';

/** Upper bounds of the buckets in seconds: three per decade from 10 µs to 1000 s; the last bucket has none. */
export const DURATION_BOUNDS: readonly number[] = [
  1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50,
  100, 200, 500, 1000,
];

export interface DurationHistogram {
  readonly prefix: string;
  readonly count: number;
  /** Seconds. */
  readonly sum: number;
  /** Tasks per bucket, one more than there are bounds. */
  readonly buckets: Float64Array;
}

/** Prefixes beyond it are counted as one. */
const MAX_PREFIXES = 2000;
const OTHERS = '(others)';

export class TaskDurations implements ClusterObserver {
  readonly #histograms = new Map<
    string,
    { prefix: string; count: number; sum: number; buckets: Float64Array }
  >();

  tasksEnded({ computation, count, ids, states, started, stopped }: TaskRuns): void {
    const { prefixes, prefixOf } = computation;
    let last = -1;
    let histogram = this.#of('');
    for (let index = 0; index < count; index++) {
      if (states[index] !== TASK_MEMORY && states[index] !== TASK_ERRED) continue;
      const seconds = stopped[index]! - started[index]!;
      if (Number.isNaN(seconds)) continue;
      const prefix = prefixOf[ids[index]!]!;
      if (prefix !== last) histogram = this.#of(prefixes[prefix] ?? '');
      last = prefix;
      histogram.count++;
      histogram.sum += seconds;
      histogram.buckets[bucketOf(seconds)]!++;
    }
  }

  /** One per prefix that has tasks. */
  get histograms(): DurationHistogram[] {
    return [...this.#histograms.values()].filter(({ count }) => count > 0);
  }

  #of(prefix: string): { prefix: string; count: number; sum: number; buckets: Float64Array } {
    let histogram = this.#histograms.get(prefix);
    if (histogram !== undefined) return histogram;
    if (this.#histograms.size >= MAX_PREFIXES && prefix !== OTHERS) return this.#of(OTHERS);
    histogram = { prefix, count: 0, sum: 0, buckets: new Float64Array(DURATION_BOUNDS.length + 1) };
    this.#histograms.set(prefix, histogram);
    return histogram;
  }
}

/** The first bucket whose bound is not below the value. */
function bucketOf(seconds: number): number {
  let low = 0;
  let high = DURATION_BOUNDS.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (DURATION_BOUNDS[middle]! < seconds) low = middle + 1;
    else high = middle;
  }
  return low;
}
