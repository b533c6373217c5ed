// Divides the waits for the scheduler by cause: computations of the program on the scheduler's thread, and Longpole's
// own work for the tasks.
import { firstWhere, oncePer } from '../../base/lookUps.js';
import { type Trace, textOf } from '../../trace/trace.js';
import { CROWDED_SHARE, coreUseOf } from '../coreUse.js';
import { SchedulerCoreWaits } from '../schedulerCoreWaits.js';
import { type Span, secondsOf } from '../spans.js';
import { isRemote } from '../workerLives.js';
import type { Facts } from './finding.js';
import { coreShare } from './noncpu.js';

/** Delay of the scheduler's event loop in seconds from which the loop counts as blocked. */
const MIN_DELAY = 0.05;
/** The same for Dask, whose scheduler is a process of its own that waits for a core if the machine is busy. */
const DASK_MIN_DELAY = 0.5;
/**
 * Matches modules of Longpole that every scheduler loads, and its bundle, which is installed without source maps. The
 * groups are Longpole's folder, and the folder of its modules in it.
 */
const OWN_MODULE =
  /^(?:(.*\/)(src|dist)\/(?:engine\/(?:pool|cluster|scheduler)|api\/cluster)\/[^/]+\.[jt]s$|(.*\/longpole\/)dist\/bundle\/)/;
/** Largest cost of a submission or of a finished task in Longpole, seconds. */
const TASK_COST = 200e-6;
/** The same for Dask. */
const DASK_TASK_COST = 2e-3;

/** A wait for the scheduler on the critical path, after the first task had started or while the event loop was blocked. */
interface SchedulerWait {
  readonly row: number;
  readonly seconds: number;
  /** Part of `seconds` in which code of the program blocked the scheduler's event loop. */
  readonly starved: number;
  /** `starved` without the time in which the scheduler's thread waited for a core. */
  readonly computed: number;
  /** `seconds` without the known waits of the scheduler's thread for a core. */
  readonly withCore: number;
}

export interface SchedulerWaits {
  readonly waits: readonly SchedulerWait[];
  readonly blocked: readonly Span[];
}

/** Share of all waits above which one wait is an exception, e.g. the loading of a module, and does not count. */
const STALL = 0.2;

/**
 * Returns the seconds of the critical path in which the scheduler handled tasks, and those without exceptions. Waits for a
 * core do not count: those of the scheduler's thread if they are measured, but at least as many as the threads of tasks have.
 * Before the scheduler receives a report and after it sends a task, these threads wait for a core as well.
 */
export function schedulingSeconds(facts: Facts): { readonly all: number; readonly usual: number } {
  const share = coreShare(facts.trace);
  const waits = schedulerWaits(facts).waits.map(({ seconds, starved, withCore, computed }) =>
    Math.min(share * (seconds - starved), Math.max(0, withCore - computed)),
  );
  const all = waits.reduce((sum, wait) => sum + wait, 0);
  const usual = waits.reduce((sum, wait) => (wait <= STALL * all ? sum + wait : sum), 0);
  return { all, usual };
}

/** Returns the waits for the scheduler, computed once. */
export const schedulerWaits = oncePer((facts: Facts): SchedulerWaits => {
  const blocked = blockedSpans(facts.trace);
  const { firstStart } = facts;
  const waits: { row: number; seconds: number; inside: number; blockedWithCore: number; lost: number }[] = [];
  const starved: Span[] = [];
  const coreWaits = new SchedulerCoreWaits(facts.trace);
  for (const part of facts.parts('waiting for the scheduler')) {
    // Before the first task, workers of Longpole start. Those of Dask have started, but they import modules.
    const from = facts.isDask ? part.start : Math.max(part.start, firstStart);
    if (!(part.stop > from)) continue;
    let [inside, early, blockedWithCore, lost] = [0, 0, 0, 0];
    let cursor = Math.max(from, firstStart);
    for (const span of blocked) {
      const [start, stop] = [Math.max(from, span.start), Math.min(part.stop, span.stop)];
      if (!(stop > start)) continue;
      starved.push({ start, stop });
      inside += stop - start;
      early += Math.max(0, Math.min(stop, firstStart) - start);
      lost += coreWaits.take(cursor, start);
      cursor = Math.max(cursor, stop);
      const waited = coreWaits.take(start, stop);
      lost += waited;
      blockedWithCore += stop - start - waited;
    }
    lost += coreWaits.take(cursor, part.stop);
    const seconds = Math.max(0, part.stop - Math.max(from, firstStart)) + early;
    if (seconds > 0) waits.push({ row: part.row, seconds, inside, blockedWithCore, lost });
  }
  const onCore = waits.reduce((sum, { blockedWithCore }) => sum + blockedWithCore, 0);
  const share = onCore > 0 ? programShare(facts.trace, starved, onCore, coreWaits.isMeasured) : 0;
  return {
    waits: waits.map(({ row, seconds, inside, blockedWithCore, lost }) => ({
      row,
      seconds,
      starved: inside * share,
      computed: blockedWithCore * share,
      withCore: Math.max(0, seconds - lost),
    })),
    blocked,
  };
});

/** Returns the delay in seconds from which the event loop of the scheduler counts as blocked. */
export function minDelay(trace: Trace): number {
  return isRemote(trace) ? DASK_MIN_DELAY : MIN_DELAY;
}

/**
 * Returns the time spans in which the event loop was blocked. The delay in a sample covers the time before the sample.
 */
function blockedSpans(trace: Trace): Span[] {
  const { length, worker, time, figures } = trace.resources;
  const least = minDelay(trace);
  const delays = figures.get('eventLoopDelay');
  const spans: Span[] = [];
  if (delays === undefined) return spans;
  let until = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < length; row++) {
    const delay = delays[row]!;
    if (worker[row] !== -1 || !(delay >= least)) continue;
    spans.push({ start: Math.max(until, time[row]! - delay), stop: time[row]! });
    until = time[row]!;
  }
  return spans;
}

/**
 * The event loop was blocked during the given waits. Returns the share of them that the program caused, estimated from
 * samples of the scheduler's thread. Longpole's own time beyond the cost of the handled tasks is mostly recording. If the
 * program did not block the thread, Longpole would record while tasks compute. This time therefore counts for the
 * program, but at most as much as the program's own time.
 *
 * @param onCore seconds of these waits, without the known waits of the scheduler's thread for a core
 */
function programShare(trace: Trace, waits: readonly Span[], onCore: number, isMeasured: boolean): number {
  const { acknowledged, submitted } = trace.tasks;
  const isWaiting = (time: number): boolean => isInside(time, waits);
  const handled = acknowledged.filter(isWaiting).length + submitted.filter(isWaiting).length;
  const scheduling = Math.min(1, (handled * (isRemote(trace) ? DASK_TASK_COST : TASK_COST)) / onCore);
  const since = sampledSince(trace);
  const before = secondsOf(waits.filter(({ stop }) => !(stop > since))) / secondsOf(waits);
  const program = sampledShare(trace, waits);
  const sampled = program + Math.min(program, Math.max(0, 1 - program - scheduling));
  return before * unsampledShare(trace, isMeasured, scheduling) + (1 - before) * sampled;
}

/**
 * Returns the same without samples: all time with a core beyond the cost of the handled tasks is the program's. If tasks wait
 * for cores then, and the waits of the scheduler's thread are unknown, nothing shows that the program computed.
 */
function unsampledShare(trace: Trace, isMeasured: boolean, scheduling: number): number {
  if (isMeasured) return 1 - scheduling;
  const { lost } = coreUseOf(trace);
  if (lost >= CROWDED_SHARE) return 0;
  // The process of a Dask scheduler waits for a core as tasks do, also if these mostly sleep.
  return (isRemote(trace) ? 1 - lost : coreShare(trace)) * (1 - scheduling);
}

/** Requires spans in order of time, without overlap. */
function isInside(time: number, spans: readonly Span[]): boolean {
  const next = spans[firstWhere(0, spans.length, (at) => spans[at]!.stop >= time)];
  return next !== undefined && time >= next.start;
}

/**
 * Returns the program's share of the sampled time in these spans. Without a sample in these spans, the thread had no core. The
 * program did not cause this, so its share is 0.
 */
function sampledShare(trace: Trace, spans: readonly Span[]): number {
  const { program, longpole } = sampledSeconds(trace, spans) ?? { program: 0, longpole: 0 };
  return program > 0 ? program / (program + longpole) : 0;
}

/** Returns the time of the first sample of the scheduler's thread; Infinity if the profiler did not sample it. */
function sampledSince({ samples: { worker, time, frame, length } }: Trace): number {
  for (let row = 0; row < length; row++) if (worker[row]! < 0 && frame[row]! >= 0) return time[row]!;
  return Number.POSITIVE_INFINITY;
}

/**
 * Returns the seconds in these spans in which the program and Longpole computed on the scheduler's thread, by samples;
 * undefined if the profiler did not sample it. Requires spans in order of time, without overlap.
 */
export function sampledSeconds(
  trace: Trace,
  spans: readonly Span[],
): { readonly program: number; readonly longpole: number } | undefined {
  const { worker, time, frame, count, interval, length } = trace.samples;
  const owners = frameOwners(trace);
  let [program, longpole] = [0, 0];
  let isSampled = false;
  for (let row = 0; row < length; row++) {
    if (worker[row]! >= 0 || frame[row]! < 0) continue;
    isSampled = true;
    if (!isInside(time[row]!, spans)) continue;
    const owner = owners[frame[row]!];
    if (owner === PROGRAM) program += count[row]! * interval[row]!;
    else if (owner === LONGPOLE) longpole += count[row]! * interval[row]!;
  }
  return isSampled ? { program, longpole } : undefined;
}

const MODULES = '/node_modules/';
const UNKNOWN = 0;
const PROGRAM = 1;
const LONGPOLE = 2;

/**
 * Returns for each row of frames whether Longpole or the program ran, by the file of the innermost function that is not
 * part of Node, nor of a package in Longpole's folder that Longpole called. A caller has a lower row than its callees.
 */
function frameOwners({ frames, strings }: Trace): Uint8Array {
  const files = Array.from(frames.file, (id) => textOf(strings, id));
  const own = new Set<string>();
  const packages = new Set<string>();
  for (const file of new Set(files)) {
    const [match, clone, folder = 'dist/bundle', installed] = OWN_MODULE.exec(file) ?? [];
    if (match === undefined) continue;
    const root = clone ?? installed ?? '';
    own.add(`${root}${folder}/`).add(`${root}dist/bundle/`);
    packages.add(`${root}node_modules/`);
    // Package managers install the packages of Longpole beside it, or elsewhere in the outermost of these folders.
    const installation = root.indexOf(MODULES);
    if (installation >= 0) packages.add(root.slice(0, installation + MODULES.length));
  }
  const isIn = (folders: ReadonlySet<string>, file: string): boolean =>
    [...folders].some((folder) => file.startsWith(folder));
  const owners = new Uint8Array(frames.length);
  for (const [row, file] of files.entries()) {
    const caller = frames.parent[row]!;
    const before = caller < 0 ? UNKNOWN : owners[caller]!;
    if (file === '' || file.startsWith('node:')) owners[row] = before;
    else if (isIn(own, file) || (before === LONGPOLE && isIn(packages, file))) owners[row] = LONGPOLE;
    else owners[row] = PROGRAM;
  }
  return owners;
}
