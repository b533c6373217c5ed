// How the cores of the machine were shared while tasks ran: where everything that wanted a core had one, and where it had
// not. From samples of the machine and of the workers' threads; traces of several machines, or without samples, say nothing.
import type { Trace } from '../trace/trace.js';
import { lanesOf } from './lanes.js';

export interface CoreUse {
  /** Of the machine; NaN: not known, or there are several machines. */
  readonly cores: number;
  /** Cores that one running task keeps busy where nothing else does: its own thread, collecting garbage, the scheduler. */
  readonly demand: number;
  /** Share of the time in which tasks ran that all cores were busy, 0 to 1. */
  readonly saturated: number;
  /** Of the time in which tasks held a thread while all cores were busy: the share in which the thread had one. 1: no loss. */
  readonly granted: number;
  /** Cores that other programs of the machine kept busy meanwhile, on average. */
  readonly others: number;
  /** Tasks that ran at the same time, on average over the time in which any did. */
  readonly concurrency: number;
  /** Seconds that a task would have taken if its thread had always had a core; as far as it is likely that it had to wait for one. */
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

const known = new WeakMap<Trace, CoreUse>();

/** Found once per trace. Cost: a walk over the tasks and one over the samples. */
export function coreUseOf(trace: Trace): CoreUse {
  let use = known.get(trace);
  if (use === undefined) {
    use = findUse(trace);
    known.set(trace, use);
  }
  return use;
}

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
  if (!isOneMachine(trace) || length < 2 || length * workers > MAX_CELLS) return unknownUse(trace);
  const busy = busySeconds(trace, samples.times);
  const granted = grantedShares(trace, samples, busy);
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
  if (wall === 0 || alone === 0) return unknownUse(trace);
  return {
    cores: samples.cores,
    demand: Math.max(1, used / alone),
    saturated: full / wall,
    granted: fullHeld > 0 ? fullGranted / fullHeld : 1,
    others: others / wall,
    concurrency: held / wall,
    aloneSeconds: (row) => aloneSeconds(trace, row, samples.times, granted),
  };
}

function unknownUse(trace: Trace): CoreUse {
  return {
    cores: Number.NaN,
    demand: 1,
    saturated: 0,
    granted: 1,
    others: 0,
    concurrency: Number.NaN,
    aloneSeconds: (row) => trace.tasks.duration[row]!,
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

/** Of the time of a thread that used a core for this share of it: a thread may also wait for something else than a core. */
function shareGranted(used: number, crowded: number): number {
  return Math.min(1, Math.max(MIN_GRANTED, 1 - (1 - used) * crowded));
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

/** Seconds in which tasks ran, by stretch and worker. Tasks that overlap on a thread count once each. */
function busySeconds(trace: Trace, times: Float64Array): Float64Array {
  const { started, stopped, worker, length } = trace.tasks;
  const { laneOf } = lanesOf(trace);
  const workers = trace.workers.length;
  const busy = new Float64Array(times.length * workers);
  for (let row = 0; row < length; row++) {
    if (laneOf[row]! < 0 || worker[row]! < 0) continue;
    eachStretch(times, started[row]!, stopped[row]!, (at, seconds) => {
      busy[at * workers + worker[row]!]! += seconds;
    });
  }
  return busy;
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
    if (crowded >= MIN_CROWDED) granted[at * workers.length + worker] = shareGranted(used / held, crowded);
  }
  return granted;
}

/** The same where samples tell of all workers together: they are taken for alike. */
function grantedTogether({ workers }: Trace, samples: Samples, busy: Float64Array): Float64Array {
  const granted = new Float64Array(busy.length).fill(1);
  for (let at = 1; at < samples.times.length; at++) {
    const dt = samples.times[at]! - samples.times[at - 1]!;
    const [from, to] = [at * workers.length, (at + 1) * workers.length];
    const held = busy.subarray(from, to).reduce((sum, seconds) => sum + seconds, 0);
    const used = samples.workers[at]! * dt;
    if (!(held > MIN_BUSY * dt) || Number.isNaN(used)) continue;
    const crowded = crowdedAt(samples, at, used / Math.max(dt, held));
    if (crowded >= MIN_CROWDED) granted.fill(shareGranted(used / held, crowded), from, to);
  }
  return granted;
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
