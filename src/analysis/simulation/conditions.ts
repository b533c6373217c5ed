// The conditions under which a trace was recorded, estimated from it: what passes between tasks, how fast data moves.
import { ACTIONS } from '../../protocol/clusterObserver.js';
import { DIRECTIONS, TRANSFER_KINDS, type Trace } from '../../trace/trace.js';
import { coreUseOf } from '../coreUse.js';
import { firstFrom, lanesOf } from '../lanes.js';
import type { Window } from '../path/pathWalk.js';
import { quantile, trimmedMean } from '../statistics.js';
import { knownAt, submissionsOf } from '../submissionTimes.js';
import { threadsTogether } from '../workerStarts.js';
import { workIntervalsOf } from '../workIntervals.js';
import { isRemote, machineOf, stretchOf, threadsPerWorker } from './machine.js';
import type { ReplayConditions } from './replayTypes.js';

/** Of a worker's memory limit, from where results go to disk. @source Dask's `distributed.worker.memory.target` */
export const MEMORY_TARGET = 0.6;
/** Bytes per second where the trace shows nothing of the disk. */
const DISK_BANDWIDTH = 500e6;
/** Seconds that the scheduler needs for a task at most: a scheduler in this process, and one behind a network. */
const LOCAL_SCHEDULER = 1.5e-6;
const REMOTE_SCHEDULER = 200e-6;
/** Samples that tell what a start on an idle thread, or a small transfer, costs. */
const MIN_LATENCIES = 5;
/** Bytes per second and seconds per input between workers that have moved nothing yet: two processes of one machine. */
const PEER_BANDWIDTH = 400e6;
const PEER_LATENCY = 70e-6;
/** Seconds until such a worker that has nothing to do starts a task: 0.3 to 1 ms were seen. */
const PEER_WAKE = 0.5e-3;
/** Rare stalls that are left out of what is typical; of few samples one stall is a large share. */
const TRIM = 0.01;
const MAX_TRIM = 0.25;
const MAX_SAMPLES = 100_000;
/** Starts that follow each other this fast show how fast the scheduler can be. */
const BURST = 1000;
/** Transfers of less tell latency, of more bandwidth. */
const SMALL_TRANSFER = 1 << 16;

/** The recorded conditions; of times that the trace has no example of, 0. In a window workers start only if they did then. */
export function recordedConditions(trace: Trace, window?: Window): ReplayConditions {
  const pauses = pausesOf(trace);
  const { overheads, latencies, follows } = pauses;
  // A few starts on idle threads are more likely to be something else, e.g. a module that is loaded.
  const latency =
    latencies.length < MIN_LATENCIES
      ? Math.max(typical(follows), isApart(trace) ? PEER_WAKE : 0)
      : typical(latencies);
  const workers = threadsTogether(trace);
  const machine = machineOf(trace, workers, window);
  // Recorded on a machine that was short of cores, all of it took longer than it would have alone.
  const crowded = crowdedOf(trace);
  return {
    workers,
    startup: machine.startup,
    stretch: stretchOf(machine, workers),
    taskOverhead: typical(overheads) / crowded,
    latency: latency / crowded,
    followLatency: followSeconds(pauses, latency) / crowded,
    report: reportSeconds(trace),
    sendsAhead: isRemote(trace),
    schedulerSeconds: schedulerSeconds(trace),
    ...transferConditions(trace),
    memory: memoryOf(trace),
    diskBandwidth: diskBandwidth(trace),
  };
}

/** The mean without stalls; 0 of none. */
function typical(samples: readonly number[]): number {
  const { length } = samples;
  return length === 0 ? 0 : trimmedMean(samples, Math.max(TRIM, Math.min(MAX_TRIM, 1 / Math.sqrt(length))));
}

/** Where no task followed another: it is no slower than an idle thread, and as fast as a task that could have run before. */
function followSeconds({ follows, overheads }: Pauses, latency: number): number {
  if (follows.length > 0) return typical(follows);
  return overheads.length > 0 ? Math.min(latency, typical(overheads)) : latency;
}

/** Seconds that pass in the middle between two tasks of a thread of which the second could have run earlier; 0 of none. */
export function medianOverhead(trace: Trace): number {
  const { overheads } = pausesOf(trace);
  return overheads.length === 0 ? 0 : quantile(overheads, 0.5);
}

interface Pauses {
  /** Between two tasks of a thread of which the second could have run before the first ended. */
  readonly overheads: number[];
  /** From when a task could run until an idle thread started it; `follows`: the thread that made its last input. */
  readonly latencies: number[];
  readonly follows: number[];
}

function pausesOf(trace: Trace): Pauses {
  const { started, stopped, length } = trace.tasks;
  const { spans, offsets, count, laneOf } = lanesOf(trace);
  const result: Pauses = { overheads: [], latencies: [], follows: [] };
  const stride = Math.max(1, Math.ceil(length / MAX_SAMPLES));
  for (let lane = 0; lane < count; lane++) {
    for (let at = offsets[lane]! + 1; at < offsets[lane + 1]!; at += stride) {
      const row = spans.rows[at]!;
      const free = stopped[spans.latest[at - 1]!]!;
      const { time, source } = enabled(trace, row);
      if (Number.isNaN(time) || started[row]! < free) continue;
      const from = Math.max(time, free);
      const isOwn = source >= 0 && laneOf[source] === lane;
      // What others made is there for this thread once the scheduler knows of it.
      const news =
        source < 0 || isOwn ? from : Math.max(from, Math.min(knownAt(trace, source), started[row]!));
      const pause = Math.max(0, started[row]! - news - fetching(trace, row, news));
      if (time < free) result.overheads.push(pause);
      else if (isOwn) result.follows.push(pause);
      else result.latencies.push(pause);
    }
  }
  return result;
}

/** When the task could have run: its last input was made, or it was submitted. NaN: not known. */
export function enabled(trace: Trace, row: number): { time: number; source: number } {
  const { dependencyOffsets, dependencyRows, stopped } = trace.tasks;
  const submissions = submissionsOf(trace);
  const submission = submissions.submissionOf[row]!;
  let time = submission < 0 ? Number.NaN : submissions.time[submission]!;
  let source = -1;
  for (let edge = dependencyOffsets[row]!; edge < dependencyOffsets[row + 1]!; edge++) {
    const dependency = dependencyRows[edge]!;
    if (dependency < 0 || stopped[dependency]! <= time) continue;
    time = stopped[dependency]!;
    source = dependency;
  }
  return { time, source };
}

const TRANSFER = ACTIONS.indexOf('transfer');

/** Seconds of transfers to the task's worker between `from` and its start: they are modelled on their own. */
function fetching(trace: Trace, row: number, from: number): number {
  const { spans, offsets, start, stop, action } = workIntervalsOf(trace);
  const worker = trace.tasks.worker[row]!;
  if (worker < 0 || offsets[worker] === offsets[worker + 1]) return 0;
  const until = trace.tasks.started[row]!;
  let at = firstFrom(spans.rows, start, until, offsets[worker]!, offsets[worker + 1]!) - 1;
  let seconds = 0;
  let cursor = until;
  for (; at >= offsets[worker]! && cursor > from; at--) {
    if (stop[spans.latest[at]!]! <= from) break;
    const interval = spans.rows[at]!;
    if (action[interval] !== TRANSFER) continue;
    const begin = Math.max(start[interval]!, from);
    seconds += Math.max(0, Math.min(stop[interval]!, cursor) - begin);
    cursor = Math.min(cursor, begin);
  }
  return seconds;
}

/** How many times longer tasks took than they would have if the machine had always had a core for them. */
function crowdedOf(trace: Trace): number {
  const { aloneSeconds } = coreUseOf(trace);
  let [seconds, alone] = [0, 0];
  for (const row of lanesOf(trace).spans.rows) {
    seconds += trace.tasks.duration[row]!;
    alone += aloneSeconds(row);
  }
  return alone > 0 ? Math.max(1, seconds / alone) : 1;
}

/** How long finished tasks of a worker that went on with the next remained unknown: it tells of several together. */
function reportSeconds(trace: Trace): number {
  const { stopped, acknowledged, started, length } = trace.tasks;
  const { spans, offsets, count } = lanesOf(trace);
  const samples: number[] = [];
  const stride = Math.max(1, Math.ceil(length / MAX_SAMPLES));
  for (let lane = 0; lane < count; lane++) {
    for (let at = offsets[lane]!; at + 1 < offsets[lane + 1]!; at += stride) {
      const row = spans.rows[at]!;
      const unknown = acknowledged[row]! - stopped[row]!;
      if (unknown >= 0 && started[spans.rows[at + 1]!]! < acknowledged[row]!) samples.push(unknown);
    }
  }
  return typical(samples);
}

/** As fast as it was seen to be, and never slower than schedulers of its kind are. */
function schedulerSeconds(trace: Trace): number {
  const starts = trace.tasks.started.filter((_, row) => lanesOf(trace).laneOf[row]! >= 0).sort();
  let best = isRemote(trace) ? REMOTE_SCHEDULER : LOCAL_SCHEDULER;
  for (let i = BURST; i < starts.length; i++)
    best = Math.min(best, (starts[i]! - starts[i - BURST]!) / BURST);
  return best;
}

function transferConditions(trace: Trace): Pick<ReplayConditions, 'bandwidth' | 'transferLatency'> {
  const { length, direction, what, nbytes, start, stop } = trace.transfers;
  const incoming = DIRECTIONS.indexOf('incoming');
  const gather = TRANSFER_KINDS.indexOf('gather-dep');
  const large = { bytes: 0, seconds: 0 };
  const small = { bytes: 0, seconds: 0 };
  const latencies: number[] = [];
  for (let row = 0; row < length; row++) {
    if (direction[row] !== incoming || what[row] !== gather) continue;
    const took = stop[row]! - start[row]!;
    if (!(took >= 0)) continue;
    const sums = nbytes[row]! < SMALL_TRANSFER ? small : large;
    sums.bytes += nbytes[row]!;
    sums.seconds += took;
    if (sums === small && latencies.length < MAX_SAMPLES) latencies.push(took);
  }
  if (large.seconds > 0)
    return {
      bandwidth: large.bytes / large.seconds,
      // The shortest: others also waited for a peer that was busy.
      transferLatency: latencies.length < MIN_LATENCIES ? PEER_LATENCY : quantile(latencies, 0.1),
    };
  // Small ones alone cannot tell how much of their time is latency.
  if (small.seconds > 0) return { bandwidth: small.bytes / small.seconds, transferLatency: 0 };
  // Workers of a cluster have memories of their own, and one alone had nobody to fetch from.
  return isApart(trace)
    ? { bandwidth: PEER_BANDWIDTH, transferLatency: PEER_LATENCY }
    : { bandwidth: Number.POSITIVE_INFINITY, transferLatency: 0 };
}

/** One worker of a cluster, alone: what passes between two of them was never seen. */
function isApart({ workers, strings }: Trace): boolean {
  return workers.length === 1 && workers.address[0]! >= 0 && strings.get(workers.address[0]!) !== '';
}

/** Of each thread: those of a worker share its memory. */
function memoryOf(trace: Trace): number {
  let smallest = Number.POSITIVE_INFINITY;
  for (const limit of trace.workers.memoryLimit) if (limit > 0) smallest = Math.min(smallest, limit);
  return (smallest * MEMORY_TARGET) / (threadsPerWorker(trace) || 1);
}

function diskBandwidth(trace: Trace): number {
  const { length, action, nbytes, start, stop } = trace.intervals;
  let bytes = 0;
  let seconds = 0;
  for (let row = 0; row < length; row++) {
    const name = ACTIONS[action[row]!];
    if ((name !== 'disk-read' && name !== 'disk-write') || !(nbytes[row]! > 0)) continue;
    bytes += nbytes[row]!;
    seconds += stop[row]! - start[row]!;
  }
  return seconds > 0 ? bytes / seconds : DISK_BANDWIDTH;
}
