// Two rules about a time span in which tasks ran one after the other: at the end of the run, or before.

import { addTo, largestOf, sumOf } from '../../base/lookUps.js';
import { percentText, secondsText } from '../../base/words.js';
import { inputRows, workerName } from '../../trace/trace.js';
import { slowFirstRows } from '../firstCalls.js';
import { eachUse, taskBefore } from '../lanes.js';
import { contendedLock } from '../leaseWaits.js';
import { profilerSeconds } from '../profilerStarts.js';
import { stragglersOf } from '../stragglers.js';
import { readyTimes } from '../submissionTimes.js';
import { firstTasks } from '../workerLives.js';
import type { Facts, Found, Rule } from './finding.js';

/** Mean number of running tasks up to which a time span is serial. */
const SERIAL = 1.05;
/** Smallest share of the makespan that a serial span must take to be reported as a finding. */
const MIN_SHARE = 0.1;
/** Smallest share of busy threads outside the span; below it, the whole run is serial. */
const MIN_BUSY = 0.5;

/** Share of the span in which several tasks are ready, above which the tasks could have run at the same time. */
const MAX_QUEUED = 0.5;
/** Share of the span above which the title names a single prefix. */
const OWN_SHARE = 0.9;

/**
 * Returns undefined if one straggler or slow first call takes most of the span, because other findings report that, and if
 * several tasks were ready for most of it: then something else kept them from idle threads.
 */
function serialFinding(
  facts: Facts,
  code: 'serial-tail' | 'serial-stretch',
  start: number,
  stop: number,
): Found | undefined {
  const { makespan, workers, path, trace } = facts;
  const { prefix, coreWait, duration, seceded } = trace.tasks;
  const span = stop - start;
  if (facts.queuedBetween(start, stop, 2) > MAX_QUEUED) return undefined;
  const inside = (row: number): number => {
    let sum = 0;
    eachUse(trace, row, (from, to, share) => {
      sum += share * Math.max(0, Math.min(to, stop) - Math.max(from, start));
    });
    return sum;
  };
  // Waits for a core are a cost of other programs. When a task waited is not known.
  const withCore = (row: number): number => {
    const waited = coreWait[row]! / duration[row]!;
    return waited > 0 ? inside(row) * Math.max(0, 1 - waited) : inside(row);
  };
  const rows = Array.from(facts.lanes.spans.rows.filter((row) => inside(row) > 0)).sort(
    (a, b) => inside(b) - inside(a),
  );
  const [longest] = rows;
  if (longest === undefined) return undefined;
  const late = lateSeconds(facts, longest);
  if (span - late < MIN_SHARE * makespan) return undefined;
  // The threads may also wait for something else, such as the scheduler.
  const seconds = rows.reduce((sum, row) => sum + inside(row), 0);
  const explained = [...stragglersOf(trace).map(({ row }) => row), ...slowFirstRows(trace)];
  if (seconds < span / 2 || explained.some((row) => inside(row) > span / 2)) return undefined;
  const name = facts.prefixName(prefix[longest]!);
  const own = rows.filter((row) => prefix[row] === prefix[longest]);
  const isOwn = own.reduce((sum, row) => sum + inside(row), 0) > OWN_SHARE * seconds;
  const what = isOwn ? `only '${name}' runs` : 'tasks run one after the other';
  const idle = `${workers - 1} of ${workers} threads ${workers === 2 ? 'is' : 'are'} idle`;
  // At most one task holds a lock: 'lock-contention' reports that.
  if (isOwn && contendedLock(trace)?.byPrefix.has(name) && own.every((row) => seceded[row]! < stop))
    return undefined;
  const isTail = code === 'serial-tail';
  const why = causeOf(facts, rows, start, span);
  const when = isTail ? 'At the end,' : `After ${secondsText(start - path.start)},`;
  return {
    code,
    title: `${when} ${what} for ${secondsText(seconds)}, while ${idle}`,
    seconds: Math.max(0, rows.reduce((sum, row) => sum + withCore(row), 0) - late) * (1 - 1 / workers),
    confidence: 'high',
    text: `For ${isTail ? 'the last ' : ''}${percentText(span / makespan)} of the run, at most one task runs at a time, mostly '${name}'.${why?.text ?? ''}`,
    numbers: { serialSeconds: seconds, start, stop, makespan, workers, tasks: rows.length },
    tasks: facts.keys(rows),
    question: 'concurrency',
    advice: why?.advice ?? adviceOf(facts, name, own, start),
  };
}

function adviceOf(facts: Facts, name: string, rows: readonly number[], start: number): string {
  const isChain = dependOnEachOther(facts, rows);
  const tree = 'combine results in a tree instead of a chain';
  // Nothing can start earlier than the first task.
  if (chainFromStart(facts, rows[0]!) !== undefined || beganAtOnce(facts, rows, start))
    return `Split '${name}'${isChain ? `, or ${tree}` : ''}.`;
  if (!isChain && areRemainder(facts, rows, start))
    return `Divide the work of '${name}' into more and smaller tasks, e.g. a multiple of ${facts.workers}, so that all threads end at the same time.`;
  return `Split '${name}',${isChain ? ` ${tree},` : ''} or start ${hasInputs(facts, rows) ? 'the inputs of ' : ''}'${name}' earlier.`;
}

/** Returns true if these tasks need no others and began shortly after the first task. Other tasks may have begun later on their thread. */
function beganAtOnce(facts: Facts, rows: readonly number[], start: number): boolean {
  const { started } = facts.trace.tasks;
  const latest = facts.firstStart + MIN_SHARE * (start - facts.firstStart);
  return !hasInputs(facts, rows) && rows.every((row) => started[row]! <= latest);
}

/** Returns true if one of these tasks needs another one. */
export function dependOnEachOther({ trace: { tasks } }: Facts, rows: readonly number[]): boolean {
  const all = new Set(rows);
  return rows.some((row) => inputRows(tasks, row).some((needed) => all.has(needed)));
}

/** Returns true if all threads ran tasks of the same prefix before, so that these could not start earlier. */
function areRemainder({ trace, lanes }: Facts, rows: readonly number[], start: number): boolean {
  const { prefix } = trace.tasks;
  return Array.from({ length: lanes.count }, (_, lane) => taskBefore(trace, lane, start)).every(
    (row) => row >= 0 && prefix[row] === prefix[rows[0]!],
  );
}

/** Returns a sentence and the advice about the cause of the span if it is not the length of its tasks. */
function causeOf(
  facts: Facts,
  rows: readonly number[],
  start: number,
  span: number,
): { readonly text: string; readonly advice: string } | undefined {
  const [first] = rows;
  if (first === undefined) return undefined;
  const name = facts.prefixName(facts.trace.tasks.prefix[first]!);
  const worker = continuedOn(facts, rows, start);
  if (worker !== undefined)
    return {
      text: ` These tasks had begun on '${worker}' before, left their slots, e.g. to wait for an event or a queue, and could continue only there.`,
      advice: `Pass to '${name}' what it waits for as an argument, so that each task starts on an idle worker when its input is there.`,
    };
  const held = heldBack(facts, first, span);
  if (held === undefined) return undefined;
  return {
    text: ` Before, '${name}' was ready for ${secondsText(held.seconds)} while mostly '${held.behind}' ran.`,
    advice: `Start '${name}' before '${held.behind}', e.g. with a higher priority: { priority: 1 }. Or split '${name}'.`,
  };
}

function hasInputs({ trace: { tasks } }: Facts, rows: readonly number[]): boolean {
  return rows.some((row) => inputRows(tasks, row).length > 0);
}

/**
 * Returns the seconds by which the chain of tasks before and including `row` began later than the run, because the thread that ran
 * all of it began late, e.g. without a core. Returns 0 for other tasks.
 */
function lateSeconds(facts: Facts, row: number): number {
  const first = chainFromStart(facts, row);
  if (first === undefined) return 0;
  const { dispatched, started } = facts.trace.tasks;
  const ready = Math.max(facts.firstStart, dispatched[first]! || facts.firstStart);
  return Math.max(0, started[first]! - ready);
}

/** Returns the first task of the chain before and including `row`, if its thread ran nothing before; otherwise undefined. */
function chainFromStart({ trace: { tasks }, lanes }: Facts, row: number): number | undefined {
  const { rows } = lanes.spans;
  const first = lanes.offsets[lanes.laneOf[row]!]!;
  let at = rows.indexOf(row, first);
  while (at > first && inputRows(tasks, rows[at]!).includes(rows[at - 1]!)) at--;
  return at === first ? rows[first] : undefined;
}

/**
 * At most one task ran at a time in the last tenth of the run or longer. The cost is the part of this time that the
 * idle threads could have saved. If the tail is one straggler, 'stragglers' reports it.
 */
export const serialTail: Rule = (facts) => {
  const { makespan, workers, path } = facts;
  const tail = tailSeconds(facts) - profilerInTail(facts);
  if (workers < 2 || tail < MIN_SHARE * makespan || tail >= makespan) return undefined;
  const start = path.stop - tail;
  if (!(facts.firstStart < start)) return undefined;
  if (facts.runningBetween(facts.firstStart, start) < MIN_BUSY * workers) return undefined;
  return serialFinding(facts, 'serial-tail', start, path.stop);
};

/** Returns the seconds in which profilers started during the tail, which other threads could not have shortened. */
function profilerInTail(facts: Facts): number {
  const { trace, path } = facts;
  const from = path.stop - tailSeconds(facts);
  return sumOf(trace.workers.name.keys(), (worker) => profilerSeconds(trace, worker, from, path.stop));
}

/** Returns the seconds at the end of the run in which at most one task ran at a time. */
function tailSeconds({ running, makespan }: Facts): number {
  let bin = running.length;
  while (bin > 0 && running[bin - 1]! <= SERIAL) bin--;
  return ((running.length - bin) / running.length) * makespan;
}

/** Mean number of running tasks below which the run waits for something other than tasks. */
const NOTHING = 0.5;

/**
 * Tasks ran one after the other for a tenth of the run or longer, before its end, and no task was ready for the other
 * threads. All threads had run a task before. The cost is the part of this time that the idle threads could have saved.
 */
export const serialStretch: Rule = (facts) => {
  const { makespan, workers, path } = facts;
  if (workers < 2) return undefined;
  const found = longestStretch(facts);
  if (found === undefined) return undefined;
  const { start, stop } = found;
  const seconds = stop - start;
  if (seconds < MIN_SHARE * makespan || isAnyReady(facts, (start + stop) / 2)) return undefined;
  const before = facts.runningBetween(path.start, start) * (start - path.start);
  const after = facts.runningBetween(stop, path.stop) * (path.stop - stop);
  if (before + after < MIN_BUSY * workers * (facts.active - seconds)) return undefined;
  return serialFinding(facts, 'serial-stretch', start, stop);
};

/** Returns the longest serial span, in seconds, after every thread's first task and before the serial tail. */
function longestStretch(facts: Facts): { start: number; stop: number } | undefined {
  const { running, path, makespan } = facts;
  const seconds = makespan / running.length;
  const isSerial = (bin: number): boolean => running[bin]! <= SERIAL && running[bin]! > NOTHING;
  const end = Math.round(running.length - tailSeconds(facts) / seconds);
  let longest: { from: number; to: number } | undefined;
  let from = Math.ceil((allStarted(facts) - path.start) / seconds);
  while (from < end) {
    let to = from;
    while (to < end && isSerial(to)) to++;
    if (to > from && to - from > (longest === undefined ? 0 : longest.to - longest.from))
      longest = { from, to };
    from = to + 1;
  }
  return longest && { start: path.start + longest.from * seconds, stop: path.start + longest.to * seconds };
}

/** Returns the time at which every thread had started its first task. */
function allStarted({ trace }: Facts): number {
  return firstTasks(trace).reduce((last, time) => Math.max(last, time), Number.NEGATIVE_INFINITY);
}

/** Returns true if a task that had not started was ready at this time, with all its dependencies computed. */
function isAnyReady({ lanes, trace }: Facts, time: number): boolean {
  const { started, stopped } = trace.tasks;
  const ready = readyTimes(trace);
  const needsLater = (row: number): boolean =>
    inputRows(trace.tasks, row).some((needed) => needed >= 0 && stopped[needed]! > time);
  return lanes.spans.rows.some((row) => ready[row]! <= time && started[row]! > time && !needsLater(row));
}

/** Ratio of this wait to the serial time span that followed, from which an earlier start would have saved most of the span. */
const MIN_RATIO = 0.5;
/** Share of the work during this wait that tasks of one other prefix take. */
const MIN_BEHIND = 0.5;
/** Share of the tasks of a span that must have begun before it on one worker. */
const MIN_BEGUN = 0.9;
/** Most tasks of a chain that are visited. */
const MAX_CHAIN = 10_000;

/**
 * Returns for how long a task, or one of the tasks of its prefix that it follows, was ready while threads ran tasks of another
 * prefix (`behind`); undefined if it did not wait for these, or too short. Cost: a walk along the chain, and one over the tasks.
 *
 * @param span seconds in which only the chain ran
 */
function heldBack(facts: Facts, row: number, span: number) {
  const wait = longestWait(facts, row);
  if (wait.stop - wait.start < MIN_RATIO * span) return undefined;
  const { started, stopped, prefix } = facts.trace.tasks;
  const seconds = new Map<number, number>();
  let all = 0;
  for (const other of facts.lanes.spans.rows) {
    const inside = Math.min(stopped[other]!, wait.stop) - Math.max(started[other]!, wait.start);
    if (!(inside > 0)) continue;
    all += inside;
    addTo(seconds, prefix[other]!, inside);
  }
  const most = largestOf(seconds);
  if (most === undefined || most[0] === prefix[row] || most[1] < MIN_BEHIND * all) return undefined;
  return { seconds: wait.stop - wait.start, behind: facts.prefixName(most[0]) };
}

/** Returns the longest time for which a task of the chain before and including `last` was ready. */
function longestWait({ trace, firstStart }: Facts, last: number): { start: number; stop: number } {
  const { started, stopped, prefix } = trace.tasks;
  const ready = readyTimes(trace);
  let longest = { start: 0, stop: 0 };
  let row = last;
  for (let steps = 0; row >= 0 && steps < MAX_CHAIN; steps++) {
    const start = Math.max(ready[row]!, firstStart);
    if (started[row]! - start > longest.stop - longest.start) longest = { start, stop: started[row]! };
    let latest = -1;
    for (const one of inputRows(trace.tasks, row))
      if (one >= 0 && prefix[one] === prefix[last] && !(latest >= 0 && stopped[latest]! > stopped[one]!))
        latest = one;
    row = latest;
  }
  return longest;
}

/**
 * Returns the name of the worker on which nearly all of these tasks had begun and left their slots before `start`, e.g. to wait for
 * an event: they can continue nowhere else. Undefined if there is no such worker.
 */
function continuedOn({ trace }: Facts, rows: readonly number[], start: number): string | undefined {
  const { seceded, worker } = trace.tasks;
  const begun = rows.filter((row) => seceded[row]! < start && worker[row] === worker[rows[0]!]);
  if (rows.length < 2 || begun.length < MIN_BEGUN * rows.length || worker[rows[0]!]! < 0) return undefined;
  return workerName(trace, worker[rows[0]!]!);
}
