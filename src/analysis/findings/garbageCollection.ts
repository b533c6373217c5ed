import { largestOf, sumOf } from '../../base/lookUps.js';
import { countText, percentText, secondsText } from '../../base/words.js';
import { ACTIONS } from '../../protocol/clusterObserver.js';
import { GC_TIME } from '../../protocol/traceNames.js';
import type { Trace } from '../../trace/trace.js';
import { blockedSpans } from '../blockedSpans.js';
import { coreUseOf } from '../coreUse.js';
import { cutOffTexts } from '../cutOff.js';
import { lanesOf, overlapping } from '../lanes.js';
import { programStops } from '../programStops.js';
import { gapsBetween, merged, overlapSeconds, type Span } from '../spans.js';
import { lastEnds, pausesOf } from '../workerLives.js';
import type { Facts, Rule } from './finding.js';
import { metricSeconds } from './metricSeconds.js';

/** Share of the time of tasks, from which garbage collection is a finding. */
const MIN_SHARE = 0.15;

/** Share of the threads' time spent on tasks, from which the collections of an isolate are those of its tasks. */
const MIN_BUSY = 0.5;

/** Share of a stop of the program from which an increase contains the stop, which is known to a few samples. */
const STOPPED = 0.9;

/**
 * Garbage collection took at least 15 % of the time of tasks. The cost is this time, divided by the mean concurrency, without the
 * share of waits for a core that tasks had.
 */
export const garbageCollection: Rule = (facts) => {
  const [ran, stopped] = gcWhileTasksRan(facts);
  const measured = Math.max(ran, metricSeconds(facts.trace, 'gc').total - stopped);
  // Local schedulers do not measure their tasks.
  const total = measured > 0 ? measured : gcOfWorkers(facts);
  const share = total / facts.work;
  if (!(share >= MIN_SHARE)) return undefined;
  const { byPrefix } = metricSeconds(facts.trace, 'gc');
  const [worst] = largestOf(byPrefix) ?? [];
  const where = worst === undefined ? '' : `, most of it in '${worst}'`;
  const stops = stopsOf(facts);
  const onPath = sumOf(facts.parts('gc'), (part) => {
    const { start, stop, row } = part;
    return stop - start - overlapSeconds([part], stops(facts.trace.tasks.worker[row]!));
  });
  const beside =
    onPath > total
      ? ` With collections between tasks, e.g. while results are packed, the critical path contains ${secondsText(onPath)}.`
      : '';
  return {
    code: 'garbage-collection',
    // The collections of local workers also include those between tasks.
    title: `Garbage collection takes ${share > 1 ? `${secondsText(total)}, longer than the tasks` : `${percentText(share)} of the time of tasks`}`,
    seconds: Math.max(onPath, facts.secondsOfRun(total)) * (1 - coreUseOf(facts.trace).lost),
    confidence: 'high',
    text: `Garbage collection took ${secondsText(total)} on ${countText(facts.workers, 'thread')}${where}.${beside}`,
    numbers: { gcSeconds: total, workSeconds: facts.work, workers: facts.workers },
    tasks: facts.pathTasks('gc'),
    question: 'time-by-action',
    // A heap that is nearly full is collected again and again.
    advice:
      pausesOf(facts.trace).size > 0
        ? 'Memory was short, and is collected more often then. Look for what tasks keep when they end, e.g. in variables of their module or in a cache. Or raise the memory limit.'
        : 'Create fewer short-lived objects: use typed arrays instead of arrays of objects, and reuse buffers. Or give isolates a larger heap.',
  };
};

/**
 * Returns the seconds of collections that the samples of the workers show. The last ones before the end of the run may lack. 0
 * if threads were idle for most of the run, because these collections may have been outside of tasks, e.g. when arguments arrived. A
 * task that had not ended has no seconds, so collections after the last task of a worker that ended do not count either.
 */
export function gcOfWorkers({ trace, work, workers, active }: Facts): number {
  if (work < MIN_BUSY * workers * active) return 0;
  const { length, worker, time, figures } = trace.resources;
  const seconds = figures.get(GC_TIME);
  if (seconds === undefined) return 0;
  const ended = cutOffTexts(trace).length > 0 ? lastEnds(trace) : [];
  const stops = programStops(trace);
  const latest = new Map<number, number>();
  let stopped = 0;
  for (let row = 0; row < length; row++) {
    const known = latest.get(worker[row]!) ?? 0;
    if (worker[row]! < 0 || time[row]! > ended[worker[row]!]! || !(seconds[row]! > known)) continue;
    latest.set(worker[row]!, seconds[row]!);
    // A collection that contains a stop is counted at once, after the stop.
    const [stop] = stops.filter((span) => span.stop <= time[row]!).slice(-1);
    const pause = stop === undefined ? 0 : stop.stop - stop.start;
    if (seconds[row]! - known >= STOPPED * pause) stopped += pause;
  }
  return [...latest.values()].reduce((sum, of) => sum + of, -stopped);
}

/** Returns a function from a worker to the times in which it or the program did not run. */
function stopsOf({ trace, isDask }: Facts): (worker: number) => readonly Span[] {
  const stops = programStops(trace);
  const blocked = isDask ? [] : blockedSpans(trace);
  return (worker) => merged([...stops, ...blocked.filter((span) => span.worker === worker)]);
}

/**
 * Returns the seconds of collections during tasks, and the seconds during tasks in which a collection waited because the program
 * or its worker was stopped. Collections on an idle or starting worker delay no task.
 */
function gcWhileTasksRan(facts: Facts): readonly [ran: number, stopped: number] {
  const { trace } = facts;
  const gc = ACTIONS.indexOf('gc');
  const { length, action, worker, start, stop } = trace.intervals;
  const lanes = lanesOf(trace);
  const stops = stopsOf(facts);
  let [ran, all] = [0, 0];
  for (let row = 0; row < length; row++) {
    if (action[row] !== gc) continue;
    const parts = gapsBetween(start[row]!, stop[row]!, stops(worker[row]!));
    for (let lane = 0; lane < lanes.count; lane++) {
      if (lanes.worker[lane] !== worker[row]) continue;
      all += covered(trace, lane, { start: start[row]!, stop: stop[row]! });
      for (const part of parts) ran += covered(trace, lane, part);
    }
  }
  return [ran, all - ran];
}

/** Returns the seconds of a span in which a task of the lane ran. Cost: a binary search, and a step per task there. */
function covered(trace: Trace, lane: number, span: Span): number {
  const { started: start } = trace.tasks;
  const { spans, offsets, stop } = lanesOf(trace);
  const rows = overlapping(spans, offsets, lane, { start, stop }, span.start, span.stop);
  return overlapSeconds(
    [span],
    rows.map((row) => ({ start: start[row]!, stop: stop[row]! })),
  );
}
