// The size of this process, which all workers in it read often.
import { attempt } from '../base/errors.js';

/** Time for which a measured size is reused, in milliseconds: half the time between two polls of a worker. */
const RSS_MS = 5;

let last = { bytes: Number.NaN, at: Number.NEGATIVE_INFINITY };

/**
 * Returns the resident bytes of this process. A measurement takes 10 to 80 µs, because the kernel adds up all threads. While
 * the limit of open files prevents a measurement, returns the previous one; NaN if there is none.
 */
export function processRss(): number {
  const now = performance.now();
  // Node opens a file of /proc. A program that has used up its files must not end because of a measurement.
  if (now - last.at > RSS_MS) last = { bytes: attempt(() => process.memoryUsage.rss(), last.bytes), at: now };
  return last.bytes;
}
