// Finds in which part of a run each worker existed. Workers join, leave and are replaced.
import { oncePer } from '../base/lookUps.js';
import type { Trace } from '../trace/trace.js';
import { isRemote } from './daskWorkers.js';
import { lanesOf } from './lanes.js';
import type { Window } from './path/pathWalk.js';
import { ownStarts, threadsOf } from './workerStarts.js';

/**
 * Returns since when each worker existed; NaN if the trace does not record it. The workers that a Dask cluster has when its
 * observation begins are recorded then, and may run tasks that began before. Computed once per trace.
 */
export const existsSince = oncePer((trace: Trace): Float64Array => {
  if (!isRemote(trace)) return trace.workers.started;
  const own = ownStarts(trace);
  return trace.workers.started.map((time, row) => Math.min(time, own[row]!));
});

/** Returns the part of a window in which a worker existed: all of it if the trace does not record its times. */
export function lifeOf(trace: Trace, row: number, { start, stop }: Window): Window {
  const from = Math.max(start, existsSince(trace)[row] || start);
  return { start: from, stop: Math.max(from, Math.min(stop, trace.workers.stopped[row] || stop)) };
}

/** Returns the sum of the times in which threads existed in a window. */
export function threadSeconds(trace: Trace, window: Window): number {
  const unnamed = lanesOf(trace).worker.filter((row) => row < 0).length;
  return threadsOf(trace).reduce(
    (sum, threads, row) => {
      const { start, stop } = lifeOf(trace, row, window);
      return sum + Math.max(1, threads) * (stop - start);
    },
    unnamed * (window.stop - window.start),
  );
}
