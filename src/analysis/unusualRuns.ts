// Counts the tasks and runs without a result, for the first figures of a page.
import { repeatedWords } from '../base/words.js';
import { TASK_CANCELLED, TASK_ERRED, TASK_LOST } from '../protocol/clusterObserver.js';
import type { Trace } from '../trace/trace.js';
import { skippedTasks } from './skippedTasks.js';
import { repeatedCount } from './submissionTimes.js';
import { failedTaskCount, lostRunCount } from './taskErrors.js';

/** A number of tasks or runs, and words that follow it, e.g. `failed`. */
export type UnusualRuns = readonly [count: number, words: string];

/**
 * Returns the numbers above 0. Only rows show which failed runs were repeated, and which runs were cancelled because another
 * task failed. On a page that lacks rows, e.g. because they arrive after the totals, the words cover both cases.
 */
export function unusualRuns(trace: Trace): readonly UnusualRuns[] {
  const { states } = trace.totals;
  const [erred, cancelled, lost] = [
    states[TASK_ERRED] ?? 0,
    states[TASK_CANCELLED] ?? 0,
    states[TASK_LOST] ?? 0,
  ];
  const repeated = repeatedCount(trace);
  const skipped = skippedTasks(trace);
  const hasRows = trace.tasks.length >= states.reduce((sum, count) => sum + count, 0);
  const all: readonly UnusualRuns[] = hasRows
    ? [
        [failedTaskCount(trace), 'failed'],
        [repeated, repeatedWords(repeated)],
        [cancelled - skipped.rows.size + skipped.cancelled, 'cancelled'],
        [lostRunCount(trace), 'lost'],
        [skipped.recorded + skipped.others, 'did not run'],
      ]
    : [
        [erred, erred === 1 ? 'run failed' : 'runs failed'],
        [cancelled + skipped.cancelled + skipped.others, 'were cancelled or did not run'],
        [lost, 'lost'],
      ];
  return all.filter(([count]) => count > 0);
}
