// Divides the waits for the scheduler by cause: computations of the program on the scheduler's thread, and Longpole's
// own work for the tasks.
import type { Trace } from '../../trace/trace.js';
import type { Facts } from './finding.js';

/** Delay of the scheduler's event loop in seconds from which the loop counts as blocked. */
export const MIN_DELAY = 0.05;
/** Matches modules of Longpole that every scheduler loads; the first group is Longpole's folder. */
const OWN_MODULE = /^(.*\/(?:src|dist)\/)(?:engine\/(?:pool|cluster|scheduler)|api\/cluster)\/[^/]+\.[jt]s$/;
/** Largest cost of a task in Longpole, seconds. Blocked time beyond the cost of the tasks is the program's. */
const TASK_COST = 200e-6;

export interface BlockedSpan {
  readonly start: number;
  readonly stop: number;
  readonly delay: number;
}

/** A wait for the scheduler on the critical path, after the first task had started. */
export interface SchedulerWait {
  readonly row: number;
  readonly seconds: number;
  /** Part of `seconds` in which code of the program blocked the scheduler's event loop. */
  readonly starved: number;
}

export interface SchedulerWaits {
  readonly waits: readonly SchedulerWait[];
  readonly blocked: readonly BlockedSpan[];
}

const known = new WeakMap<Trace, SchedulerWaits>();

/** Returns the waits for the scheduler, computed once per trace. */
export function schedulerWaits(facts: Facts): SchedulerWaits {
  let found = known.get(facts.trace);
  if (found === undefined) {
    found = findWaits(facts);
    known.set(facts.trace, found);
  }
  return found;
}

function findWaits(facts: Facts): SchedulerWaits {
  const blocked = blockedSpans(facts.trace);
  const share = blocked.length === 0 ? 0 : programShare(facts.trace, blocked);
  const { firstStart } = facts;
  const waits: SchedulerWait[] = [];
  for (const part of facts.parts('waiting for the scheduler')) {
    const from = Math.max(part.start, firstStart);
    if (!(part.stop > from)) continue;
    let inside = 0;
    for (const { start, stop } of blocked)
      inside += Math.max(0, Math.min(part.stop, stop) - Math.max(from, start));
    waits.push({ row: part.row, seconds: part.stop - from, starved: inside * share });
  }
  return { waits, blocked };
}

/**
 * Returns the time spans in which the event loop was blocked. The delay in a sample covers the time before the sample.
 */
function blockedSpans({ resources }: Trace): BlockedSpan[] {
  const { length, worker, time, figures } = resources;
  const delays = figures.get('eventLoopDelay');
  const spans: BlockedSpan[] = [];
  if (delays === undefined) return spans;
  let until = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < length; row++) {
    const delay = delays[row]!;
    if (worker[row] !== -1 || !(delay >= MIN_DELAY)) continue;
    spans.push({ start: Math.max(until, time[row]! - delay), stop: time[row]!, delay });
    until = time[row]!;
  }
  return spans;
}

/** Estimates the share of blocked time spent in the program, from samples, or else from the number of handled tasks. */
function programShare(trace: Trace, blocked: readonly BlockedSpan[]): number {
  const sampled = sampledShare(trace, blocked);
  if (!Number.isNaN(sampled)) return sampled;
  const seconds = blocked.reduce((sum, { start, stop }) => sum + stop - start, 0);
  const { acknowledged, submitted } = trace.tasks;
  const handled = countInside(acknowledged, blocked) + countInside(submitted, blocked);
  return Math.max(0, 1 - (handled * TASK_COST) / seconds);
}

function countInside(times: Float64Array, spans: readonly BlockedSpan[]): number {
  let count = 0;
  for (const time of times) if (isInside(time, spans)) count++;
  return count;
}

/** Requires spans in order of time, without overlap. */
function isInside(time: number, spans: readonly BlockedSpan[]): boolean {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (spans[middle]!.stop < time) low = middle + 1;
    else high = middle;
  }
  return low < spans.length && time >= spans[low]!.start;
}

/** Returns NaN if the profiler did not sample the scheduler's thread in these spans. */
function sampledShare(trace: Trace, blocked: readonly BlockedSpan[]): number {
  const { worker, time, frame, count, length } = trace.samples;
  const owners = frameOwners(trace);
  let [program, own] = [0, 0];
  for (let row = 0; row < length; row++) {
    if (worker[row]! >= 0 || frame[row]! < 0 || !isInside(time[row]!, blocked)) continue;
    const owner = owners[frame[row]!];
    if (owner === PROGRAM) program += count[row]!;
    else if (owner === LONGPOLE) own += count[row]!;
  }
  return program / (program + own);
}

const UNKNOWN = 0;
const PROGRAM = 1;
const LONGPOLE = 2;

/**
 * Returns for each row of frames whether Longpole or the program ran, by the file of the innermost function that is not
 * part of Node. A caller has a lower row than its callees.
 */
function frameOwners({ frames, strings }: Trace): Uint8Array {
  const files = Array.from(frames.file, (id) => (id < 0 ? '' : strings.get(id)));
  const folders = new Set(files.flatMap((file) => OWN_MODULE.exec(file)?.[1] ?? []));
  const owners = new Uint8Array(frames.length);
  for (const [row, file] of files.entries()) {
    const caller = frames.parent[row]!;
    if (file === '' || file.startsWith('node:')) owners[row] = caller < 0 ? UNKNOWN : owners[caller]!;
    else owners[row] = [...folders].some((folder) => file.startsWith(folder)) ? LONGPOLE : PROGRAM;
  }
  return owners;
}
