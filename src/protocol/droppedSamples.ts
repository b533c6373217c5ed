// Rows of metrics that count tasks without a run.
import { countsOf } from '../base/lookUps.js';
import { type DropReason, type MetricSample, TASK_SKIPPED } from './clusterObserver.js';
import { CANCELLED, DROPPED_CONTEXT, SKIPPED } from './metrics.js';

/**
 * Returns a row per prefix.
 *
 * @param prefixes prefix of each task
 * @param each 1; -1 for tasks that run after all
 */
export function droppedSamples(
  prefixes: readonly string[],
  why: DropReason,
  time: number,
  each = 1,
): MetricSample[] {
  const activity = why === TASK_SKIPPED ? SKIPPED : CANCELLED;
  const same = { time, worker: -1, context: DROPPED_CONTEXT, span: '', activity, unit: 'count' };
  return Array.from(countsOf(prefixes), ([prefix, number]) => ({ ...same, prefix, value: each * number }));
}
