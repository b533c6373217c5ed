// What the loss of workers cost a run: the part of its critical path in which threads did again what had been done.
import type { LostWorker } from '../lostWork.js';
import { TimeBins } from '../timeBins.js';
import { BINS, type Facts } from './finding.js';

/**
 * Seconds of the critical path. Where the path computes a task, that time counts if the task was computed again. Where the path
 * waits, the share of the threads counts that computed something again, or something that was cut off.
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

/** Time → seconds up to it that threads wasted, divided by how many threads had something to do. */
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
    // Runs that were cut off have no times of their own: they are not among those that ran.
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

/** When runs began that were cut off: each on a thread of the worker, after the last task there and after they were sent. */
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
  // A worker has been sent more than it runs at a time.
  return sent
    .sort((a, b) => a - b)
    .slice(0, threads)
    .map((time, thread) => Math.max(time, free[thread] ?? time));
}
