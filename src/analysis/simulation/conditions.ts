// Estimates the conditions of a recording from its trace: the time between tasks, and the speed of transfers and disks.

import { ACTIONS } from '../../protocol/clusterObserver.js';
import type { Trace } from '../../trace/trace.js';
import { coreUseOf } from '../coreUse.js';
import { lanesOf, overlapping } from '../lanes.js';
import { overlapSeconds, type Span } from '../spans.js';
import { spilledResults } from '../spilledResults.js';
import { quantile, trimmedMean } from '../statistics.js';
import { knownAt, repeatedRuns, submissionsOf } from '../submissionTimes.js';
import { isOfPool, isRemote, threadsTogether } from '../workerLives.js';
import { fetchedRows, workIntervalsOf } from '../workIntervals.js';
import { machineOf, stretchOf, threadsPerWorker } from './machine.js';
import type { ReplayConditions } from './replayTypes.js';

/**
 * Share of a worker's memory limit above which results are spilled. @source Dask's `distributed.worker.memory.target`
 */
export const MEMORY_TARGET = 0.6;
/** Bytes per second of a disk if the trace has no disk access. */
const DISK_BANDWIDTH = 500e6;
/** Upper limit of the estimated seconds per task for a scheduler in this process. */
const LOCAL_SCHEDULER = 1.5e-6;
/** Upper limit of the estimated seconds per task for a scheduler behind a network. */
const REMOTE_SCHEDULER = 200e-6;
/** Minimum number of samples for the latency of idle threads or of small transfers. */
const MIN_LATENCIES = 5;
/** Bytes per second between workers if the trace has no transfers, as between two processes of one machine. */
const PEER_BANDWIDTH = 400e6;
/** Seconds per input between such workers. */
const PEER_LATENCY = 70e-6;
/** Seconds until such a worker starts a task if it is idle. Measured: 0.3 to 1 ms. */
const PEER_WAKE = 0.5e-3;
/** Share of the largest samples that is left out of means, because they are stalls. */
const TRIM = 0.01;
/** Share that is left out if there are few samples, because one stall is then a large share of them. */
const MAX_TRIM = 0.25;
const MAX_SAMPLES = 100_000;
/** Number of consecutive starts from which the speed of the scheduler is measured. */
const BURST = 1000;
/** Bytes below which a transfer measures latency, and above which it measures bandwidth. */
const SMALL_TRANSFER = 1 << 16;

/**
 * Estimates the recorded conditions. Times without a sample are 0. In a window, workers start only if they started
 * then.
 */
export function recordedConditions(trace: Trace, window?: Span): ReplayConditions {
  const pauses = pausesOf(trace);
  const { overheads, latencies, follows } = pauses;
  // A few late starts on idle threads probably have another cause, e.g. the loading of a module.
  const latency =
    latencies.length < MIN_LATENCIES
      ? Math.max(typical(follows), isApart(trace) ? PEER_WAKE : 0)
      : typical(latencies);
  const workers = threadsTogether(trace);
  const machine = machineOf(trace, workers, window);
  // With too few cores, overheads also took longer.
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
    diskBandwidth: spilledResults(trace).bandwidth || DISK_BANDWIDTH,
  };
}

/** Returns the mean without stalls; 0 without samples. */
function typical(samples: readonly number[]): number {
  const { length } = samples;
  return length === 0 ? 0 : trimmedMean(samples, Math.max(TRIM, Math.min(MAX_TRIM, 1 / Math.sqrt(length))));
}

/**
 * Returns the typical delay after an input of the same thread, or else the smaller of `latency` and the task overhead.
 */
function followSeconds({ follows, overheads }: Pauses, latency: number): number {
  if (follows.length > 0) return typical(follows);
  return overheads.length > 0 ? Math.min(latency, typical(overheads)) : latency;
}

/** Returns the median seconds between two tasks on a thread if the second was ready before; 0 without such tasks. */
export function medianOverhead(trace: Trace): number {
  const { overheads } = pausesOf(trace);
  return overheads.length === 0 ? 0 : quantile(overheads, 0.5);
}

interface Pauses {
  /** Seconds between two tasks on a thread if the second was ready before the first ended. */
  readonly overheads: number[];
  /** Seconds from the readiness of a task until an idle thread started it. */
  readonly latencies: number[];
  /** Seconds from the readiness of a task until the thread that had computed its last input started it. */
  readonly follows: number[];
}

function pausesOf(trace: Trace): Pauses {
  const { started, length } = trace.tasks;
  const { spans, offsets, count, laneOf, stop } = lanesOf(trace);
  const result: Pauses = { overheads: [], latencies: [], follows: [] };
  const stride = Math.max(1, Math.ceil(length / MAX_SAMPLES));
  for (let lane = 0; lane < count; lane++) {
    for (let at = offsets[lane]! + 1; at < offsets[lane + 1]!; at += stride) {
      const row = spans.rows[at]!;
      const free = stop[spans.latest[at - 1]!]!;
      const { time, source } = readiness(trace, row);
      if (Number.isNaN(time) || started[row]! < free) continue;
      const from = Math.max(time, free);
      const isOwn = source >= 0 && laneOf[source] === lane;
      // Results of other threads are available when the scheduler has received their reports.
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

/**
 * Returns when a task was ready, i.e. after its last input or its previous run, which failed (`source`), and its submission;
 * NaN if unknown.
 */
export function readiness(trace: Trace, row: number): { time: number; source: number } {
  const { dependencyOffsets, dependencyRows, stopped } = trace.tasks;
  const failed = repeatedRuns(trace)[row]!;
  if (failed >= 0) return { time: stopped[failed]!, source: failed };
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

/**
 * Returns the seconds of transfers to the task's worker between `from` and its start, which are modelled separately.
 */
function fetching(trace: Trace, row: number, from: number): number {
  const work = workIntervalsOf(trace);
  const worker = trace.tasks.worker[row]!;
  if (worker < 0) return 0;
  const until = trace.tasks.started[row]!;
  const rows = overlapping(work.spans, work.offsets, worker, work, from, until);
  const transfers = rows.filter((interval) => work.action[interval] === TRANSFER);
  return overlapSeconds(
    [{ start: from, stop: until }],
    transfers.map((interval) => ({ start: work.start[interval]!, stop: work.stop[interval]! })),
  );
}

/** Returns the factor by which waits for a core made tasks longer. */
function crowdedOf(trace: Trace): number {
  const { aloneSeconds } = coreUseOf(trace);
  let [seconds, alone] = [0, 0];
  for (const row of lanesOf(trace).spans.rows) {
    seconds += trace.tasks.duration[row]!;
    alone += aloneSeconds(row);
  }
  return alone > 0 ? Math.max(1, seconds / alone) : 1;
}

/** Returns the typical seconds until a worker that continues with the next task has reported a finished one. */
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

/** Returns the least seconds per task that were measured, but no more than a scheduler of this kind usually takes. */
function schedulerSeconds(trace: Trace): number {
  const { laneOf } = lanesOf(trace);
  const starts = trace.tasks.started.filter((_, row) => laneOf[row]! >= 0).sort();
  let best = isRemote(trace) ? REMOTE_SCHEDULER : LOCAL_SCHEDULER;
  for (let i = BURST; i < starts.length; i++)
    best = Math.min(best, (starts[i]! - starts[i - BURST]!) / BURST);
  return best;
}

function transferConditions(trace: Trace): Pick<ReplayConditions, 'bandwidth' | 'transferLatency'> {
  const { nbytes, start, stop } = trace.transfers;
  const large = { bytes: 0, seconds: 0 };
  const small = { bytes: 0, seconds: 0 };
  const latencies: number[] = [];
  for (const row of fetchedRows(trace)) {
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
      // A low quantile, because other transfers also waited for a busy peer.
      transferLatency: latencies.length < MIN_LATENCIES ? PEER_LATENCY : quantile(latencies, 0.1),
    };
  // Without large transfers, latency and bandwidth cannot be separated.
  if (small.seconds > 0) return { bandwidth: small.bytes / small.seconds, transferLatency: 0 };
  // Workers of a cluster have separate memories, but a single worker had no transfers.
  return isApart(trace)
    ? { bandwidth: PEER_BANDWIDTH, transferLatency: PEER_LATENCY }
    : { bandwidth: Number.POSITIVE_INFINITY, transferLatency: 0 };
}

/** Returns true for a cluster with one worker, so that no transfer between workers was recorded. */
function isApart(trace: Trace): boolean {
  return trace.workers.length === 1 && !isOfPool(trace, 0);
}

/** Returns the bytes that each thread may hold in memory. The threads of a worker share its memory limit. */
function memoryOf(trace: Trace): number {
  let smallest = Number.POSITIVE_INFINITY;
  for (const limit of trace.workers.memoryLimit) if (limit > 0) smallest = Math.min(smallest, limit);
  return (smallest * MEMORY_TARGET) / (threadsPerWorker(trace) || 1);
}
