// The findings about the time of the program itself, while and outside of its computations.
import { firstWhere, oncePer, sumOf } from '../../base/lookUps.js';
import { bytesText, countText, percentText, secondsText } from '../../base/words.js';
import { LOCAL_CLIENT } from '../../protocol/clientNames.js';
import { CLUSTER_RESTARTED } from '../../protocol/eventTopics.js';
import { eventsOf, type Trace } from '../../trace/trace.js';
import { preparingSpans } from '../preparingSpans.js';
import { clusterStarts, programTimes } from '../programTimes.js';
import { programTransfers } from '../programTransfers.js';
import { SchedulerCoreWaits } from '../schedulerCoreWaits.js';
import { gapsBetween, merged, overlapSeconds, type Span, secondsOf } from '../spans.js';
import { submissionsOf } from '../submissionTimes.js';
import { clientSpans } from './clientTransfers.js';
import { type Facts, type Found, MIN_COST, type Rule } from './finding.js';
import { sampledSeconds } from './schedulerThread.js';

/** Shorter parts, in seconds, are the normal delay between a result and the next submission. */
const MIN_PART = 1e-3;
/** The same before the first submission: the first calls load and compile what they need. */
const MIN_EARLY = 0.2;
/** Share of the pauses in which the program's thread did not compute, from which the advice is about what it waited for. */
const MOSTLY = 0.5;

/**
 * The program had all results that it awaited, and did something else before it submitted the next tasks. The cost is
 * this time on the critical path, without the transfers of the client in it.
 */
export const clientBound: Rule = (facts) => {
  const { seconds, early, inBursts, coreWait, longpole, pauses, rows, spans } = programTime(facts);
  if (!isCause(facts, seconds - coreWait - longpole, coreWait + longpole)) return undefined;
  const idle = seconds - new SchedulerCoreWaits(facts.trace).wanted(facts.path.start, facts.path.stop);
  const isIdle = idle >= MOSTLY * seconds;
  const restarting = restartSeconds(facts, spans);
  const starting = overlapSeconds(spans, clusterStarts(facts.trace));
  const restarted =
    restarting > 0
      ? ` For ${secondsText(restarting)} of it, the cluster was being restarted.`
      : starting > 0
        ? ` For ${secondsText(starting)} of it, the program waited for the start of another cluster.`
        : '';
  return {
    code: 'client-bound',
    title: `The run waited ${secondsText(seconds)} for the program to submit its next tasks`,
    seconds,
    confidence: 'medium',
    text: `In ${countText(pauses, 'pause')}, ${percentText(seconds / facts.makespan)} of the critical path, the program had not submitted the next task yet${isIdle ? `. For at least ${secondsText(idle)} of these pauses, the program's thread did not compute: it waited, e.g. for its input, a request or a timer.` : `${coreWaitText(seconds, coreWait)}.`}${restarted}`,
    numbers: {
      clientSeconds: seconds,
      coreWaitSeconds: coreWait,
      restartSeconds: restarting,
      startSeconds: starting,
      pauses,
    },
    tasks: facts.keys(rows),
    question: 'critical-path',
    advice:
      restarting >= MOSTLY * seconds
        ? 'Restart the workers less often. To free their memory, release the futures of results that are no longer needed.'
        : starting >= MOSTLY * seconds
          ? 'Start one cluster, and use it for all computations.'
          : early + inBursts >= MOSTLY * seconds
            ? 'Submitted tasks start when the program next awaits something. Await between the calls, e.g. setImmediate() of node:timers/promises, or do this work in tasks.'
            : isIdle
              ? 'Start what the program waits for earlier, or several of it at a time. Or let tasks read the input and send the requests.'
              : 'Submit the next step before you process the results of the previous one, or process results in tasks: pass futures instead of values.',
  };
};

export interface ProgramTime {
  readonly seconds: number;
  /** Part of `seconds` before the first submission. */
  readonly early: number;
  /** Part of `seconds` after the first submission, between calls of submit() that were submitted together. */
  readonly inBursts: number;
  /** Part of `seconds` in which the program's thread waited for a core. */
  readonly coreWait: number;
  /** Part of `seconds` in which Longpole used this thread, e.g. to record, according to samples. */
  readonly longpole: number;
  /** Submissions before which the run waited for the program. */
  readonly pauses: number;
  /** Rows of the tasks that followed these parts on the path. */
  readonly rows: ReadonlySet<number>;
  /** The time spans of `seconds`, in order. */
  readonly spans: readonly Span[];
}

/**
 * Returns the time on the critical path in which the run waited for the program itself. Before the first task's start, only
 * the time between calls of submit() counts.
 */
export const programTime = oncePer((facts: Facts): ProgramTime => {
  const moving = notOfProgram(facts);
  const { kind, start, stop, row, length } = facts.path.columns;
  const number = facts.kindNumber('client time');
  const waits = new SchedulerCoreWaits(facts.trace);
  const rows = new Set<number>();
  const spans: Span[] = [];
  const first = earlyGaps(facts, moving);
  const called = secondsOf(first);
  const early = called >= MIN_EARLY ? called : 0;
  let [seconds, coreWait, pauses] = [early, 0, early > 0 ? 1 : 0];
  if (early > 0) for (const gap of first) coreWait += waits.take(gap.start, gap.stop);
  coreWait = Math.min(coreWait, early);
  // No submission follows the last part.
  for (let part = 0; part + 1 < length; part++) {
    const from = Math.max(start[part]!, facts.firstStart);
    if (kind[part] !== number || !(stop[part]! > from)) continue;
    const gaps = gapsBetween(from, stop[part]!, moving);
    const own = secondsOf(gaps);
    if (own < MIN_PART) continue;
    seconds += own;
    spans.push(...gaps);
    for (const gap of gaps) coreWait += waits.take(gap.start, gap.stop);
    pauses += Math.max(1, submissionsBetween(facts, from, stop[part]!));
    if (row[part + 1]! >= 0) rows.add(row[part + 1]!);
  }
  const longpole = sampledSeconds(facts.trace, spans)?.longpole ?? 0;
  const inBursts = overlapSeconds(spans, burstsOf(facts.trace));
  return {
    ...{ seconds, early, inBursts, coreWait, pauses, rows, spans },
    longpole: Math.min(longpole, seconds - coreWait),
  };
});

/** Returns the program's own time in each burst of submissions, as a span from its first call, in order. */
function burstsOf({ computations }: Trace): readonly Span[] {
  return merged(
    computations
      .map(({ start, prepared = Number.NaN }) => ({ start, stop: prepared }))
      .filter(({ start, stop }) => stop > start),
  );
}

/**
 * Returns the spans before the first task's start in which the program called submit(), without transfers and `preparingSpans`.
 * Nothing if a trace does not have the time of Longpole in these calls.
 */
function earlyGaps({ trace, path, firstStart }: Facts, moving: readonly Span[]): readonly Span[] {
  const submitted = Math.min(firstSubmission(trace), firstStart);
  const isKnown = trace.computations.every(
    ({ client, start, prepared = Number.NaN }) =>
      client === LOCAL_CLIENT || !(start < submitted) || !Number.isNaN(prepared),
  );
  return isKnown ? gapsBetween(path.start, submitted, moving) : [];
}

/** Returns the times in which the client transferred data or Longpole prepared tasks. */
function notOfProgram(facts: Facts): readonly Span[] {
  return [...clientSpans(facts, 'gather'), ...clientSpans(facts, 'scatter'), ...preparingSpans(facts.trace)];
}

/** Returns the time of the first submission; NaN if none is recorded. */
export const firstSubmission = oncePer(({ tasks }: Trace): number =>
  // Times that are not recorded are NaN.
  tasks.submitted.reduce((first, time) => (time < first || Number.isNaN(first) ? time : first), Number.NaN),
);

/** Returns the seconds of the critical path with a core in which Longpole prepared tasks on the program's thread. */
export function preparingSeconds(facts: Facts): number {
  const waits = new SchedulerCoreWaits(facts.trace);
  let seconds = 0;
  for (const { start, stop } of facts.parts('client time'))
    for (const span of preparingSpans(facts.trace)) {
      const [from, to] = [Math.max(start, span.start), Math.min(stop, span.stop)];
      if (to > from) seconds += to - from - waits.take(from, to);
    }
  return seconds + programTime(facts).longpole;
}

/** Returns the seconds of these spans from each restart of a Dask cluster until its first new worker had joined. */
function restartSeconds({ trace }: Facts, spans: readonly Span[]): number {
  const restarts = Array.from(eventsOf(trace, CLUSTER_RESTARTED), ({ time: start }) => ({
    start,
    stop: Math.min(...trace.workers.started.filter((time) => time > start)),
  }));
  return overlapSeconds(spans, restarts);
}

/** Returns the number of submissions in a part of the path. A program that always has tasks in flight is one long part. */
function submissionsBetween({ trace }: Facts, from: number, to: number): number {
  const { time } = submissionsOf(trace);
  const after = (limit: number): number => firstWhere(0, time.length, (at) => time[at]! > limit);
  return after(to) - after(from);
}

/** Share of the time without a core, from which it is mentioned. */
const MUCH = 0.2;

/**
 * Returns whether the program is the cause of a wait in which it computed for some seconds, and waited for a core for
 * others: without the waits, it would still cost enough for a finding. On a busy machine the program waits for a core, and
 * the run for the program. But even a program that computes for a millisecond waits for a core.
 */
export function isCause({ makespan }: Facts, computed: number, coreWait: number): boolean {
  return computed > 0 && computed >= MIN_COST * (makespan - coreWait);
}

/** Returns the end of a sentence about some seconds of the program. */
export function coreWaitText(seconds: number, coreWait: number): string {
  return coreWait >= MUCH * seconds ? `, ${secondsText(coreWait)} of it without a core` : '';
}

/** Seconds up to which a time is not reported: Node, a compiler and modules take seconds to load on a busy machine. */
const MIN_OUTSIDE = 5;
/** Share of the time before the first computation that the start of clusters takes, from which this is its cause. */
const MIN_STARTING = 0.5;
/** Share of the time after the last task in which the program fetched results, from which this is its cause. */
const MIN_FETCHED = 0.5;

/**
 * The program ran longer before its first computation or after its last result than all of its computations took. The cost
 * is this time, in which no worker had a task.
 */
export function outsideComputations(facts: Facts): Found | undefined {
  const { trace, makespan } = facts;
  const times = programTimes(trace);
  if (times === undefined) return undefined;
  const { before, starting, after } = times;
  const seconds = Math.max(before, after);
  if (seconds < MIN_OUTSIDE || seconds < makespan) return undefined;
  const fetched = before > after ? 0 : fetchSeconds(facts, after);
  const isFetch = fetched >= MIN_FETCHED * seconds;
  const isStart = before > after && starting >= MIN_STARTING * before;
  const when = before > after ? 'before its first computation' : 'after its last result';
  return {
    code: 'outside-computations',
    title: `${isFetch ? `The program fetched ${bytesText(fetchedBytes(facts))} of results for ${secondsText(fetched)} after its last task` : isStart ? `The program waited ${secondsText(starting)} for the start of its cluster` : `The program ran for ${secondsText(seconds)} ${when}`}, and its computations took ${secondsText(makespan)}`,
    seconds,
    confidence: 'high',
    text: `The program ran for ${secondsText(before)} before its first computation${starting > 0 ? `, ${secondsText(starting)} of it until its cluster had started,` : ''} and for ${secondsText(after)} after its last result. The workers had no tasks meanwhile, and the other findings do not cover this time.`,
    numbers: {
      beforeSeconds: before,
      startSeconds: starting,
      afterSeconds: after,
      fetchSeconds: fetched,
      makespan,
    },
    tasks: [],
    question: 'critical-path',
    advice: isFetch
      ? 'Fetch less: reduce or store results in tasks, or return typed arrays, which are unpacked faster than objects and strings.'
      : isStart
        ? 'Start the cluster once for several computations, and do other work of the program while it starts. To connect to a Dask cluster, Python is started here and Node on each worker.'
        : 'Do this work in tasks, which all workers share, or while tasks run.',
  };
}

/** Returns the seconds after the last task, of `after`, in which the program fetched results. */
function fetchSeconds(facts: Facts, after: number): number {
  const { stop } = facts.path;
  return overlapSeconds([{ start: stop, stop: stop + after }], clientSpans(facts, 'gather'));
}

/** Returns the bytes of the results that the program received after the last task. */
function fetchedBytes({ trace, path }: Facts): number {
  const { stop, nbytes } = trace.transfers;
  return sumOf(programTransfers(trace, 'gather'), (row) => (stop[row]! > path.stop ? nbytes[row]! : 0));
}
