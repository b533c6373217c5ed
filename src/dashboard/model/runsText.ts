// The number of runs in words, for pages with a mark per run.
import { countText, integerText } from '../../base/words.js';
import type { Trace } from '../../trace/trace.js';

/** Returns e.g. `18 tasks`, or `20 runs of 18 tasks` if tasks ran again. */
export function runsText({ tasks }: Trace, rows: readonly number[]): string {
  const count = new Set(rows.map((row) => tasks.id[row])).size;
  const text = countText(count, 'task');
  return count === rows.length ? text : `${integerText(rows.length)} runs of ${text}`;
}
