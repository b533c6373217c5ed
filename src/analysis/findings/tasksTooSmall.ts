import { countsOf, largestOf } from '../../base/lookUps.js';
import { countText, integerText, percentText, secondsText } from '../../base/words.js';
import { textOf } from '../../trace/trace.js';
import { ownSeconds } from '../profilerStarts.js';
import { medianOverhead } from '../simulation/conditions.js';
import { merged, secondsOf } from '../spans.js';
import { pausesOf } from '../workerLives.js';
import { preparingSeconds } from './clientBound.js';
import { clientSpans } from './clientTransfers.js';
import { type Facts, type Found, MIN_COST, type Rule } from './finding.js';
import { keptShare } from './metricSeconds.js';
import { coreShare, hasCpuMetrics } from './noncpu.js';
import { schedulingSeconds } from './schedulerThread.js';
import { STALL, stallSeconds } from './stalls.js';

const MIN_TASKS = 100;
/** Ratio of the time between two tasks to the duration of a task, from which tasks are too small. */
const TOO_SMALL = 0.2;
/** Mean duration in seconds up to which waits for the scheduler count as a consequence of the size of tasks. */
const SMALL = 5e-3;
/** Seconds between two tasks that the engine alone does not need. */
const LONG = 1e-3;
/** Share of the tasks whose results must be objects. */
const MOST = 0.5;

/**
 * The time between two tasks is at least a fifth of their mean duration. The cost is the sum of these times, divided by
 * the number of threads that share them. The time passes between tasks on a thread, or between batches while the scheduler
 * handles many tasks. The time in which Longpole prepares the tasks for their submission is added.
 */
export const tasksTooSmall: Rule = (facts) => {
  const { tasks, work, workers, trace } = facts;
  // Threads wait for a core during tasks and between them.
  const share = coreShare(trace);
  const { rows } = facts.lanes.spans;
  const stalled = stallSeconds(facts, rows, STALL);
  const mean = (rows.reduce((sum, row) => sum + ownSeconds(trace, row), 0) - stalled) / tasks;
  // The median leaves out stalls of single tasks. Time to send arguments, to pack results, for disks and in pauses grows with the
  // data, so larger tasks would not reduce it.
  const ofData = argumentSeconds(facts) + resultSeconds(facts);
  const between = Math.max(0, share * medianOverhead(trace) - ofData / tasks);
  const overhead =
    mean <= SMALL ? Math.max(between, (schedulingSeconds(facts).usual * workers) / tasks) : between;
  const preparing = mean <= SMALL ? preparingSeconds(facts) : 0;
  const each = overhead + (preparing * workers) / tasks;
  if (tasks < MIN_TASKS || each < TOO_SMALL * (mean + meanWait(facts))) return undefined;
  const seconds = Math.min(facts.secondsOfRun(overhead * tasks) + preparing, facts.makespan - work / workers);
  const copies = unmeasuredCopies(facts, mean, overhead, seconds);
  if (copies !== undefined) return copies;
  let most = { prefix: '', count: 0 };
  for (const { prefix, count } of trace.totals.prefixes.values())
    if (count > most.count) most = { prefix, count };
  const turns = [...facts.parts('client time')].filter(({ start }) => start > facts.path.start).length;
  const isLoop = turns >= tasks / (2 * workers);
  const enough = Math.ceil((20 * each) / Math.max(mean, each / 10));
  // More would leave threads without a task.
  const together = Math.min(enough, Math.max(2, Math.ceil(tasks / workers)));
  return {
    code: 'tasks-too-small',
    title: `${countText(tasks, 'task')} of ${secondsText(mean)} are too small: ${secondsText(overhead)} pass between two tasks`,
    seconds,
    confidence: 'high',
    text: `${percentText(overhead / (overhead + mean))} of the threads' time passes between tasks. Most tasks are '${most.prefix}' (${integerText(most.count)}).${isLoop ? ` The program waited for results ${integerText(turns)} times before it submitted more tasks, and each time takes a round trip.` : ''}${preparing >= MIN_COST * facts.makespan ? ` Longpole took ${secondsText(preparing)} to prepare the tasks before it submitted them.` : ''}`,
    numbers: { tasks, meanSeconds: mean, overheadSeconds: overhead, preparingSeconds: preparing, workers },
    tasks: facts.keys(facts.lanes.spans.rows.subarray(0, 5)),
    question: 'time-by-prefix',
    advice: isLoop
      ? 'Do several steps in one task, submit all independent tasks before you await the first result, or pass futures to the next step.'
      : `Join about ${together} tasks into one, e.g. by larger blocks${together < enough ? '' : ', to bring the time between tasks below 5 %'}.`,
  };
};

/** Returns the mean seconds for which a task waited while others used its thread. Larger tasks would wait as long. */
function meanWait({ trace: { tasks } }: Facts): number {
  return tasks.waited.reduce((sum, seconds) => sum + (seconds || 0), 0) / Math.max(1, tasks.length);
}

/** Returns the seconds in which the program sent arguments, for all threads: one after the other, they wait for it. */
function argumentSeconds(facts: Facts): number {
  const spans = merged(clientSpans(facts, 'scatter'));
  return facts.workers * secondsOf(spans);
}

const OF_RESULTS: ReadonlySet<string> = new Set([
  'serialize',
  'deserialize',
  'compress',
  'decompress',
  'disk-read',
  'disk-write',
]);

/** Returns the seconds in which results were packed, unpacked, spilled and read back, and in which workers had paused. */
function resultSeconds({ trace, path }: Facts): number {
  let seconds = 0;
  for (const { action, seconds: taken } of trace.totals.actions) if (OF_RESULTS.has(action)) seconds += taken;
  let paused = 0;
  for (const [worker, pauses] of pausesOf(trace))
    for (const { start, stop } of pauses)
      paused += (Math.min(stop, path.stop) - start) * (trace.workers.threads[worker] ?? 1);
  return keptShare(trace) * seconds + paused;
}

/**
 * Explains a long time between tasks by their results. Local schedulers do not record the size of a result, nor the time
 * in which it is copied. Returns undefined if that is recorded, or if most results are numbers or strings.
 *
 * @param overhead seconds between two tasks of a thread, which cost `seconds` of the run
 */
function unmeasuredCopies(facts: Facts, mean: number, overhead: number, seconds: number): Found | undefined {
  const copied = overhead < LONG ? undefined : unmeasuredObjects(facts);
  if (copied === undefined) return undefined;
  return {
    code: 'serialization-bound',
    title: `${secondsText(overhead)} pass between two tasks of ${secondsText(mean)}, probably to copy their results`,
    seconds,
    confidence: 'medium',
    text: `${percentText(overhead / (overhead + mean))} of the threads' time passes between tasks. ${copied}`,
    numbers: { tasks: facts.tasks, meanSeconds: mean, overheadSeconds: overhead, workers: facts.workers },
    tasks: facts.keys(facts.lanes.spans.rows.subarray(0, 5)),
    question: 'time-by-prefix',
    advice:
      'If the results are large, return less data, or create and use them in one task. If they are small, join many tasks into one. A cluster, await connect(), measures what results cost.',
  };
}

/**
 * Returns sentences about results that may take long to copy; undefined if the trace has the times of copies, or if most
 * results are numbers or strings.
 */
export function unmeasuredObjects(facts: Facts): string | undefined {
  if (facts.isDask || hasCpuMetrics(facts.trace)) return undefined;
  const { count, type } = objects(facts);
  return count < MOST * facts.tasks
    ? undefined
    : `${percentText(count / facts.tasks)} of the results are objects, most of type ${type}. Local schedulers do not measure their size, nor copies of them to other workers that take less than 5 ms.`;
}

/** Returns the number of results that are objects, and the type that most of them have. */
function objects({ trace: { tasks, strings }, lanes }: Facts): { count: number; type: string } {
  const types = lanes.spans.rows
    .map((row) => tasks.resultType[row]!)
    // The types of other values begin with a small letter, e.g. `number`.
    .filter((type) => /^[A-Z]/.test(textOf(strings, type)));
  const [most] = largestOf(countsOf(types)) ?? [-1];
  return { count: types.length, type: textOf(strings, most) };
}
