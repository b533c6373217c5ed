// Finds the times in which Longpole prepared tasks for a submission: it compiles the graph and packs the arguments.
import { oncePer } from '../base/lookUps.js';
import { LOCAL_CLIENT } from '../protocol/clientNames.js';
import type { Trace } from '../trace/trace.js';
import { merged, type Span } from './spans.js';

/** Returns the spans in which Longpole prepared tasks on the program's thread, in order, if they are known. */
export const preparingSpans = oncePer(({ tasks, computations }: Trace): readonly Span[] => {
  const submitted = new Float64Array(computations.length).fill(Number.NaN);
  for (const [row, computation] of tasks.computation.entries())
    if (Number.isNaN(submitted[computation])) submitted[computation] = tasks.submitted[row]!;
  return merged(
    computations
      .map(({ client, start, prepared = Number.NaN }, at) => ({
        start: client === LOCAL_CLIENT ? start : prepared,
        stop: submitted[at]!,
      }))
      .filter(({ start, stop }) => stop > start),
  );
});
