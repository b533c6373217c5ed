import type { CompletionColumns } from '../protocol/completionLog.js';
import type { TasksFinished } from './scheduler/events.js';

/** Returns the scheduler's event for all rows of a report. */
export function finishedEvent(
  worker: number,
  { ids, kinds, count }: CompletionColumns,
  seconds: Float64Array | null,
): TasksFinished {
  return { type: 'tasks-finished', worker, ids, from: 0, to: count, kinds, seconds };
}
