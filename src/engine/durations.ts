// How long a function's tasks took in earlier runs, so that the next run's first batches already have the right size.
import type { Plan } from '../graph/compile.js';

const known = new WeakMap<object, number>();

/** Function number + 1 → expected seconds, 0 if unknown; the place of -1 is for tasks that call no function. */
export function expectedDurations(plan: Plan): Float64Array {
  const seconds = new Float64Array(plan.functions.length + 1);
  for (const [index, fn] of plan.functions.entries()) seconds[index + 1] = known.get(fn) ?? 0;
  return seconds;
}

/** Keeps what a run has learnt. */
export function rememberDurations(plan: Plan, seconds: Float64Array): void {
  for (const [index, fn] of plan.functions.entries())
    if (seconds[index + 1]! > 0) known.set(fn, seconds[index + 1]!);
}
