// The progress of the prefixes of a recorded run, for the bars of the page Status.
import { TASK_CANCELLED, TASK_LOST } from '../../protocol/clusterObserver.js';
import { type Trace, textOf } from '../../trace/trace.js';

/** Runs of a prefix by their end. */
export interface RecordedProgress {
  readonly prefix: string;
  readonly total: number;
  readonly finished: number;
  readonly erred: number;
  /** Cancelled or lost with their worker: runs that gave no result. */
  readonly cancelled: number;
  readonly processing: 0;
  readonly seconds: number;
}

export function recordedProgress(trace: Trace): RecordedProgress[] {
  const without = runsWithoutResult(trace);
  return [...trace.totals.prefixes.values()].map(({ prefix, count, erred, seconds }) => {
    const cancelled = without.get(prefix) ?? 0;
    return {
      prefix,
      total: count,
      finished: count - erred - cancelled,
      erred,
      cancelled,
      processing: 0,
      seconds,
    };
  });
}

/** Returns the number of cancelled and lost runs by prefix. */
function runsWithoutResult({ tasks, strings, totals }: Trace): Map<string, number> {
  const counts = new Map<string, number>();
  if (totals.states[TASK_CANCELLED] === 0 && totals.states[TASK_LOST] === 0) return counts;
  for (const [row, state] of tasks.state.entries()) {
    if (state !== TASK_CANCELLED && state !== TASK_LOST) continue;
    const prefix = textOf(strings, tasks.prefix[row]!);
    counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
  }
  return counts;
}
