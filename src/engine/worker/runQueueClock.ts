// How long this thread was ready to run and had to wait for a core. Only the system knows: for the CPU clock a thread that
// waits for a core is the same as one that sleeps.
import { closeSync, openSync, readSync } from 'node:fs';

/** Seconds since the thread began that it waited for a core; NaN once they cannot be read. */
export type RunQueueClock = () => number;

/** Nanoseconds on a core, nanoseconds in the run queue, times that it was given a core. */
const FILE = '/proc/thread-self/schedstat';
/** Three numbers of at most 20 digits. */
const FILE_BYTES = 64;
const [SPACE, ZERO] = [32, 48];

/**
 * The clock of the calling thread: 0.6 µs a reading, as the CPU clock. Undefined where the system has none: macOS, Windows,
 * kernels without scheduler statistics, containers that hide the file. Node closes the file when the thread ends.
 */
export function runQueueClock(path = FILE): RunQueueClock | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return undefined;
  }
  const bytes = new Uint8Array(FILE_BYTES);
  const field = (number: number): number => {
    try {
      return fieldOf(bytes, readSync(file, bytes, 0, FILE_BYTES, 0), number);
    } catch {
      return Number.NaN;
    }
  };
  // A thread that reads has been given a core: where that was never counted, the kernel counts nothing.
  if (field(2) > 0) return () => field(1) / 1e9;
  closeSync(file);
  return undefined;
}

/** The number after so many spaces; NaN if there is none. */
function fieldOf(bytes: Uint8Array, length: number, number: number): number {
  let at = 0;
  for (let skipped = 0; skipped < number && at < length; at++) if (bytes[at] === SPACE) skipped++;
  let value = Number.NaN;
  for (; at < length && bytes[at]! >= ZERO && bytes[at]! <= ZERO + 9; at++)
    value = (value || 0) * 10 + (bytes[at]! - ZERO);
  return value;
}
