// Finds in which part of a run each worker existed. Workers join, leave and are replaced.
import type { Trace } from '../trace/trace.js';
import { lanesOf } from './lanes.js';
import type { Window } from './path/pathWalk.js';
import { threadsOf } from './workerStarts.js';

/** Returns the part of a window in which a worker existed: all of it if the trace does not record its times. */
export function lifeOf({ workers }: Trace, row: number, { start, stop }: Window): Window {
  const from = Math.max(start, workers.started[row] || start);
  return { start: from, stop: Math.max(from, Math.min(stop, workers.stopped[row] || stop)) };
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
