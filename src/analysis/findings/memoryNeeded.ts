import { bytesText } from '../../base/words.js';
import { MEMORY_TARGET } from '../simulation/conditions.js';
import type { Facts } from './finding.js';

/** Share of the limit from which a worker pauses, by the bytes of its process. */
const PAUSE = 0.8;

/** The memory limit of a worker, and which one would have been enough: nothing is spilled, and no worker pauses. */
export function memoryNeeded({ trace }: Facts): {
  /** Bytes, the smallest of all workers; 0: there is none. */
  readonly limit: number;
  readonly enough: number;
  readonly advice: string;
} {
  const limits = trace.workers.memoryLimit.filter((one) => one > 0);
  const limit = limits.length === 0 ? 0 : Math.min(...limits);
  const { length, managed, unmanaged, spilled } = trace.memory;
  let enough = 0;
  for (let row = 0; row < length; row++) {
    const held = (managed[row]! || 0) + (spilled[row]! || 0);
    enough = Math.max(enough, held / MEMORY_TARGET, (held + (unmanaged[row]! || 0)) / PAUSE);
  }
  const advice =
    enough > limit && limit > 0
      ? `A memory limit of ${bytesText(enough)} per worker instead of ${bytesText(limit)} would have kept all results in memory; else use smaller blocks.`
      : 'Raise the memory limit, use smaller blocks, or reduce early what is held for long.';
  return { limit, enough, advice };
}
