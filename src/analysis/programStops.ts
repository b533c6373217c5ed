// Finds the times in which the program did not run, e.g. because Ctrl-Z, SIGSTOP or a debugger had stopped it. A thread of the
// program takes ten samples of the host per second while a computation is in progress, also while all other threads compute.
import { oncePer } from '../base/lookUps.js';
import type { Trace } from '../trace/trace.js';
import type { Span } from './spans.js';
import { isRemote } from './workerLives.js';

/** Seconds without a sample from which the program counts as stopped. A thread waits for a core for a shorter time. */
const MIN_STOP = 2;

/**
 * Returns the times in order, without overlap. In each of them the host had no sample, the scheduler did nothing, and a task
 * was in progress. The samples of a Dask cluster come from its scheduler, and show no stops of a program.
 */
export const programStops = oncePer((trace: Trace): readonly Span[] => {
  if (isRemote(trace)) return [];
  const { submitted, dispatched, acknowledged } = trace.tasks;
  return gapsOfSamples(trace).flatMap(({ start, stop }) => {
    const inside = [submitted, dispatched, acknowledged]
      .flatMap((times) => [...times.filter((time) => time > start && time < stop)])
      .sort((a, b) => a - b);
    const silence = longest([start, ...inside, stop]);
    // Between computations there are no samples.
    const isAwaited = submitted.some((time, row) => time <= start && acknowledged[row]! >= silence.stop);
    return isAwaited && silence.stop - silence.start >= MIN_STOP ? [silence] : [];
  });
});

function gapsOfSamples({ resources: { worker, time } }: Trace): Span[] {
  const times = time.filter((_, row) => worker[row] === -1).sort();
  return Array.from(times.subarray(1), (stop, at) => ({ start: times[at]!, stop })).filter(
    ({ start, stop }) => stop - start >= MIN_STOP,
  );
}

/** Returns the longest time between neighbours. */
function longest(times: readonly number[]): Span {
  return times
    .slice(1)
    .map((stop, at) => ({ start: times[at]!, stop }))
    .reduce((one, other) => (other.stop - other.start > one.stop - one.start ? other : one));
}
