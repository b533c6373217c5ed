// Finds what a trace says about tasks that had not ended when their client or cluster closed, or when the program ended.
import { checkArgument, TRACE } from '../base/arguments.js';
import { countsOf, oncePer } from '../base/lookUps.js';
import { countText } from '../base/words.js';
import { LOCAL_CLIENT } from '../protocol/clientNames.js';
import { TASKS_CUT_OFF } from '../protocol/eventTopics.js';
import { eventsOf, type Trace } from '../trace/trace.js';
import { skippedTasks } from './skippedTasks.js';

/** Sentences of which each is about other tasks. A service may have many computations when it ends. */
const MAX_TEXTS = 3;

/**
 * Returns sentences about the tasks that had not ended; empty if there are none. Equal ones are counted, and at most three differ.
 * Analyses of such a trace cover only the tasks
 * that ended, so lower limits and predictions of the run have no meaning.
 */
export function cutOffTexts(trace: Trace): string[] {
  checkArgument('cutOffTexts(): trace', trace, TRACE);
  const texts = Array.from(eventsOf(trace, TASKS_CUT_OFF), ({ text }) => text);
  // The recorder was ended, e.g. by SIGKILL, before it could say which tasks had not ended.
  return texts.length === 0 && trace.damage?.stretches === 0 ? unrecorded(trace) : counted(texts);
}

function counted(texts: readonly string[]): string[] {
  const counts = [...countsOf(texts)];
  const shown = counts
    .slice(0, MAX_TEXTS)
    .map(([text, count]) => (count > 1 ? `${count} times: ${text}` : text));
  const more = counts.slice(MAX_TEXTS).reduce((sum, [, count]) => sum + count, 0);
  return more === 0
    ? shown
    : [
        ...shown,
        `${countText(more, 'further event')} '${TASKS_CUT_OFF}' of the trace ${more === 1 ? 'names' : 'name'} more tasks.`,
      ];
}

/** A program on a cluster may have cancelled tasks that no worker had, so their number is known for local schedulers only. */
const unrecorded = oncePer((trace: Trace): string[] => {
  const { computations, tasks } = trace;
  if (computations.some(({ client }) => client !== LOCAL_CLIENT))
    return ['The recording has no end: tasks that had not ended are missing.'];
  const size = computations.reduce((sum, computation) => sum + computation.size, 0);
  const missing = size - new Set(tasks.id).size - skippedTasks(trace).others;
  return missing > 0 ? [`${countText(missing, 'task')} had not ended where the recording breaks off.`] : [];
});
