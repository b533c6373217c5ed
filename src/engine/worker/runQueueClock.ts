// Measures how long this thread was ready to run but had no core. Only the system has this figure, because the CPU
// clock does not distinguish a thread that waits for a core from a sleeping one.
import { closeSync, openSync, readSync } from 'node:fs';

/** Returns the seconds in which the thread waited for a core since its start; NaN once they cannot be read. */
export type RunQueueClock = () => number;

/** The file has nanoseconds on a core, nanoseconds in the run queue, and the number of times on a core. */
const FILE = '/proc/thread-self/schedstat';
/** Bytes for three numbers of at most 20 digits. */
const FILE_BYTES = 64;
const [SPACE, ZERO] = [32, 48];

/**
 * Returns the clock of the calling thread. A reading takes 0.6 µs, like the CPU clock. Undefined on systems without
 * it: macOS, Windows, kernels without scheduler statistics, and containers that hide the file. Node closes the file
 * when the thread ends.
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
  // A thread that reads has a core. If that was never counted, the kernel counts nothing.
  if (field(2) > 0) return () => field(1) / 1e9;
  closeSync(file);
  return undefined;
}

/** Returns the number after the given number of spaces; NaN if there is none. */
function fieldOf(bytes: Uint8Array, length: number, number: number): number {
  let at = 0;
  for (let skipped = 0; skipped < number && at < length; at++) if (bytes[at] === SPACE) skipped++;
  let value = Number.NaN;
  for (; at < length && bytes[at]! >= ZERO && bytes[at]! <= ZERO + 9; at++)
    value = (value || 0) * 10 + (bytes[at]! - ZERO);
  return value;
}
