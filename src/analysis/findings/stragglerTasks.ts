import { addTo, getOrMake, oncePer, pushTo } from '../../base/lookUps.js';
import { visibleName } from '../../base/visibleText.js';
import { countText, secondsText } from '../../base/words.js';
import { CROWDED_SHARE, coreUseOf, isUnmeasured } from '../coreUse.js';
import { eachUse } from '../lanes.js';
import { sharedSeconds } from '../leaseWaits.js';
import { recordsTransfers } from '../programTransfers.js';
import { FIRST_RUN, type Straggler, stragglersOf, withoutCoreWaits } from '../stragglers.js';
import { isLimited, RAISE_LIMIT } from './cpuLimit.js';
import { STOP_OTHERS } from './cpuOversubscription.js';
import type { Facts, Rule } from './finding.js';
import { idleSeconds } from './sampledCpu.js';
import { STALL } from './stalls.js';

const NAMED = 3;
/** Number of long tasks without a cause, from which they are the usual tail of their prefix if they take most of its time. */
const MIN_TAIL = 10;
/** Longest key in the text, in characters. */
const MAX_KEY = 80;

/**
 * Tasks on the critical path took far longer than the median of their prefix. The cost is the time above the medians. If
 * all tasks wait for a core, these waits do not count.
 */
export const stragglerTasks: Rule = (facts) => {
  const all = stragglersOf(facts.trace);
  if (all.length === 0) return undefined;
  const held = delayingRows(facts, all);
  // If all tasks wait for a core, 'cpu-oversubscription' covers the tasks that only waited longest.
  const { lost, isMeasured } = coreUseOf(facts.trace);
  const isCrowded = isMeasured && lost >= CROWDED_SHARE;
  const waits = sharedSeconds(facts.trace);
  const tails = longTails(facts);
  const found = (isCrowded ? withoutCoreWaits(all) : all).filter(
    (one) =>
      held.has(one.row) &&
      !isStall(facts, one) &&
      !(one.why === '' && tails.has(facts.trace.tasks.prefix[one.row]!)) &&
      !waitedForObject(facts, one, waits),
  );
  const worst = found[0];
  if (worst === undefined) return undefined;
  const seconds = found.reduce((sum, one) => sum + one.seconds - one.median, 0);
  const name = facts.prefixName(facts.trace.tasks.prefix[worst.row]!);
  const coreWait = facts.trace.tasks.coreWait[worst.row]!;
  const isAway = !Number.isNaN(facts.trace.tasks.seceded[worst.row]!);
  const what =
    (isAway && ' without its waits') || (isCrowded && coreWait >= 0 && ' without waits for a core') || '';
  const keys = facts.keys(found.map(({ row }) => row));
  // Computations with equal keys, e.g. of rounds, may each have the straggler.
  const different = [...new Set(keys)];
  const named = different.slice(0, NAMED).map((key) => visibleName(key, MAX_KEY));
  const why = worst.why === '' ? unexplained(facts, worst) : `Possible cause: ${worst.why}.`;
  return {
    code: 'stragglers',
    title: `${countText(found.length, 'straggler')} delayed the run: a task of '${name}' took ${secondsText(worst.seconds)}${what}, the median is ${secondsText(worst.median)}`,
    seconds,
    confidence: worst.why === '' ? 'medium' : 'high',
    text: `${why} ${found.length === 1 ? 'The straggler' : 'Together, the stragglers'} took ${secondsText(seconds)} longer than the median: ${named.join(', ')}${different.length > NAMED ? `, and ${different.length - NAMED} more` : ''}.`,
    numbers: {
      stragglers: found.length,
      longestSeconds: worst.seconds,
      medianSeconds: worst.median,
      bytesIn: worst.bytesIn || 0,
      medianBytesIn: worst.medianBytesIn || 0,
      gcSeconds: worst.gc,
      diskSeconds: worst.disk,
      coreWaitSeconds: coreWait || 0,
    },
    tasks: keys,
    question: 'stragglers',
    advice: adviceFor(facts, found, name),
  };
};

/** Returns what a straggler without a recorded cause did, by samples of its thread. */
function unexplained({ trace }: Facts, { row, seconds, median }: Straggler): string {
  const idle = idleSeconds(trace, row);
  return idle >= (seconds - median) / 2
    ? // Local schedulers do not measure what their tasks await.
      `For ${secondsText(idle)} it neither computed nor waited for a core: it ${recordsTransfers(trace) ? '' : 'awaited promises, or '}waited in a system call, e.g. for a disk, a lock or another program, or its process was stopped.`
    : 'The trace shows no cause.';
}

export interface LongTail {
  readonly tasks: number;
  /** Share of the prefix's seconds, more than 0.5. */
  readonly share: number;
}

/**
 * Returns, by prefix, many long tasks without a visible cause that take most of its time, e.g. of large files: an uneven
 * division of the work, and no tasks that went wrong.
 */
export const longTails = oncePer(({ trace, lanes }: Facts): ReadonlyMap<number, LongTail> => {
  const { prefix, duration } = trace.tasks;
  const long = new Map<number, { tasks: number; seconds: number }>();
  for (const { row, seconds, why } of stragglersOf(trace)) {
    if (why !== '' || lanes.laneOf[row]! < 0) continue;
    const tail = getOrMake(long, prefix[row]!, () => ({ tasks: 0, seconds: 0 }));
    tail.tasks++;
    tail.seconds += seconds;
  }
  const whole = new Map<number, number>();
  for (const row of lanes.spans.rows) {
    if (long.has(prefix[row]!)) addTo(whole, prefix[row]!, duration[row]!);
  }
  const tails = Array.from(long, ([id, { tasks, seconds }]): [number, LongTail] => [
    id,
    { tasks, share: Math.min(1, seconds / whole.get(id)!) },
  ]);
  return new Map(tails.filter(([, { tasks, share }]) => tasks >= MIN_TAIL && share > 0.5));
});

/**
 * Returns true if no cause but a wait for a core is known, while all cores were busy for most of the task's time, and it took little
 * longer, or has left its slot, so that its waits are not measured: then any task may take as long.
 */
function isStall({ trace }: Facts, one: Straggler): boolean {
  const { row, seconds, median, why } = one;
  const { fullSeconds } = coreUseOf(trace);
  const hasCause = why !== '' && !wasPreempted(one);
  const mayWait = seconds - median <= STALL || isUnmeasured(trace, row);
  return !hasCause && mayWait && fullSeconds(row) >= trace.tasks.duration[row]! / 2;
}

/** Returns true if the task took longer mostly because it waited for a core. */
function wasPreempted({ seconds, median, coreWait }: Straggler): boolean {
  return coreWait > (seconds - median) / 2;
}

/**
 * Returns true if the task took longer mostly because it waited for a lock or semaphore. The trace has the sum of these
 * waits for a prefix. A task that waits awaits a promise, or its thread runs tasks that have got the lock. The seconds of a
 * seceded task may be theirs, because the thread does not report which seceded task it runs.
 */
function waitedForObject(facts: Facts, one: Straggler, waits: ReadonlyMap<string, number>): boolean {
  const { trace, lanes } = facts;
  const { seconds, median, row, awaited } = one;
  const longer = seconds - median;
  if (!((waits.get(facts.prefixName(trace.tasks.prefix[row]!)) ?? 0) >= longer)) return false;
  const { started, seceded, stopped } = trace.tasks;
  const [begin, left, end] = [started[row]!, lanes.stop[row]!, stopped[row]!];
  const lane = lanes.laneOf[row]!;
  let others = 0;
  for (const other of lanes.spans.rows.subarray(lanes.offsets[lane]!, lanes.offsets[lane + 1]!)) {
    if (started[other]! >= end) break;
    if (other === row) continue;
    eachUse(trace, other, (start, stop, share) => {
      const until = start >= seceded[other]! ? end : left;
      others += share * Math.max(0, Math.min(stop, until) - Math.max(start, begin));
    });
  }
  return awaited + others > longer / 2;
}

function adviceFor({ trace }: Facts, found: readonly Straggler[], name: string): string {
  const [worst] = found;
  if (worst === undefined || wasPreempted(worst)) return isLimited(trace) ? RAISE_LIMIT : STOP_OTHERS;
  if (worst.medianBytesIn > 0 && worst.bytesIn > 1.5 * worst.medianBytesIn)
    return 'Divide the input evenly or split its large parts, and start the tasks with the most input first.';
  if (worst.awaited > (worst.seconds - worst.median) / 2)
    return `Find out what '${name}' awaited for ${found.length === 1 ? 'this key' : 'these keys'}: e.g. a slow request, or a file lock or a connection that other tasks held.`;
  if (worst.why === FIRST_RUN)
    return `Look for what '${name}' loads or builds in its first call on a worker. Load or build less, or build it in one task and pass its result to the others.`;
  // Local schedulers record no profile.
  const hasProfile = trace.samples.prefix.includes(trace.tasks.prefix[worst.row]!);
  const look = hasProfile ? `Look at the profile of '${name}'` : `Look at the arguments of '${name}'`;
  return `${look} for ${found.length === 1 ? 'this key' : 'these keys'}, and start the longest tasks first.`;
}

/** Returns the rows that the path computed, and of stragglers for whose thread a task of the path waited. */
function delayingRows(facts: Facts, all: readonly Straggler[]): Set<number> {
  const { laneOf, stop: left } = facts.lanes;
  const { started } = facts.trace.tasks;
  const held = new Set<number>();
  for (const { row } of facts.parts('compute')) held.add(row);
  // On a single thread, every task waits for all previous ones.
  if (facts.workers < 2) return held;
  const byLane = new Map<number, number[]>();
  for (const { row } of all) {
    pushTo(byLane, laneOf[row]!, row);
  }
  for (const { start, stop, row } of facts.parts('waiting for a worker')) {
    for (const straggler of (row < 0 ? undefined : byLane.get(laneOf[row]!)) ?? []) {
      // A task that became ready late waited for a small part of the straggler.
      const waited = Math.min(left[straggler]!, stop) - Math.max(started[straggler]!, start);
      if (waited > (left[straggler]! - started[straggler]!) / 2) held.add(straggler);
    }
  }
  return held;
}
