// Finds tasks that took far longer than other tasks of their prefix, and what was different about them.

import { countedOffsets, groupedRows } from '../base/groups.js';
import { oncePer, sumOf } from '../base/lookUps.js';
import { bytesText, integerText, secondsText } from '../base/words.js';
import { ACTIONS } from '../protocol/clusterObserver.js';
import { inputRows, type Trace } from '../trace/trace.js';
import { COLD_SECONDS, firstRuns, slowFirstRows } from './firstCalls.js';
import { eachUse, lanesOf, overlapping, ran } from './lanes.js';
import { profilerSeconds } from './profilerStarts.js';
import { evenly, type Middle, median, middleOf } from './statistics.js';
import { rowColumns, Table } from './table.js';
import { awaitedSeconds, workIntervalsOf } from './workIntervals.js';

/** A task that took far longer than the median of its prefix. */
export interface Straggler {
  /** Row of tasks. */
  readonly row: number;
  /** Duration without the start of the thread's profiler, seconds. */
  readonly seconds: number;
  /** Median duration of the prefix, seconds. */
  readonly median: number;
  /** Bytes of all inputs; NaN if unknown. */
  readonly bytesIn: number;
  /** Median of the bytes of inputs of the prefix; NaN if most are unknown. */
  readonly medianBytesIn: number;
  /** Seconds of transfers for the task. */
  readonly transfer: number;
  /** Seconds of disk intervals for the task. */
  readonly disk: number;
  /** Seconds of garbage collection on the worker during the task, as far as the task used its thread then. */
  readonly gc: number;
  /** Seconds in which the task awaited a promise while its thread was idle. */
  readonly awaited: number;
  /** Seconds in which the thread waited for a core; 0 if unknown. */
  readonly coreWait: number;
  /** True if the worker had ended no task of the prefix before. */
  readonly isFirst: boolean;
  /** True if it was so for other tasks that took no longer than usual, so that this does not explain much. */
  readonly othersWereFirst: boolean;
  /** Usual seconds of the prefix without waits for a core. */
  readonly alone: Middle;
  /** Possible causes, e.g. `3.1 times the input`; empty if the trace shows none. */
  readonly why: string;
}

/** The cause of a straggler without another one. */
export const FIRST_RUN = 'its worker had not run the function before';

/** Smallest distance of a straggler from the median, in deviations. */
const SPREADS = 6;
/** Smallest ratio of a straggler to the median. */
const TIMES = 2;
/** Minimum number of tasks of a prefix for a meaningful median. */
const MIN_TASKS = 5;
/** Minimum number of seconds above the median. The system may take away a core for a few time slices in any task. */
const MIN_EXCESS = 10e-3;

/**
 * Returns the stragglers of a trace, those that lost most time first. First calls that are slow on all workers have their
 * own finding. Cost: a walk, and two medians per prefix.
 */
export const stragglersOf = oncePer((trace: Trace): readonly Straggler[] => {
  const { prefix, duration } = trace.tasks;
  const isFirst = firstRuns(trace);
  const slowFirst = slowFirstRows(trace);
  const { outer } = lanesOf(trace);
  const groupOf = prefix.slice();
  // A slice inside of another one is a part of it.
  for (let row = 0; row < groupOf.length; row++)
    if (!ran(trace, row) || slowFirst.has(row) || outer[row]! >= 0) groupOf[row] = -1;
  const offsets = countedOffsets(groupOf, trace.strings.length);
  const rows = groupedRows(groupOf, offsets);
  const slowOf: SlowMembers[] = [];
  for (let id = 0; id < trace.strings.length; id++) {
    const members = rows.subarray(offsets[id]!, offsets[id + 1]!);
    if (members.length < MIN_TASKS) continue;
    const middle = middleOf(Float64Array.from(evenly(members), (row) => duration[row]!));
    const warm = (row: number): number => ownSeconds(trace, row) - (isFirst[row]! > 0 ? COLD_SECONDS : 0);
    let slow = farRows(members, warm, middle);
    // On a busy machine, many tasks are preempted. The median of the others is a usual duration all the same.
    if (areMany(slow, members))
      slow = farRows(slow, (row) => warm(row) - (trace.tasks.coreWait[row]! || 0), middle);
    slow = endedLate(trace, slow, members, isFirst);
    if (slow.length > 0 && !areMany(slow, members)) slowOf.push({ slow, members, middle });
  }
  if (slowOf.length === 0) return [];
  const own = ownWork(
    trace,
    slowOf.map(({ slow }) => slow),
  );
  return slowOf.flatMap((one) => explained(trace, one, isFirst, own)).sort(byLoss);
});

/** Tasks of a prefix that are far from its median, all of its tasks, and the median. */
interface SlowMembers {
  readonly slow: Int32Array;
  readonly members: Int32Array;
  readonly middle: Middle;
}

/** Returns true if so many tasks are far from the median of a prefix that the median is not a usual duration. */
function areMany(slow: Int32Array, members: Int32Array): boolean {
  return slow.length * 10 > members.length && slow.length > 1;
}

/** Returns the seconds of a task without the start of the thread's profiler, as far as the task used its thread then. */
function ownSeconds(trace: Trace, row: number): number {
  const { duration, worker } = trace.tasks;
  let seconds = duration[row]!;
  eachUse(trace, row, (start, stop, share) => {
    seconds -= share * profilerSeconds(trace, worker[row]!, start, stop);
  });
  return seconds;
}

/**
 * Leaves out tasks that left their slot to others, e.g. while they await with `concurrentTasks`, and ended after the usual
 * time all the same. The time without their waits is a small part of it, in which a first call or a wait for a core is
 * many times the median.
 */
function endedLate(trace: Trace, slow: Int32Array, members: Int32Array, isFirst: Uint8Array): Int32Array {
  const { started, stopped, seceded } = trace.tasks;
  if (slow.every((row) => Number.isNaN(seceded[row]!))) return slow;
  const whole = (row: number): number => stopped[row]! - started[row]!;
  const limit = limitOf(middleOf(Float64Array.from(evenly(members), whole)));
  return slow.filter(
    (row) => Number.isNaN(seceded[row]!) || whole(row) - (isFirst[row]! > 0 ? COLD_SECONDS : 0) > limit,
  );
}

function farRows(members: Int32Array, seconds: (row: number) => number, middle: Middle): Int32Array {
  const limit = limitOf(middle);
  return members.filter((row) => seconds(row) > limit);
}

/** Returns the seconds above which a task is far from the usual ones. */
function limitOf({ median, sigma }: Middle): number {
  return Math.max(median + SPREADS * sigma, TIMES * median, median + MIN_EXCESS);
}

/**
 * Returns the tasks that are stragglers also if waits for a core do not count, neither theirs nor those of other tasks.
 * Their seconds and medians are without these waits.
 */
export function withoutCoreWaits(found: readonly Straggler[]): Straggler[] {
  return found
    .map((one) => ({ ...one, seconds: one.seconds - one.coreWait, median: one.alone.median, coreWait: 0 }))
    .filter(({ seconds, alone, isFirst }) => seconds - (isFirst ? COLD_SECONDS : 0) > limitOf(alone))
    .map((one) => ({ ...one, why: reasonOf(one) }))
    .sort(byLoss);
}

/** Orders stragglers by the time that they lost. */
const byLoss = (a: Straggler, b: Straggler): number => b.seconds - b.median - (a.seconds - a.median);

interface OwnWork {
  transfer: number;
  disk: number;
  awaited: number;
  readonly until: number;
}

/** Finds differences of slow tasks from others of their prefix. */
function explained(
  trace: Trace,
  { slow, members, middle }: SlowMembers,
  isFirst: Uint8Array,
  own: ReadonlyMap<number, OwnWork>,
): Straggler[] {
  const { duration, coreWait: waits } = trace.tasks;
  const usual = median(Float64Array.from(evenly(members), (row) => bytesOf(trace, row)));
  const alone = middleOf(Float64Array.from(evenly(members), (row) => duration[row]! - (waits[row]! || 0)));
  const isSlow = new Set(slow);
  const othersWereFirst = members.some((row) => isFirst[row]! > 0 && !isSlow.has(row));
  return Array.from(slow, (row) => {
    const facts = {
      row,
      seconds: ownSeconds(trace, row),
      median: middle.median,
      bytesIn: bytesOf(trace, row),
      medianBytesIn: usual,
      isFirst: isFirst[row]! > 0,
      othersWereFirst,
      coreWait: waits[row]! || 0,
      alone,
      ...timesOf(trace, row, own),
    };
    return { ...facts, why: reasonOf(facts) };
  });
}

/** Returns the bytes of all inputs; NaN if the size of an input is unknown. */
function bytesOf({ tasks }: Trace, row: number): number {
  return sumOf(inputRows(tasks, row), (input) => (input < 0 ? 0 : tasks.nbytes[input]!));
}

/** Returns the seconds of transfers, disk access and awaited promises of the task, and of collections during it. */
function timesOf(
  trace: Trace,
  row: number,
  own: ReadonlyMap<number, OwnWork>,
): Pick<Straggler, 'transfer' | 'disk' | 'gc' | 'awaited'> {
  const worker = trace.tasks.worker[row]!;
  const work = workIntervalsOf(trace);
  const { spans, offsets, action, start, stop } = work;
  const { transfer = 0, disk = 0, awaited = 0 } = (own.size > 0 && own.get(trace.tasks.id[row]!)) || {};
  let gc = 0;
  if (worker >= 0)
    eachUse(trace, row, (begin, end, share) => {
      for (const interval of overlapping(spans, offsets, worker, work, begin, end))
        if (ACTIONS[action[interval]!] === 'gc')
          gc += share * (Math.min(stop[interval]!, end) - Math.max(start[interval]!, begin));
    });
  return { transfer, disk, awaited, gc };
}

/** Adds up the seconds of intervals that name a slow task, by id of the task. */
function ownWork(trace: Trace, slow: readonly Int32Array[]): Map<number, OwnWork> {
  const sums = new Map<number, OwnWork>();
  const work = workIntervalsOf(trace);
  // Avoids reading the ids of tasks, a column of 8 bytes per row, if no interval names a task.
  if (!work.task.some((task) => task >= 0)) return sums;
  const { id, stopped } = trace.tasks;
  const awaits = awaitedSeconds(trace);
  for (const rows of slow)
    for (const row of rows)
      sums.set(id[row]!, { transfer: 0, disk: 0, awaited: awaits.get(row) ?? 0, until: stopped[row]! });
  const { length, worker, task, action, start, stop } = work;
  for (let interval = 0; interval < length; interval++) {
    const sum = worker[interval]! < 0 ? undefined : sums.get(task[interval]!);
    const seconds = stop[interval]! - start[interval]!;
    if (sum === undefined || !(seconds >= 0) || start[interval]! >= sum.until) continue;
    const name = ACTIONS[action[interval]!];
    if (name === 'transfer') sum.transfer += seconds;
    else if (name === 'disk-read' || name === 'disk-write') sum.disk += seconds;
  }
  return sums;
}

/** Returns e.g. `0.40` or `3.0`. From 100 on, more digits instead of an exponent. */
function twoDigits(value: number): string {
  return value < 99.5 ? value.toPrecision(2) : integerText(value);
}

/** Returns the causes that explain at least a third of the additional time, or a larger input. */
function reasonOf(facts: Omit<Straggler, 'why'>): string {
  const { seconds, median, bytesIn, medianBytesIn, gc, disk, transfer, awaited, coreWait } = facts;
  const share = (seconds - median) / 3;
  const reasons: string[] = [];
  if (coreWait >= share) reasons.push(`preempted for ${secondsText(coreWait)}`);
  if (gc >= share) reasons.push(`${twoDigits(gc)} s of garbage collection`);
  if (disk >= share) reasons.push(`${twoDigits(disk)} s of disk`);
  if (transfer >= share) reasons.push(`${twoDigits(transfer)} s of transfers`);
  if (awaited >= share) reasons.push(`${twoDigits(awaited)} s of waiting for its promise`);
  const times = bytesIn / medianBytesIn;
  if (medianBytesIn === 0 && bytesIn > 0)
    reasons.push(`${bytesText(bytesIn)} of input where others have none`);
  else if (times >= 1.5) reasons.push(`${twoDigits(times)} times the input`);
  const isCold = facts.isFirst && (!facts.othersWereFirst || COLD_SECONDS >= share);
  if (reasons.length === 0 && isCold) reasons.push(FIRST_RUN);
  return reasons.join(', ');
}

/**
 * Returns tasks that took more than twice the median of their prefix and six deviations (scaled median absolute
 * deviation) above it, those that lost most time first. Prefixes with more than a tenth of such tasks are left out, or
 * only their preempted tasks if the others are fewer. The start of a profiler does not count, nor 0.1 s of the first task of a
 * prefix on a thread. First calls that are slow on all workers are left out.
 */
export function stragglers(trace: Trace): Table {
  const found = stragglersOf(trace);
  const { tasks, workers, strings, keys } = trace;
  const ids = (column: (row: number) => number) => Int32Array.from(found, ({ row }) => column(row));
  const { texts, numbers } = rowColumns(found);
  return new Table([
    { title: 'Key', ids: ids((row) => tasks.key[row]!), strings: keys },
    { title: 'Prefix', ids: ids((row) => tasks.prefix[row]!), strings },
    {
      title: 'Worker',
      ids: ids((row) => (tasks.worker[row]! < 0 ? -1 : workers.name[tasks.worker[row]!]!)),
      strings,
    },
    numbers('Duration (s)', ({ seconds }) => seconds),
    numbers('Median of prefix (s)', ({ median }) => median),
    numbers('Times the median', ({ seconds, median }) => (median > 0 ? seconds / median : Number.NaN)),
    numbers('Input (MB)', ({ bytesIn }) => bytesIn / 1e6),
    numbers('Median input (MB)', ({ medianBytesIn }) => medianBytesIn / 1e6),
    numbers('Transfer (s)', ({ transfer }) => transfer),
    numbers('Disk (s)', ({ disk }) => disk),
    numbers('GC (s)', ({ gc }) => gc),
    numbers('Awaiting (s)', ({ awaited }) => awaited),
    numbers('Preempted (s)', ({ coreWait }) => coreWait),
    texts('What differed', ({ why }) => (why === '' ? null : why)),
  ]);
}
