import { addTo, largestOf, pushTo } from '../../base/lookUps.js';
import { percentText, secondsText } from '../../base/words.js';
import { coreUseOf } from '../coreUse.js';
import { cutOffTexts } from '../cutOff.js';
import { eachUse } from '../lanes.js';
import { awaitedObject, lockedSeconds, longestAwaited } from '../leaseWaits.js';
import { longestChain } from '../path/longestChain.js';
import { copiedSeconds } from '../programTransfers.js';
import { gapsBetween, merged, type Span, secondsOf } from '../spans.js';
import { submissionsOf } from '../submissionTimes.js';
import { unfinishedRuns } from '../unfinishedRuns.js';
import { firstSubmission, programTime } from './clientBound.js';
import { clientTransfers } from './clientTransfers.js';
import { blockedSeconds } from './eventLoopStarvation.js';
import { type Facts, MIN_COST, type Rule } from './finding.js';
import { cpuByPrefix, shareOfTime } from './noncpu.js';

/**
 * Share of the threads' time spent computing, below which threads count as idle. One busy thread of two is below it.
 */
const MAX_BUSY = 0.55;
/**
 * The same if tasks mostly waited for events, variables or queues. What they compute between these waits keeps threads busy, while others
 * wait for the chain.
 */
const MAX_BUSY_WAITING = 0.75;
/** Ratio of the longest chain to the time since the first task's start, from which more workers do not help. */
const MIN_CHAIN = 0.6;
/** Tasks per thread that must have ended if others were cut off, which may have kept the other threads busy. */
const MIN_ENDED = 2;
/** Share of the time of a chain's only task in which it awaits promises, from which the advice is about these waits. */
const MIN_AWAITED = 0.5;

/**
 * Most threads idled because the graph has too few tasks that can run at the same time, or the client did not submit
 * such tasks. The longest chain takes most of the time since the first task's start. The cost is the time by which the
 * same work, divided evenly among the threads, would have been shorter.
 */
export const lackOfParallelism: Rule = (facts) => {
  const { work, active, path } = facts;
  // A local scheduler starts a second thread only for a second task that is ready. Until then, cores idle instead.
  const { cores } = coreUseOf(facts.trace);
  const isAlone = facts.workers === 1 && cores > 1;
  const workers = isAlone ? cores : facts.workers;
  const busy = work / (workers * active);
  const floor = path.floor - beforeSubmission(facts);
  const awaited = longestAwaited(facts.trace);
  const most = awaited !== undefined && awaited.seconds >= MIN_CHAIN * active ? MAX_BUSY_WAITING : MAX_BUSY;
  if (workers < 2 || !(busy < most) || floor < MIN_CHAIN * active) return undefined;
  if (busy + unfinishedBusy(facts) / (workers * active) >= most) return undefined;
  // Where the program ended before its tasks, the trace does not have those that ran.
  if (cutOffTexts(facts.trace).length > 0 && facts.lanes.spans.rows.length < MIN_ENDED * workers)
    return undefined;
  // More tasks would wait for the lock, or for the program's thread, too.
  if (Math.max(lockedSeconds(facts.trace), copiedSeconds(facts.trace, path)) >= path.floor) return undefined;
  const useful = Math.max(1, Math.ceil(work / path.floor));
  const { name, awaiting } = computedMost(facts);
  const { laneOf } = facts.lanes;
  const seconds = facts.trace.tasks.duration.map((one, row) => (laneOf[row]! < 0 ? Number.NaN : one));
  const chain = longestChain(facts.trace, seconds);
  const isClient = chain < MIN_CHAIN * floor;
  // Tasks that submit others at once, e.g. in a recursion, do not wait for results. Their submissions take time.
  if (isClient && !submitsAfterResults(facts)) return undefined;
  const enough = isAlone
    ? ' Then more workers can run them.'
    : useful < workers
      ? ` ${facts.workersText(useful)} would take about as long.`
      : '';
  return {
    code: 'lack-of-parallelism',
    title: `${isClient ? 'The program submits tasks one after the other' : 'The graph has too few parallel tasks'}: on average, ${(work / active).toFixed(1)} of ${workers} ${isAlone ? 'cores run a task' : 'threads are busy'}`,
    seconds: floor - work / workers - (isClient ? clientSeconds(facts) : 0),
    confidence: 'high',
    text: isClient
      ? `The program waits for results${programTime(facts).seconds >= MIN_COST * facts.makespan ? ', or for something else,' : ''} before it submits more tasks, so more workers cannot make the run shorter than ${secondsText(path.floor)}. The longest chain of tasks computes for ${secondsText(chain)}.`
      : `The longest chain of tasks takes ${secondsText(path.floor)}, ${percentText(path.floor / facts.makespan)} of the run. More workers cannot make the run shorter than this chain.${awaiting === undefined ? awaitedText(facts, name) : ` For ${secondsText(awaiting.seconds)} of it, '${awaiting.name}' waits outside its slot, ${awaitedObject(facts.trace, awaiting.name, awaiting.seconds)?.replace(/^/, 'for ') ?? 'e.g. for a queue or an event'}, and mostly '${name}' runs.`}`,
    numbers: {
      floorSeconds: path.floor,
      chainSeconds: chain,
      workSeconds: work,
      workers,
      usefulWorkers: useful,
    },
    tasks: facts.pathTasks('compute'),
    question: 'critical-path',
    advice: isClient
      ? `Submit all independent tasks before you await the first result: use client.map or compute(a, b), or pass futures to the next step.${enough}`
      : `Shorten the chain, most of which is ${shorterBy(facts, name)}.${enough}`,
  };
};

/** Returns a sentence about the tasks that waited while the chain ran; empty without such tasks. */
function awaitedText({ trace, active }: Facts, chain: string): string {
  const { object, prefix, seconds } = longestAwaited(trace) ?? { object: '', prefix: chain, seconds: 0 };
  if (prefix === chain || seconds < MIN_CHAIN * active) return '';
  return ` Meanwhile, tasks of '${prefix}' wait ${secondsText(seconds)} for ${object}.`;
}

/**
 * Returns the seconds in which workers ran no task that ended, but had runs without result. When these ran is not
 * recorded. A thread of each worker counts.
 */
function unfinishedBusy({ trace, lanes }: Facts): number {
  const { worker, started } = trace.tasks;
  const spans = new Map<number, Span[]>();
  for (const run of unfinishedRuns(trace)) pushTo(spans, worker[run.row]!, run);
  let seconds = 0;
  for (const [row, runs] of spans) {
    const busy = Array.from(lanes.spans.rows.filter((other) => worker[other] === row)).map((other) => ({
      start: started[other]!,
      stop: lanes.stop[other]!,
    }));
    for (const { start, stop } of merged(runs)) seconds += secondsOf(gapsBetween(start, stop, busy));
  }
  return seconds;
}

/** Returns whether the program, or a task that submits tasks, had awaited a result before at least one submission. */
function submitsAfterResults({ trace }: Facts): boolean {
  const { cause, submitter } = submissionsOf(trace);
  return cause.some((row, submission) => row >= 0 && row !== submitter[submission]);
}

/** Returns the seconds from the first call to the first submission, which the longest chain includes. */
function beforeSubmission({ trace, path }: Facts): number {
  return Math.max(0, firstSubmission(trace) - path.start) || 0;
}

/**
 * Returns the seconds of the path in which the client transferred data, computed, also on the scheduler's thread, or waited for
 * runs without result. Other rules cover this time.
 */
function clientSeconds(facts: Facts): number {
  const carrying = clientTransfers(facts, 'gather').onPath + clientTransfers(facts, 'scatter').onPath;
  const { seconds, early } = programTime(facts);
  return carrying + seconds - early + blockedSeconds(facts) + facts.onPath('run without result');
}

/** Returns a name of the tasks that took most of the path, and what to do with them. */
function shorterBy(facts: Facts, name: string): string {
  if (facts.rowsOf(new Set([name])).length !== 1)
    return `'${name}': use smaller blocks, and combine results in a tree instead of a chain`;
  const time = cpuByPrefix(facts.trace).find(({ prefix }) => prefix === name);
  return time !== undefined && shareOfTime(time, time.awaited) >= MIN_AWAITED
    ? `the only task of '${name}', which mostly awaits promises: await several of them at a time (Promise.all), or split the task`
    : `the only task of '${name}': split it into tasks that can run at the same time`;
}

/**
 * Returns the prefix with the most computing time on the path. While a task that has left its slot awaits something else than
 * tasks that it submitted, e.g. an item of a queue, other tasks may make it wait: the path computes what they compute.
 */
function computedMost(facts: Facts) {
  const { trace, lanes } = facts;
  const { prefix, seceded } = trace.tasks;
  const sums = new Map<number, number>();
  const add = (row: number, seconds: number): void => {
    addTo(sums, prefix[row]!, seconds);
  };
  for (const { start, stop, row } of facts.parts('compute')) add(row, stop - start);
  const waits = [...facts.parts('awaiting')].filter(({ row }) => row >= 0 && !Number.isNaN(seceded[row]!));
  if (waits.length > 0) {
    const bins = facts.bins();
    for (const { start, stop } of waits) bins.add(start, stop);
    const awaited = bins.integral(bins.means());
    for (const row of lanes.spans.rows)
      eachUse(trace, row, (start, stop, share) => add(row, share * (awaited(stop) - awaited(start))));
  }
  const most = largestOf(sums);
  const seconds = secondsOf(waits);
  const [first] = waits.sort((a, b) => b.stop - b.start - (a.stop - a.start));
  const waiting = first === undefined ? -1 : prefix[first.row]!;
  return {
    name: facts.prefixName(most?.[0] ?? -1),
    awaiting: waiting < 0 || waiting === most?.[0] ? undefined : { name: facts.prefixName(waiting), seconds },
  };
}
