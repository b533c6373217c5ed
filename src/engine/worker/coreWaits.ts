// Measures how long each task of a thread waited for a core. A reading of the run queue's clock costs as much as an
// empty task, so consecutive short tasks share readings.
import { closeSync, openSync, readSync } from 'node:fs';
import { attempt } from '../../base/errors.js';
import { once } from '../../base/lookUps.js';

/** Seconds for which tasks share a reading. */
const WINDOW_SECONDS = 1e-4;

export class CoreWaits {
  readonly #clock: RunQueueClock | undefined;
  /** Last reading of the clock, and its time; NaN if unknown. */
  #queued = Number.NaN;
  #queuedAt = Number.NEGATIVE_INFINITY;

  /** @param clock without it, waits for a core are unknown */
  constructor(clock: RunQueueClock | undefined) {
    this.#clock = clock;
  }

  /** Returns the reading to pass to `until` when a task starts at `start`. Its error is at most its age. */
  from(start: number): number {
    if (start - this.#queuedAt >= WINDOW_SECONDS) this.#read(start);
    return this.#queued;
  }

  /**
   * Returns the seconds in which a task waited for a core from `start` to `stop`, within 0.1 ms; 0 for shorter tasks,
   * NaN if unknown.
   */
  until(before: number, start: number, stop: number): number {
    const wall = stop - start;
    if (wall < WINDOW_SECONDS) return Number.isNaN(this.#queued) ? Number.NaN : 0;
    this.#read(stop);
    return Math.min(wall, this.#queued - before);
  }

  #read(now: number): void {
    if (this.#clock === undefined) return;
    this.#queued = this.#clock();
    this.#queuedAt = now;
  }
}

/** Returns the waits of the calling thread. All callers share one, because its file stays open. */
export const coreWaitsOfThread = once(() => new CoreWaits(runQueueClock()));

/**
 * Returns the seconds in which the thread waited for a core since its start; NaN once they cannot be read. Linux 6.18
 * sometimes counts a part of a sleep, too: of 50 ms in 2 of 1000 cases on a busy machine, and more than 40 ms of them in 1 of
 * 1000 (measured).
 */
type RunQueueClock = () => number;

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
  const file = attempt(() => openSync(path, 'r'), undefined);
  if (file === undefined) return undefined;
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
