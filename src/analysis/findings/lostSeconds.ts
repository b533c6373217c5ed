// Computes what the loss of workers cost a run: the part of its critical path in which threads repeated work.
import type { LostWorker } from '../lostWork.js';
import { TimeBins } from '../timeBins.js';
import { BINS, type Facts } from './finding.js';

/**
 * Returns seconds of the critical path. If the path computes a task, its time counts if the task was a repetition. If
 * the path waits, the time counts by the share of the threads that repeated a task or ran a task that was lost later.
 */
export function lostSeconds(facts: Facts, lost: readonly LostWorker[]): number {
  const { kind, start, stop, length } = facts.path.columns;
  const [compute, recomputed] = [facts.kindNumber('compute'), facts.kindNumber('recomputed')];
  const wastedUntil = wastedSeconds(facts, lost);
  let seconds = 0;
  for (let part = 0; part < length; part++) {
    if (kind[part] === recomputed) seconds += stop[part]! - start[part]!;
    else if (kind[part] !== compute) seconds += wastedUntil(stop[part]!) - wastedUntil(start[part]!);
  }
  return seconds;
}

/** Returns a function from a time to the seconds wasted until then, divided by the number of busy threads. */
function wastedSeconds(facts: Facts, lost: readonly LostWorker[]): (time: number) => number {
  const { start, stop } = facts.path;
  const { started, stopped } = facts.trace.tasks;
  const [again, cut] = [new TimeBins(start, stop, BINS), new TimeBins(start, stop, BINS)];
  for (const worker of lost) {
    for (const row of worker.again) again.add(started[row]!, stopped[row]!);
    for (const from of cutStarts(facts, worker)) cut.add(from, worker.time);
  }
  const [repeating, cutOff] = [again.means(), cut.means()];
  const sums = new Float64Array(BINS + 1);
  for (let bin = 0; bin < BINS; bin++) {
    // Lost runs have no recorded times, so `running` does not count them.
    const together = Math.max(1, facts.running[bin]! + cutOff[bin]!);
    const share = Math.min(1, (repeating[bin]! + cutOff[bin]!) / together);
    sums[bin + 1] = sums[bin]! + share * again.width;
  }
  return (time) => {
    const at = Math.min(BINS, Math.max(0, (time - start) / again.width));
    const bin = Math.min(BINS - 1, Math.floor(at));
    return sums[bin]! + (at - bin) * (sums[bin + 1]! - sums[bin]!);
  };
}

/**
 * Estimates the start times of the runs that ended with the worker. Each run starts on a thread of the worker after
 * that thread's last task, and after the run was sent to the worker.
 */
function cutStarts({ trace, lanes }: Facts, { row: worker, cut }: LostWorker): number[] {
  const { dispatched, stopped } = trace.tasks;
  const sent = cut.map((row) => dispatched[row]!).filter((time) => !Number.isNaN(time));
  const free: number[] = [];
  for (let lane = 0; lane < lanes.count; lane++) {
    if (lanes.worker[lane] !== worker) continue;
    free.push(stopped[lanes.spans.latest[lanes.offsets[lane + 1]! - 1]!]!);
  }
  const threads = Math.max(1, trace.workers.threads[worker]! || 0, free.length);
  free.sort((a, b) => a - b);
  // A worker receives more tasks than it runs at the same time.
  return sent
    .sort((a, b) => a - b)
    .slice(0, threads)
    .map((time, thread) => Math.max(time, free[thread] ?? time));
}
