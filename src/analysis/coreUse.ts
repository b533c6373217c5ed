// Computes how the cores of the machine were shared while tasks ran, and how long threads waited for a core. Linux
// measures these waits. On other systems they are estimated from samples of the machine and of the workers' threads.
// The estimate counts a thread without a core as asleep if that is possible. Tasks that overlap have no measured waits, and
// their time has none in which their thread slept.
import { rowsWhere } from '../base/groups.js';
import { firstWhere, oncePer } from '../base/lookUps.js';
import { CHILDREN_CPU, CPU_LIMIT, CPU_THROTTLED } from '../protocol/traceNames.js';
import type { Trace } from '../trace/trace.js';
import { eachUse, lanesOf } from './lanes.js';

export interface CoreUse {
  /** Cores that the program may use, at most its CPU limit; NaN if unknown, or for several machines. */
  readonly cores: number;
  /** Whether a CPU limit is the reason for the number of cores. */
  readonly hasLimit: boolean;
  /** Cores that one running task uses, with garbage collection and the scheduler. Below 1 if tasks mostly sleep. */
  readonly demand: number;
  /** Share of the time with running tasks in which all cores were busy, 0 to 1. */
  readonly saturated: number;
  /** Share of the time of all tasks in which their threads waited for a core, 0 to 1. */
  readonly lost: number;
  /** The part of `lost` in which the CPU limit of the container stopped the threads. */
  readonly limited: number;
  /** True if the system measured the waits for a core. */
  readonly isMeasured: boolean;
  /**
   * Mean number of the `cores` that other programs kept busy while tasks ran, without child processes if these are recorded.
   * With a CPU limit, other programs first use the cores beyond it.
   */
  readonly others: number;
  /** Mean number of running tasks, over the time in which any task ran. */
  readonly concurrency: number;
  /** Returns the seconds that a task would have taken if its thread had always had a core. */
  aloneSeconds(row: number): number;
  /** Returns the seconds of a task's time on its thread in which all cores were busy. */
  fullSeconds(row: number): number;
}

/** Number of cores busy with other programs, from which those programs count as a cause of waits. */
export const MIN_OTHERS = 0.3;
/** Share of the time of tasks spent waiting for a core, from which threads count as competing for cores. */
export const CROWDED_SHARE = 0.2;
/** Share of busy cores from which threads may wait for a core. */
const SATURATED = 0.9;
/** Smallest probability of finding all cores busy for which waits are estimated. */
const MIN_CROWDED = 0.05;
/** Smallest busy share of a worker in a sample's time span for which waits are estimated. */
const MIN_BUSY = 0.2;
/** Lower limit of the estimated share of time with a core, because samples are inexact. */
const MIN_GRANTED = 0.2;
/** Largest product of workers and samples. Larger runs do not use a single machine. */
const MAX_CELLS = 5_000_000;

/** Returns the use of cores in a trace, computed once. Cost: a walk over the tasks and a walk over the samples. */
export const coreUseOf = oncePer((trace: Trace): CoreUse => {
  const samples = machineSamples(trace);
  const { length } = samples.times;
  const workers = trace.workers.length;
  const measured = measuredWaits(trace);
  if (!isOneMachine(trace) || length < 2 || length * workers > MAX_CELLS) return unknownUse(trace, measured);
  const { busy, waited, overlapping } = busySeconds(trace, samples.times);
  const estimated = grantedShares(trace, samples, busy, overlapping);
  const granted = measured.isMeasured
    ? busy.map((seconds, cell) => (seconds > 0 ? 1 - waited[cell]! / seconds : 1))
    : estimated;
  let [wall, held, alone, used, others, full, throttled] = [0, 0, 0, 0, 0, 0, 0];
  for (let at = 1; at < length; at++) {
    const dt = samples.times[at]! - samples.times[at - 1]!;
    let inside = 0;
    for (let worker = 0; worker < workers; worker++) {
      const seconds = busy[at * workers + worker]!;
      inside += seconds;
      alone += seconds * granted[at * workers + worker]!;
    }
    if (inside === 0 || Number.isNaN(samples.program[at]!)) continue;
    const share = Math.min(1, inside / dt);
    wall += dt * share;
    held += inside;
    used += samples.program[at]! * dt * share;
    others += Math.max(0, samples.machine[at]! - samples.program[at]!) * dt * share;
    if (isSaturated(samples, at)) full += dt * share;
    throttled += Math.max(0, samples.throttled[at]! - samples.throttled[at - 1]!) * share;
  }
  if (wall === 0 || alone === 0) return unknownUse(trace, measured);
  const lost = measured.isMeasured ? measured.lost : 1 - alone / held;
  return {
    cores: samples.cores,
    hasLimit: samples.cores < samples.all,
    demand: used / alone,
    saturated: full / wall,
    lost,
    limited: Math.min(lost, (throttled || 0) / held),
    isMeasured: measured.isMeasured,
    // The CPU time of child processes is known when they end, and belongs to no single sample.
    others: Math.max(0, (others - (childSeconds(trace) || 0)) / wall - (samples.all - samples.cores)),
    concurrency: held / wall,
    aloneSeconds: (row) =>
      measured.isMeasured && !isUnmeasured(trace, row)
        ? measuredAlone(trace, row)
        : aloneSeconds(trace, row, samples.times, estimated),
    fullSeconds: (row) => {
      let full = 0;
      eachStretch(trace, row, samples.times, (at, seconds) => {
        if (isSaturated(samples, at)) full += seconds;
      });
      return full;
    },
  };
});

/** Samples of one machine. Each sample covers the time span since the previous one. */
interface Samples {
  /** Cores that the program may use without its CPU limit, and with it. */
  readonly all: number;
  readonly cores: number;
  readonly times: Float64Array;
  /** Busy cores of the whole machine. */
  readonly machine: Float64Array;
  /** Busy cores of the program. */
  readonly program: Float64Array;
  /** Seconds in which the CPU limit had stopped ready threads; NaN without a limit. */
  readonly throttled: Float64Array;
  /** Busy cores of all workers together; NaN if each worker has its own samples at the same times. */
  readonly workers: Float64Array;
}

/** Returns whether the trace has measured waits for a core, and their share of the time of the tasks that have them. */
function measuredWaits(trace: Trace): { readonly isMeasured: boolean; readonly lost: number } {
  const { coreWait, duration } = trace.tasks;
  let [seconds, waited] = [0, 0];
  for (const row of lanesOf(trace).spans.rows) {
    if (Number.isNaN(coreWait[row]!)) continue;
    seconds += duration[row]!;
    waited += coreWait[row]!;
  }
  return { isMeasured: seconds > 0, lost: seconds > 0 ? Math.min(1, waited / seconds) : 0 };
}

/** Returns true for a task that overlapped with others on its thread, so that no system measures its waits for a core. */
export function isUnmeasured({ tasks }: Trace, row: number): boolean {
  return Number.isNaN(tasks.coreWait[row]!) && !Number.isNaN(tasks.seceded[row]!);
}

function measuredAlone({ tasks }: Trace, row: number): number {
  return Math.max(0, tasks.duration[row]! - (tasks.coreWait[row]! || 0));
}

function unknownUse(trace: Trace, { isMeasured, lost }: Pick<CoreUse, 'isMeasured' | 'lost'>): CoreUse {
  return {
    cores: Number.NaN,
    hasLimit: false,
    demand: 1,
    saturated: 0,
    lost,
    limited: 0,
    isMeasured,
    others: 0,
    concurrency: Number.NaN,
    aloneSeconds: (row) => measuredAlone(trace, row),
    fullSeconds: () => 0,
  };
}

function isOneMachine({ workers, tasks }: Trace): boolean {
  const hosts = new Set<number>();
  for (const worker of new Set(tasks.worker)) if (worker >= 0) hosts.add(workers.host[worker]!);
  return hosts.size === 1;
}

/** Returns the rows of the samples of the machine, which are of no worker, in order of time. */
export function machineRows({ resources: { length, worker, time } }: Trace): Int32Array {
  return rowsWhere(length, (row) => worker[row] === -1).sort((a, b) => time[a]! - time[b]!);
}

function machineSamples(trace: Trace): Samples {
  const { time, figures } = trace.resources;
  const cpu = figures.get('cpu');
  const machine = figures.get('host_cpu');
  const all = figures.get('host_cores')?.find((count) => count > 0) ?? Number.NaN;
  const limit = figures.get(CPU_LIMIT)?.find((count) => count > 0) ?? Number.POSITIVE_INFINITY;
  const isKnown = all > 0 && cpu !== undefined && machine !== undefined;
  const rows = isKnown ? machineRows(trace) : new Int32Array(0);
  return {
    all,
    cores: Math.min(all, limit),
    times: Float64Array.from(rows, (row) => time[row]!),
    machine: Float64Array.from(rows, (row) => machine![row]! / 100),
    program: Float64Array.from(rows, (row) => cpu![row]! / 100),
    throttled: Float64Array.from(rows, (row) => figures.get(CPU_THROTTLED)?.[row] ?? Number.NaN),
    workers: Float64Array.from(rows, (row) => (figures.get('workers_cpu')?.[row] ?? Number.NaN) / 100),
  };
}

function isSaturated({ machine, program, all, cores }: Samples, at: number): boolean {
  return machine[at]! >= SATURATED * all || program[at]! >= SATURATED * cores;
}

/** Estimates the probability that a task, which used `own` of a core itself, found all cores busy with other work. */
function crowdedAt(samples: Samples, at: number, own: number): number {
  const { machine, all } = samples;
  if (isSaturated(samples, at)) return 1;
  const others = (machine[at]! - own) / (all - own);
  return Math.min(1, Math.max(0, others / SATURATED)) ** all;
}

/**
 * Estimates the share of the time in which a thread had a core or slept, from the share `used` with a core. The system
 * shares the cores fairly among `wanting` threads. A thread that used less than its fair part must therefore have
 * slept, but not in the `awake` share of the time, which belongs to tasks that overlap.
 */
function shareGranted(used: number, crowded: number, wanting: number, cores: number, awake: number): number {
  const fair = Math.min(1, cores / wanting);
  const without = Math.max(0, (1 - used) * crowded);
  const lost = awake * without + (1 - awake) * Math.min(without, used * (1 / fair - 1));
  return Math.min(1, Math.max(MIN_GRANTED, 1 - lost));
}

/** Returns the index of the first time span that ends after `time`; 0 is before the first sample. */
function stretchAt(times: Float64Array, time: number): number {
  return firstWhere(0, times.length, (at) => !(times[at]! <= time));
}

/** Seconds by time span and worker. */
interface BusySeconds {
  /** Seconds in which tasks ran. */
  readonly busy: Float64Array;
  /** Seconds in which tasks waited for a core. */
  readonly waited: Float64Array;
  /** Seconds in which tasks ran whose waits for a core are not measured because they overlap. */
  readonly overlapping: Float64Array;
}

function busySeconds(trace: Trace, times: Float64Array): BusySeconds {
  const { worker, length, duration, coreWait } = trace.tasks;
  const { laneOf } = lanesOf(trace);
  const workers = trace.workers.length;
  const busy = new Float64Array(times.length * workers);
  const waited = new Float64Array(times.length * workers);
  const overlapping = new Float64Array(times.length * workers);
  for (let row = 0; row < length; row++) {
    if (laneOf[row]! < 0 || worker[row]! < 0) continue;
    const share = Math.min(1, coreWait[row]! / duration[row]!) || 0;
    const hasOverlap = isUnmeasured(trace, row);
    eachStretch(trace, row, times, (at, seconds) => {
      const cell = at * workers + worker[row]!;
      busy[cell]! += seconds;
      waited[cell]! += seconds * share;
      if (hasOverlap) overlapping[cell]! += seconds;
    });
  }
  return { busy, waited, overlapping };
}

/** Calls `visit` with each part of a task's time on its thread that a sample covers. */
export function eachStretch(
  trace: Trace,
  row: number,
  times: Float64Array,
  visit: (at: number, seconds: number) => void,
): void {
  eachUse(trace, row, (start, stop, share) => {
    for (let at = Math.max(1, stretchAt(times, start)); at < times.length; at++) {
      const from = Math.max(start, times[at - 1]!);
      const to = Math.min(stop, times[at]!);
      if (to > from) visit(at, share * (to - from));
      if (times[at]! >= stop) return;
    }
  });
}

/** Estimates the share of the tasks' time in which they had a core or slept, by time span and worker. */
function grantedShares(
  trace: Trace,
  samples: Samples,
  busy: Float64Array,
  overlapping: Float64Array,
): Float64Array {
  const { resources, workers } = trace;
  const cpu = resources.figures.get('cpu');
  const granted = grantedTogether(trace, samples, busy, overlapping);
  /** Seconds on cores, and seconds that samples cover, by time span and worker. A worker may have several samples in a span. */
  const [used, covered] = [new Float64Array(busy.length), new Float64Array(busy.length)];
  const last = new Float64Array(workers.length).fill(Number.NEGATIVE_INFINITY);
  for (let row = 0; row < resources.length; row++) {
    const worker = resources.worker[row]!;
    const cores = (cpu?.[row] ?? Number.NaN) / 100;
    if (worker < 0) continue;
    // Samples of one moment have the same time, except for rounding.
    const time = resources.time[row]! - 1e-6;
    const at = stretchAt(samples.times, time);
    const seconds = time - Math.max(last[worker]!, samples.times[at - 1] ?? time);
    last[worker] = time;
    if (at >= samples.times.length || Number.isNaN(cores) || !(seconds > 0)) continue;
    if (!Number.isNaN(samples.workers[at]!)) continue;
    const cell = at * workers.length + worker;
    used[cell]! += cores * seconds;
    covered[cell]! += seconds;
    const running = runningAt(busy, workers.length, at);
    const mean = used[cell]! / covered[cell]!;
    granted[cell] = grantedShare(samples, at, busy[cell]!, overlapping[cell]!, mean, running);
  }
  return granted;
}

/** Estimates the same shares from samples of all workers together, which are assumed to be equally busy. */
function grantedTogether(
  { workers }: Trace,
  samples: Samples,
  busy: Float64Array,
  overlapping: Float64Array,
): Float64Array {
  const granted = new Float64Array(busy.length).fill(1);
  for (let at = 1; at < samples.times.length; at++) {
    const held = runningAt(busy, workers.length, at);
    const together = runningAt(overlapping, workers.length, at);
    const share = grantedShare(samples, at, held, together, samples.workers[at]!, held);
    granted.fill(share, at * workers.length, (at + 1) * workers.length);
  }
  return granted;
}

/**
 * Estimates the same share for tasks that ran for `held` seconds of a time span, `overlapping` of them on a thread with others; 1 if
 * they used an unknown number of `cores`.
 *
 * @param running seconds in which the tasks of all workers ran
 */
function grantedShare(
  samples: Samples,
  at: number,
  held: number,
  overlapping: number,
  cores: number,
  running: number,
): number {
  const dt = samples.times[at]! - samples.times[at - 1]!;
  const used = cores * dt;
  if (!(held > MIN_BUSY * dt) || Number.isNaN(used)) return 1;
  const crowded = crowdedAt(samples, at, used / Math.max(dt, held));
  if (!(crowded >= MIN_CROWDED)) return 1;
  // Threads with a task may have been ready, and one per core busy with other work.
  const wanting = running / dt + Math.max(0, samples.machine[at]! - samples.program[at]! || 0);
  return shareGranted(used / held, crowded, wanting, samples.cores, overlapping / held);
}

/** Returns the seconds in which tasks of all workers ran in a time span. */
function runningAt(busy: Float64Array, workers: number, at: number): number {
  return busy.subarray(at * workers, (at + 1) * workers).reduce((sum, seconds) => sum + seconds, 0);
}

function aloneSeconds(trace: Trace, row: number, times: Float64Array, granted: Float64Array): number {
  const { worker, duration } = trace.tasks;
  if (worker[row]! < 0) return duration[row]!;
  let lost = 0;
  eachStretch(trace, row, times, (at, seconds) => {
    lost += seconds * (1 - granted[at * trace.workers.length + worker[row]!]!);
  });
  return Math.max(0, duration[row]! - lost);
}

/**
 * Returns the CPU seconds of child processes that tasks, or a program with worker threads, started and that ended; NaN if they are
 * not recorded.
 */
export const childSeconds = oncePer((trace: Trace): number => {
  const children = trace.resources.figures.get(CHILDREN_CPU);
  if (children === undefined) return Number.NaN;
  const rows = machineRows(trace).filter((row) => children[row]! >= 0);
  if (rows.length === 0) return Number.NaN;
  let seconds = 0;
  // The sum decreases when a worker process ends.
  for (let at = 1; at < rows.length; at++)
    seconds += Math.max(0, children[rows[at]!]! - children[rows[at - 1]!]!);
  return seconds;
});
