// Counts the computations of a run, in the way of the engine that ran it.
import { checkArgument, TRACE } from '../base/arguments.js';
import type { Trace } from '../trace/trace.js';
import { isRemote } from './workerLives.js';

interface Busy {
  /** Seconds since the epoch; -Infinity if it began before the recording. */
  readonly start: number;
  readonly stop: number;
  /** True if a submitted graph began the span, false if a task ran again. */
  readonly isGraph: boolean;
}

/**
 * Returns the number of computations. Longpole counts each compute, submit and map. In Dask, a graph that arrives
 * before all tasks have finished belongs to the previous computation, so a loop of `client.submit` is one computation.
 * Scattered data is none.
 */
export function computationCount(trace: Trace): number {
  checkArgument('computationCount(): trace', trace, TRACE);
  if (!isRemote(trace)) return trace.computations.length;
  let [count, busyUntil] = [0, Number.NEGATIVE_INFINITY];
  for (const { start, stop, isGraph } of busyTimes(trace).sort((a, b) => a.start - b.start || 0)) {
    if (isGraph && (count === 0 || start >= busyUntil)) count++;
    busyUntil = Math.max(busyUntil, stop);
  }
  return count;
}

/** Returns the time span of each graph until its last task has finished, and of each task that ran again. */
function busyTimes({ computations, tasks }: Trace): Busy[] {
  const stops = new Float64Array(computations.length).fill(Number.NEGATIVE_INFINITY);
  const times: Busy[] = [];
  for (let row = 0; row < tasks.length; row++) {
    const stop = tasks.acknowledged[row]!;
    const computation = tasks.computation[row]!;
    if (tasks.attempt[row]! > 1) times.push({ start: tasks.ready[row]! || stop, stop, isGraph: false });
    else if (computation >= 0) stops[computation] = Math.max(stops[computation]!, stop);
  }
  for (const [index, { start }] of computations.entries()) {
    const stop = stops[index]!;
    const known = Number.isNaN(start) ? Number.NEGATIVE_INFINITY : start;
    if (stop > Number.NEGATIVE_INFINITY) times.push({ start: known, stop, isGraph: true });
  }
  return times;
}
