import { bytesText } from '../../base/words.js';
import { MEMORY_TARGET } from '../simulation/conditions.js';
import { spilledResults } from '../spilledResults.js';
import type { Facts } from './finding.js';

/**
 * Ratio of a process's memory to its limit, from which its results are spilled. @source Dask's `distributed.worker.memory.spill`
 */
const SPILL = 0.7;

/**
 * Returns the memory limit of a worker, and the least limit at which no worker might have spilled results or paused. With more
 * memory, a process collects garbage less often, so it may need more than this.
 */
export function memoryNeeded({ trace }: Facts): {
  /** Smallest memory limit of a worker, bytes; 0 if no worker has a limit. */
  readonly limit: number;
  readonly enough: number;
  readonly advice: string;
} {
  const limits = trace.workers.memoryLimit.filter((one) => one > 0);
  const limit = limits.length === 0 ? 0 : Math.min(...limits);
  const { length, managed, unmanaged, spilled } = trace.memory;
  // Results on disk may be compressed.
  const { ratio } = spilledResults(trace);
  let enough = 0;
  for (let row = 0; row < length; row++) {
    const held = (managed[row]! || 0) + (spilled[row]! || 0) * ratio;
    enough = Math.max(enough, held / MEMORY_TARGET, (held + (unmanaged[row]! || 0)) / SPILL);
  }
  const advice =
    enough > limit && limit > 0
      ? `Raise the memory limit per worker from ${bytesText(limit)} to at least ${bytesText(enough)}, or use smaller blocks.`
      : 'Raise the memory limit, use smaller blocks, or reduce results early that stay in memory for long.';
  return { limit, enough, advice };
}
