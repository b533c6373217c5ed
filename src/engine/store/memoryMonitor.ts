// Decides what a worker does about its memory, like Dask's workers: spill, pause, terminate. Other files measure,
// spill and pause. The time is that of the readings.

import { invalidArgument } from '../../base/errors.js';
import type { MemoryThresholds } from '../../protocol/workerMessages.js';

export const DEFAULT_THRESHOLDS: MemoryThresholds = { target: 0.6, spill: 0.7, pause: 0.8, terminate: 0.95 };

/** Sizes in bytes, and seconds on any clock that never decreases. */
export interface MemoryReading {
  /** Memory of the process, or of a worker's isolate and its results. */
  readonly process: number;
  /** Results in memory. */
  readonly managed: number;
  /** Results on disk. */
  readonly spilled: number;
  /** Memory limit; 0 for none. */
  readonly limit: number;
  readonly time: number;
  /** True while a task runs. */
  readonly busy?: boolean;
}

export type MemoryAction =
  /** Spill results until at most this many bytes of them are in memory. */
  | { readonly type: 'spill'; readonly untilBytes: number }
  /** Start no more tasks. */
  | { readonly type: 'pause' }
  /**
   * Start no task at all, or start tasks again. Results fill the memory, because they arrive faster than they are
   * spilled, or cannot be spilled.
   */
  | { readonly type: 'full'; readonly full: boolean }
  /** Start tasks again. */
  | { readonly type: 'resume' }
  /** Collect garbage, because released memory may still be in use. */
  | { readonly type: 'collect' }
  | { readonly type: 'terminate' };

export interface MemoryState {
  readonly paused: boolean;
  readonly full: boolean;
  /** True after `spill` was exceeded and until `target` is reached. */
  readonly spilling: boolean;
  /** Time of the last `collect`. */
  readonly collected: number;
  /** Seconds for which `terminate` has been exceeded without any spilled result; undefined if it is not exceeded. */
  readonly beyondFor: number | undefined;
  /** Time of the last reading. */
  readonly time: number;
  /** Bytes of results on disk at the last reading. */
  readonly spilled: number;
}

export const CALM: MemoryState = {
  paused: false,
  full: false,
  spilling: false,
  collected: Number.NEGATIVE_INFINITY,
  beyondFor: undefined,
  time: Number.NEGATIVE_INFINITY,
  spilled: 0,
};

/** Seconds between two collections, because a collection of a large heap takes up to a tenth of a second. */
const COLLECT_EVERY = 2;
/** Seconds between two collections beyond `terminate`. */
const COLLECT_AT_LAST = 0.2;
/**
 * Seconds that a worker may stay beyond `terminate` while nothing is spilled. Much of the memory may be garbage, or
 * results on their way to a slow disk. Unlike Python, V8 does not free memory immediately. While results go to disk,
 * the computation continues, and terminating the worker would only lose them.
 */
const PATIENCE = 2;
/**
 * Most seconds that count between two readings. A machine that suspends the worker for longer gives it no time to
 * collect garbage or to write either.
 */
const MOST_PER_READING = 0.5;
/**
 * Share of the limit beyond which patience ends, once garbage could be collected. Readings are frequent while memory
 * grows, so that 1.2 is hardly exceeded.
 */
const HOPELESS_SHARE = 1.1;
/** Share of the limit beyond which the worker is terminated at once. */
const LAST_SHARE = 1.2;

/**
 * Returns the actions after a reading, and the state for the next one.
 *
 * @source the worker memory manager of Dask: results beyond `target` go to disk; the process beyond `spill` spills
 * down to `target`; beyond `pause` it pauses, and below it resumes; beyond `terminate` it ends. Here it ends only
 * after some time in which nothing was spilled and garbage could be collected.
 */
export function decideMemory(
  state: MemoryState,
  reading: MemoryReading,
  thresholds: MemoryThresholds,
): { readonly state: MemoryState; readonly actions: MemoryAction[] } {
  const { process, managed, spilled, limit, time } = reading;
  const actions: MemoryAction[] = [];
  const above = (bytes: number, share: number | false): boolean =>
    share !== false && limit > 0 && bytes > share * limit;
  const full = isFull(reading, thresholds);
  const waited = full || spilled > state.spilled ? 0 : secondsBeyond(state, time);
  const beyondFor = above(process, thresholds.terminate) ? waited : undefined;
  const most = state.beyondFor === undefined ? LAST_SHARE : HOPELESS_SHARE;
  const isHopeless = process > most * limit && !(full && reading.busy !== true);
  if (beyondFor !== undefined && (beyondFor >= PATIENCE || isHopeless))
    return { state: { ...state, beyondFor, spilled, time }, actions: [{ type: 'terminate' }] };

  // Without a target there is no hysteresis: spilling ends at the threshold where it started.
  const goal = (thresholds.target || thresholds.spill || 1) * limit;
  const continues = state.spilling && thresholds.spill !== false && limit > 0 && process > goal;
  const spilling = above(process, thresholds.spill) || continues;
  let untilBytes = Number.POSITIVE_INFINITY;
  if (above(managed, thresholds.target)) untilBytes = goal;
  if (spilling) untilBytes = Math.min(untilBytes, Math.max(0, managed - (process - goal)));
  if (untilBytes < managed) actions.push({ type: 'spill', untilBytes });

  const paused = above(process, thresholds.pause);
  if (paused !== state.paused) actions.push({ type: paused ? 'pause' : 'resume' });
  if (full !== state.full) actions.push({ type: 'full', full });
  const every = beyondFor === undefined ? COLLECT_EVERY : COLLECT_AT_LAST;
  const collect = (paused || spilling) && time - state.collected >= every;
  if (collect) actions.push({ type: 'collect' });
  return {
    state: { paused, full, spilling, collected: collect ? time : state.collected, beyondFor, spilled, time },
    actions,
  };
}

/** Returns the seconds beyond `terminate`, if it is still exceeded. */
function secondsBeyond({ beyondFor, time: before }: MemoryState, time: number): number {
  return beyondFor === undefined ? 0 : beyondFor + Math.min(time - before, MOST_PER_READING);
}

/**
 * Returns whether results fill the memory, so that without them there would be room. Terminating the worker would
 * lose them, and recomputed results would fill the next one.
 */
function isFull({ process, managed, limit }: MemoryReading, { pause, terminate }: MemoryThresholds): boolean {
  const last = terminate || (pause === false ? Number.POSITIVE_INFINITY : 1);
  // A running task needs room too.
  const most = ((last + (pause || last)) / 2) * limit;
  return limit > 0 && process > most && process - managed <= most;
}

/**
 * Returns a function that decides on readings, which come every 100 ms or so, and keeps the state between them.
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT unless the thresholds are above 0, at most 1, and in order
 */
export function memoryMonitor(
  thresholds: Partial<MemoryThresholds> = {},
): (reading: MemoryReading) => MemoryAction[] {
  const all = { ...DEFAULT_THRESHOLDS, ...thresholds };
  checkThresholds(all);
  let state = CALM;
  return (reading) => {
    const decision = decideMemory(state, reading, all);
    state = decision.state;
    return decision.actions;
  };
}

function checkThresholds(thresholds: MemoryThresholds): void {
  let lower = 0;
  for (const name of ['target', 'spill', 'pause', 'terminate'] as const) {
    const share = thresholds[name];
    if (share === false) continue;
    if (!(share > 0 && share <= 1 && share >= lower)) {
      throw invalidArgument(
        `The memory threshold ${name} is ${String(share)}. Pass false, or a share of the memory limit above 0 and at most 1; ` +
          'target ≤ spill ≤ pause ≤ terminate.',
      );
    }
    lower = share;
  }
}
