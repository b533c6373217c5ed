// The durations of functions in earlier runs, so that the first batches of the next run have the right size.
import type { Plan } from '../graph/compile.js';
import type { CompletionColumns } from '../protocol/completionLog.js';

const known = new WeakMap<object, number>();

/** Returns expected seconds by function number + 1, 0 if unknown. Index 0 is for tasks without a function. */
export function expectedDurations(plan: Plan): Float64Array {
  const seconds = new Float64Array(plan.functions.length + 1);
  for (const [index, fn] of plan.functions.entries()) seconds[index + 1] = known.get(fn) ?? 0;
  return seconds;
}

/** Keeps the measured durations of a run. */
export function rememberDurations(plan: Plan, seconds: Float64Array): void {
  for (const [index, fn] of plan.functions.entries())
    if (seconds[index + 1]! > 0) known.set(fn, seconds[index + 1]!);
}

let seconds = new Float64Array(1024);

/** Returns the run time of each task in seconds. The array is valid until the next call. */
export function secondsOf({ starts, stops, count }: CompletionColumns): Float64Array {
  if (seconds.length < count) seconds = new Float64Array(count * 2);
  for (let index = 0; index < count; index++) seconds[index] = stops[index]! - starts[index]!;
  return seconds;
}
