// When was each result held? A result enters the cache when its task stops, and leaves it when the last task that needs it
// stops; what the caller asked for is held until the run ends, and so is what a failed run left unused.
import type { RunRecording } from './runRecording.js';

/** Parallel columns, in the order in which the results were let go. */
export interface CacheLifetimes {
  readonly ids: Int32Array;
  /** Seconds since the epoch. */
  readonly cacheTimes: Float64Array;
  readonly freeTimes: Float64Array;
}

/**
 * One entry per task that finished. While the run goes on, only results that were already let go are listed. A task that ran
 * again because its result was lost counts from its last run. Cost: one pass over the rows and their dependents.
 */
export function cacheLifetimes(recording: RunRecording): CacheLifetimes {
  const { tasks, computation, dependentOffsets, dependents, requested } = recording;
  const { size } = computation;
  const stopOf = new Float64Array(size).fill(Number.NaN);
  let last = computation.submitted;
  for (let row = 0; row < tasks.length; row++) {
    const stop = tasks.stopTimes[row]!;
    stopOf[tasks.ids[row]!] = stop;
    if (stop > last) last = stop;
  }
  // Clocks of other processes may run slightly ahead of the caller's: the run ends no earlier than its last task.
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
    // A dependent that has not stopped makes Math.max return NaN: the result is still held.
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
