// Finds what a trace says about tasks that had not ended when their client or cluster closed, or when the program ended.
import { checkArgument, TRACE } from '../base/arguments.js';
import { TASKS_CUT_OFF } from '../protocol/eventTopics.js';
import type { Trace } from '../trace/trace.js';

/**
 * Returns sentences about the tasks that had not ended; empty if there are none. Analyses of such a trace cover only the tasks
 * that ended, so lower limits and predictions of the run have no meaning.
 */
export function cutOffTexts(trace: Trace): string[] {
  checkArgument('cutOffTexts(): trace', trace, TRACE);
  const { events, strings } = trace;
  return Array.from(events.text, (text) => strings.get(text)).filter(
    (_text, row) => strings.get(events.topic[row]!) === TASKS_CUT_OFF,
  );
}
