// How many computations a run had, in the words of the engine that ran it.
import type { Trace } from '../trace/trace.js';
import { isRemote } from './simulation/machine.js';

/**
 * Longpole counts each compute, submit and map. Dask's scheduler takes a graph that arrives while tasks are still to run for a
 * part of the computation before, so that a loop of `client.submit` is one. Data that was scattered is none.
 */
export function computationCount(trace: Trace): number {
  const { computations } = trace;
  if (!isRemote(trace)) return computations.length;
  const ran = computations.filter(({ stop }) => !Number.isNaN(stop));
  // NaN: submitted before the watching began.
  const startOf = (start: number): number => (Number.isNaN(start) ? Number.NEGATIVE_INFINITY : start);
  let [count, busyUntil] = [0, Number.NaN];
  for (const { start, stop } of ran.toSorted((a, b) => Math.sign(startOf(a.start) - startOf(b.start)) || 0)) {
    if (!(startOf(start) < busyUntil)) count++;
    if (!(stop <= busyUntil)) busyUntil = stop;
  }
  return count;
}
