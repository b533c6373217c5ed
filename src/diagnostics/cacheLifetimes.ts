// Computes when each result was held. A result enters the cache when its task stops, and leaves the cache when its last
// dependent stops. Requested results, and results that a failed run left unused, are held until the end of the run.
import type { RunRecording } from './runRecording.js';

/**
 * Returns one entry per finished task, in the order in which the results were released. Times are seconds since the
 * epoch. During the run, only released results are listed. A task that ran again because its result was lost counts
 * from its last run. Cost: one pass over the rows and their dependents.
 */
export function cacheLifetimes(recording: RunRecording) {
  const { tasks, computation, dependentOffsets, dependents, requested } = recording;
  const { size } = computation;
  const stopOf = new Float64Array(size).fill(Number.NaN);
  let last = computation.submitted;
  for (let row = 0; row < tasks.length; row++) {
    const stop = tasks.stopTimes[row]!;
    stopOf[tasks.ids[row]!] = stop;
    if (stop > last) last = stop;
  }
  // Clocks of other processes may run slightly ahead, but the run ends no earlier than its last task.
  const end = Number.isNaN(recording.endTime) ? Number.NaN : Math.max(recording.endTime, last);

  const freeOf = new Float64Array(size);
  const ids = new Int32Array(tasks.length);
  let count = 0;
  for (let id = 0; id < size; id++) {
    const stop = stopOf[id]!;
    if (Number.isNaN(stop)) continue;
    const from = dependentOffsets[id]!;
    const to = dependentOffsets[id + 1]!;
    let free = requested[id] === 1 || from === to ? end : stop;
    // Math.max returns NaN if a dependent has not stopped. The result is still held then.
    for (let i = from; i < to; i++) free = Math.max(free, stopOf[dependents[i]!]!);
    if (Number.isNaN(free)) free = end;
    if (Number.isNaN(free)) continue;
    freeOf[id] = free;
    ids[count++] = id;
  }
  const order = ids.subarray(0, count).sort((a, b) => freeOf[a]! - freeOf[b]! || stopOf[a]! - stopOf[b]!);
  return {
    ids: order,
    cacheTimes: Float64Array.from(order, (id) => stopOf[id]!),
    freeTimes: Float64Array.from(order, (id) => freeOf[id]!),
  };
}
