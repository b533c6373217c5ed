// How many computations a run had, in the words of the engine that ran it.
import type { Trace } from '../trace/trace.js';
import { isRemote } from './simulation/machine.js';

/** A time in which tasks were to run; `isGraph`: it begins with a graph that was submitted. */
interface Busy {
  /** -Infinity: before the watching began. */
  readonly start: number;
  readonly stop: number;
  readonly isGraph: boolean;
}

/**
 * Longpole counts each compute, submit and map. Dask's scheduler takes a graph that arrives while tasks are still to run for a
 * part of the computation before, so that a loop of `client.submit` is one. Data that was scattered is none.
 */
export function computationCount(trace: Trace): number {
  if (!isRemote(trace)) return trace.computations.length;
  let [count, busyUntil] = [0, Number.NEGATIVE_INFINITY];
  for (const { start, stop, isGraph } of busyTimes(trace).sort((a, b) => a.start - b.start || 0)) {
    if (isGraph && (count === 0 || start >= busyUntil)) count++;
    busyUntil = Math.max(busyUntil, stop);
  }
  return count;
}

/** Graphs until their last task has run, and what ran again later. */
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
