// How the cores of the machine were shared while tasks ran: where everything that wanted a core had one, and where it had
// not. How long a task waited for a core is measured where the system counts it (Linux). Elsewhere it is estimated from
// samples of the machine and of the workers' threads, so that a thread that may have slept is taken for one that slept.
import { oncePer } from '../base/lookUps.js';
import type { Trace } from '../trace/trace.js';
import { lanesOf } from './lanes.js';

export interface CoreUse {
  /** Of the machine; NaN: not known, or there are several machines. */
  readonly cores: number;
  /**
   * Cores that one running task wants: its own thread, collecting garbage, the scheduler. Less than one where tasks mostly sleep:
   * a core that a blocked task does not want is lost to no other.
   */
  readonly demand: number;
  /** Share of the time in which tasks ran that all cores were busy, 0 to 1. */
  readonly saturated: number;
  /** Of the time in which tasks held a thread while all cores were busy: the share in which the thread had one. 1: no loss. */
  readonly granted: number;
  /** Share of the time of all tasks in which their threads waited for a core, 0 to 1. */
  readonly lost: number;
  /** Whether the system told how long tasks waited for a core. */
  readonly isMeasured: boolean;
  /** Cores that other programs of the machine kept busy meanwhile, on average. */
  readonly others: number;
  /** Tasks that ran at the same time, on average over the time in which any did. */
  readonly concurrency: number;
  /** Seconds that a task would have taken if its thread had always had a core. */
  aloneSeconds(row: number): number;
}

/** Of all cores busy, from where it is the machine that makes threads wait. */
const SATURATED = 0.9;
/** Chance to find all cores busy from which it is worth looking. */
const MIN_CROWDED = 0.05;
/** Samples tell little of a worker that was busy for less of them. */
const MIN_BUSY = 0.2;
/** Below this share of a core the samples are not to be believed. */
const MIN_GRANTED = 0.2;
/** Workers times samples; beyond that nobody runs on one machine. */
const MAX_CELLS = 5_000_000;

/** Found once per trace. Cost: a walk over the tasks and one over the samples. */
export const coreUseOf = oncePer((trace: Trace): CoreUse => findUse(trace));

/** What the samples of one machine say: stretches of time, each up to its sample. */
interface Samples {
  readonly cores: number;
  readonly times: Float64Array;
  /** Cores that everything on the machine kept busy, and that the program did. */
  readonly machine: Float64Array;
  readonly program: Float64Array;
  /** Cores that all workers together kept busy; NaN: each worker's own samples are of the same moments and say more. */
  readonly workers: Float64Array;
}

function findUse(trace: Trace): CoreUse {
  const samples = machineSamples(trace);
  const { length } = samples.times;
  const workers = trace.workers.length;
  const measured = measuredWaits(trace);
  if (!isOneMachine(trace) || length < 2 || length * workers > MAX_CELLS) return unknownUse(trace, measured);
  const { busy, waited } = busySeconds(trace, samples.times);
  const granted = measured.isMeasured
    ? busy.map((seconds, cell) => (seconds > 0 ? 1 - waited[cell]! / seconds : 1))
    : grantedShares(trace, samples, busy);
  let [wall, held, alone, used, others, full, fullHeld, fullGranted] = [0, 0, 0, 0, 0, 0, 0, 0];
  for (let at = 1; at < length; at++) {
    const dt = samples.times[at]! - samples.times[at - 1]!;
    const isFull = isSaturated(samples, at);
    let inside = 0;
    for (let worker = 0; worker < workers; worker++) {
      const seconds = busy[at * workers + worker]!;
      const own = seconds * granted[at * workers + worker]!;
      inside += seconds;
      alone += own;
      if (isFull) fullGranted += own;
    }
    if (inside === 0 || Number.isNaN(samples.program[at]!)) continue;
    const share = Math.min(1, inside / dt);
    wall += dt * share;
    held += inside;
    used += samples.program[at]! * dt * share;
    others += Math.max(0, samples.machine[at]! - samples.program[at]!) * dt * share;
    if (isFull) {
      full += dt * share;
      fullHeld += inside;
    }
  }
  if (wall === 0 || alone === 0) return unknownUse(trace, measured);
  return {
    cores: samples.cores,
    demand: used / alone,
    saturated: full / wall,
    granted: fullHeld > 0 ? fullGranted / fullHeld : 1,
    lost: measured.isMeasured ? measured.lost : 1 - alone / held,
    isMeasured: measured.isMeasured,
    others: others / wall,
    concurrency: held / wall,
    aloneSeconds: measured.isMeasured
      ? (row) => measuredAlone(trace, row)
      : (row) => aloneSeconds(trace, row, samples.times, granted),
  };
}

/** Whether the trace has times of the run queue, and the share of the time of the tasks with such times that they are. */
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

function measuredAlone({ tasks }: Trace, row: number): number {
  return Math.max(0, tasks.duration[row]! - (tasks.coreWait[row]! || 0));
}

function unknownUse(trace: Trace, { isMeasured, lost }: Pick<CoreUse, 'isMeasured' | 'lost'>): CoreUse {
  return {
    cores: Number.NaN,
    demand: 1,
    saturated: 0,
    granted: 1,
    lost,
    isMeasured,
    others: 0,
    concurrency: Number.NaN,
    aloneSeconds: (row) => measuredAlone(trace, row),
  };
}

/** Whether all tasks ran on one host. */
export function isOneMachine({ workers, tasks }: Trace): boolean {
  const hosts = new Set<number>();
  for (const worker of new Set(tasks.worker)) if (worker >= 0) hosts.add(workers.host[worker]!);
  return hosts.size === 1;
}

function machineSamples({ resources }: Trace): Samples {
  const { length, worker, time, figures } = resources;
  const cpu = figures.get('cpu');
  const machine = figures.get('host_cpu');
  const cores = figures.get('host_cores')?.find((count) => count > 0) ?? Number.NaN;
  const rows: number[] = [];
  for (let row = 0; row < length; row++) if (worker[row] === -1) rows.push(row);
  if (!(cores > 0) || cpu === undefined || machine === undefined) rows.length = 0;
  rows.sort((a, b) => time[a]! - time[b]!);
  return {
    cores,
    times: Float64Array.from(rows, (row) => time[row]!),
    machine: Float64Array.from(rows, (row) => machine![row]! / 100),
    program: Float64Array.from(rows, (row) => cpu![row]! / 100),
    workers: Float64Array.from(rows, (row) => (figures.get('workers_cpu')?.[row] ?? Number.NaN) / 100),
  };
}

function isSaturated({ machine, cores }: Pick<Samples, 'machine' | 'cores'>, at: number): boolean {
  return machine[at]! >= SATURATED * cores;
}

/** The chance that a task, which used `own` of a core itself, found all of them busy with others. */
function crowdedAt({ machine, cores }: Samples, at: number, own: number): number {
  if (isSaturated({ machine, cores }, at)) return 1;
  const others = (machine[at]! - own) / (cores - own);
  return Math.min(1, Math.max(0, others / SATURATED)) ** cores;
}

/**
 * The share of its time in which a thread had a core, or wanted none, if it used one for the share `used`. A system shares its
 * cores evenly: among `wanting` threads each gets at least its part of what it wants, so that one which used little slept.
 */
function shareGranted(used: number, crowded: number, wanting: number, cores: number): number {
  const fair = Math.min(1, cores / wanting);
  const lost = Math.min((1 - used) * crowded, used * (1 / fair - 1));
  return Math.min(1, Math.max(MIN_GRANTED, 1 - lost));
}

/** Threads that may have wanted a core during a stretch: those that held a task, and at least one for each core of others. */
function wantingAt({ machine, program }: Samples, at: number, running: number): number {
  return running + Math.max(0, machine[at]! - program[at]! || 0);
}

/** The first stretch that ends after `time`; 0 is before the first sample. */
function stretchAt(times: Float64Array, time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Seconds in which tasks ran, and waited for a core, by stretch and worker. Tasks that overlap on a thread count once each. */
function busySeconds(trace: Trace, times: Float64Array): { busy: Float64Array; waited: Float64Array } {
  const { started, stopped, worker, length, duration, coreWait } = trace.tasks;
  const { laneOf } = lanesOf(trace);
  const workers = trace.workers.length;
  const busy = new Float64Array(times.length * workers);
  const waited = new Float64Array(times.length * workers);
  for (let row = 0; row < length; row++) {
    if (laneOf[row]! < 0 || worker[row]! < 0) continue;
    const share = Math.min(1, coreWait[row]! / duration[row]!) || 0;
    eachStretch(times, started[row]!, stopped[row]!, (at, seconds) => {
      busy[at * workers + worker[row]!]! += seconds;
      waited[at * workers + worker[row]!]! += seconds * share;
    });
  }
  return { busy, waited };
}

/** The parts of a time span in stretches that samples cover. */
function eachStretch(
  times: Float64Array,
  start: number,
  stop: number,
  visit: (at: number, seconds: number) => void,
): void {
  for (let at = Math.max(1, stretchAt(times, start)); at < times.length; at++) {
    const from = Math.max(start, times[at - 1]!);
    const to = Math.min(stop, times[at]!);
    if (to > from) visit(at, to - from);
    if (times[at]! >= stop) return;
  }
}

/** By stretch and worker: the share of its tasks' time in which it had a core, or waited for something else. */
function grantedShares(trace: Trace, samples: Samples, busy: Float64Array): Float64Array {
  const { resources, workers } = trace;
  const cpu = resources.figures.get('cpu');
  const granted = grantedTogether(trace, samples, busy);
  for (let row = 0; row < resources.length; row++) {
    const worker = resources.worker[row]!;
    if (worker < 0) continue;
    // Samples of one moment have one time, but for what rounding does to it.
    const at = stretchAt(samples.times, resources.time[row]! - 1e-6);
    if (at < 1 || at >= samples.times.length) continue;
    if (!Number.isNaN(samples.workers[at]!)) continue;
    const dt = samples.times[at]! - samples.times[at - 1]!;
    const held = busy[at * workers.length + worker]!;
    const used = ((cpu?.[row] ?? Number.NaN) / 100) * dt;
    if (!(held > MIN_BUSY * dt) || Number.isNaN(used)) continue;
    const crowded = crowdedAt(samples, at, used / Math.max(dt, held));
    const wanting = wantingAt(samples, at, runningAt(busy, workers.length, at) / dt);
    if (crowded >= MIN_CROWDED)
      granted[at * workers.length + worker] = shareGranted(used / held, crowded, wanting, samples.cores);
  }
  return granted;
}

/** The same where samples tell of all workers together: they are taken for alike. */
function grantedTogether({ workers }: Trace, samples: Samples, busy: Float64Array): Float64Array {
  const granted = new Float64Array(busy.length).fill(1);
  for (let at = 1; at < samples.times.length; at++) {
    const dt = samples.times[at]! - samples.times[at - 1]!;
    const [from, to] = [at * workers.length, (at + 1) * workers.length];
    const held = runningAt(busy, workers.length, at);
    const used = samples.workers[at]! * dt;
    if (!(held > MIN_BUSY * dt) || Number.isNaN(used)) continue;
    const crowded = crowdedAt(samples, at, used / Math.max(dt, held));
    const wanting = wantingAt(samples, at, held / dt);
    if (crowded >= MIN_CROWDED)
      granted.fill(shareGranted(used / held, crowded, wanting, samples.cores), from, to);
  }
  return granted;
}

/** Seconds in which tasks ran during a stretch, of all workers. */
function runningAt(busy: Float64Array, workers: number, at: number): number {
  return busy.subarray(at * workers, (at + 1) * workers).reduce((sum, seconds) => sum + seconds, 0);
}

function aloneSeconds(trace: Trace, row: number, times: Float64Array, granted: Float64Array): number {
  const { started, stopped, worker, duration } = trace.tasks;
  if (worker[row]! < 0) return duration[row]!;
  let lost = 0;
  eachStretch(times, started[row]!, stopped[row]!, (at, seconds) => {
    lost += seconds * (1 - granted[at * trace.workers.length + worker[row]!]!);
  });
  return Math.max(0, duration[row]! - lost);
}
