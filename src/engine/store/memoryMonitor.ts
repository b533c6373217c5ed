// What a worker does about its memory, as Dask's workers do it: spill, pause, give up. Only decisions: who measures, spills
// and pauses is elsewhere, and time is what the readings say.
import { invalidArgument } from '../../base/errors.js';

/** Shares of the memory limit, or false: never. */
export interface MemoryThresholds {
  /** Of results in memory: beyond it results are spilled. Also where spilling for the sake of `spill` ends. Default 0.6. */
  readonly target: number | false;
  /** Of the process's memory: beyond it results are spilled, until `target` is reached. Default 0.7. */
  readonly spill: number | false;
  /** Of the process's memory: beyond it no task is started. Default 0.8. */
  readonly pause: number | false;
  /** Of the process's memory: beyond it, if spilling and collecting do not help, the worker is ended and replaced. Default 0.95. */
  readonly terminate: number | false;
}

export const DEFAULT_THRESHOLDS: MemoryThresholds = { target: 0.6, spill: 0.7, pause: 0.8, terminate: 0.95 };

/** Bytes, and seconds on any clock that does not go back. */
export interface MemoryReading {
  /** Of the process, or of a worker's isolate and its results. */
  readonly process: number;
  /** Results in memory. */
  readonly managed: number;
  /** Results on disk. */
  readonly spilled: number;
  /** 0: no limit. */
  readonly limit: number;
  readonly time: number;
  /** A task runs. */
  readonly busy?: boolean;
}

export type MemoryAction =
  /** Spill results until at most so many bytes of them are in memory. */
  | { readonly type: 'spill'; readonly untilBytes: number }
  /** Start no more tasks. */
  | { readonly type: 'pause' }
  /** Results fill the memory, faster than they go to disk or because they cannot: start no task at all, or again. */
  | { readonly type: 'full'; readonly full: boolean }
  /** Start tasks again. */
  | { readonly type: 'resume' }
  /** What was let go of may still be there: have the garbage collected. */
  | { readonly type: 'collect' }
  | { readonly type: 'terminate' };

export interface MemoryState {
  readonly paused: boolean;
  readonly full: boolean;
  /** `spill` has been passed, and `target` is not reached yet. */
  readonly spilling: boolean;
  /** Time of the last `collect`. */
  readonly collected: number;
  /** For how long `terminate` is passed and no result has gone to disk, in seconds; undefined: it is not passed. */
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

/** Seconds between two collections: one takes up to a tenth of a second when the heap is large. */
const COLLECT_EVERY = 2;
/** The same beyond `terminate`. */
const COLLECT_AT_LAST = 0.2;
/**
 * How long a worker may stay beyond `terminate` while nothing is spilled, in seconds. Much of it may be garbage, and results
 * on their way to a slow disk: a JavaScript isolate, unlike Python, lets go of memory when it likes. As long as results go
 * to disk the computation goes on, and ending the worker would only lose them.
 */
const PATIENCE = 2;
/**
 * Between two readings no more than this counts, in seconds. A machine that lets the worker stand still for longer gives it
 * no chance to collect garbage or to write either.
 */
const MOST_PER_READING = 0.5;
/**
 * Beyond this share of the limit patience ends, once garbage had a chance to go. Memory is looked at often while it grows, so
 * that 1.2 is hardly passed.
 */
const HOPELESS_SHARE = 1.1;
/** Beyond this one it ends at once. */
const LAST_SHARE = 1.2;

/**
 * What to do after a reading, and the state for the next one.
 *
 * @source the worker memory manager of Dask: results beyond `target` go to disk; the process beyond `spill` spills down to
 *   `target`; beyond `pause` it pauses, at or below it goes on; beyond `terminate` it ends, here after a moment in which
 *   nothing was spilled and garbage may go
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

  // Without a target there is no hysteresis: spilling ends where it began.
  const goal = (thresholds.target || thresholds.spill || 1) * limit;
  const goesOn = state.spilling && thresholds.spill !== false && limit > 0 && process > goal;
  const spilling = above(process, thresholds.spill) || goesOn;
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

/** If `terminate` is passed still. */
function secondsBeyond({ beyondFor, time: before }: MemoryState, time: number): number {
  return beyondFor === undefined ? 0 : beyondFor + Math.min(time - before, MOST_PER_READING);
}

/**
 * Results are what fills the memory: without them there would be room. Ending the worker would lose them, and those that are
 * computed again would fill the next one.
 */
function isFull({ process, managed, limit }: MemoryReading, { pause, terminate }: MemoryThresholds): boolean {
  const last = terminate || (pause === false ? Number.POSITIVE_INFINITY : 1);
  // A task that runs needs room, too.
  const most = ((last + (pause || last)) / 2) * limit;
  return limit > 0 && process > most && process - managed <= most;
}

/** Remembers the state between readings, which come every 100 ms or so. */
export class MemoryMonitor {
  readonly #thresholds: MemoryThresholds;
  #state = CALM;

  /** @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT unless the thresholds are above 0, at most 1, and in order */
  constructor(thresholds: Partial<MemoryThresholds> = {}) {
    this.#thresholds = { ...DEFAULT_THRESHOLDS, ...thresholds };
    checkThresholds(this.#thresholds);
  }

  get paused(): boolean {
    return this.#state.paused;
  }

  update(reading: MemoryReading): MemoryAction[] {
    const { state, actions } = decideMemory(this.#state, reading, this.#thresholds);
    this.#state = state;
    return actions;
  }
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
