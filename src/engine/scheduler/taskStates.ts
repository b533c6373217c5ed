// Dask's task states, the transitions between them, and the log of each task's transitions.
import { resizedInt32 } from '../../base/resized.js';

export const RELEASED = 0;
export const WAITING = 1;
export const QUEUED = 2;
export const PROCESSING = 3;
export const MEMORY = 4;
export const ERRED = 5;
export const FORGOTTEN = 6;

/**
 * Names by number. `released`: not requested yet; `waiting`: for dependencies; `queued`: could run; `processing`:
 * sent to a worker.
 */
export const STATE_NAMES = [
  'released',
  'waiting',
  'queued',
  'processing',
  'memory',
  'erred',
  'forgotten',
] as const;

export type StateName = (typeof STATE_NAMES)[number];

/**
 * State → bit set of the possible next states. The loss of a worker moves tasks back from processing, memory and
 * forgotten, and a retry from erred and forgotten. An import enters memory together with its original. A task that is not needed any more becomes forgotten
 * from any state.
 */
const TRANSITIONS: readonly number[] = [
  bits(WAITING, QUEUED, MEMORY, ERRED, FORGOTTEN),
  bits(QUEUED, PROCESSING, RELEASED, MEMORY, ERRED, FORGOTTEN),
  bits(PROCESSING, WAITING, RELEASED, ERRED, FORGOTTEN),
  bits(MEMORY, ERRED, WAITING, QUEUED, RELEASED, FORGOTTEN),
  bits(FORGOTTEN, RELEASED, ERRED),
  bits(RELEASED, FORGOTTEN),
  bits(RELEASED),
];

function bits(...states: number[]): number {
  return states.reduce((set, state) => set | (1 << state), 0);
}

/** Returns whether a task in this state needs no further work. */
export function isSettled(state: number): boolean {
  return state === MEMORY || state === FORGOTTEN || state === ERRED;
}

export function isAllowed(from: number, to: number): boolean {
  return ((TRANSITIONS[from]! >>> to) & 1) === 1;
}

/** A transition of one task. `step` counts the transitions of the whole scheduler. */
export interface Transition {
  readonly step: number;
  readonly id: number;
  readonly from: StateName;
  readonly to: StateName;
  /** Worker index, or -1. */
  readonly worker: number;
}

/** Transitions for which a log has room at first. */
const FIRST_TRANSITIONS = 256;

/** The last transitions of a scheduler, in a ring buffer. Recording costs two stores, so the log is always on. */
export class TransitionLog {
  static readonly CAPACITY = 2 ** 14;
  #entries = new Int32Array(2 * FIRST_TRANSITIONS);
  #step = 0;

  record(id: number, from: number, to: number, worker: number): void {
    const at = (this.#step++ & (TransitionLog.CAPACITY - 1)) << 1;
    if (at === this.#entries.length) this.#entries = resizedInt32(this.#entries, 2 * at);
    this.#entries[at] = id;
    this.#entries[at + 1] = from | (to << 4) | ((worker + 1) << 8);
  }

  /** Renames tasks, ids below `size`, after a compaction; a negative new id means removed. */
  rename(moved: (id: number) => number, size: number): void {
    for (let at = 0; at < Math.min(this.#step, TransitionLog.CAPACITY) * 2; at += 2) {
      const id = this.#entries[at]!;
      this.#entries[at] = id < 0 || id >= size ? -1 : moved(id);
    }
  }

  /** Returns the transitions of one task that the ring still has, oldest first. */
  story(id: number): Transition[] {
    const found: Transition[] = [];
    for (let step = Math.max(0, this.#step - TransitionLog.CAPACITY); step < this.#step; step++) {
      const at = (step & (TransitionLog.CAPACITY - 1)) << 1;
      if (this.#entries[at] !== id) continue;
      const packed = this.#entries[at + 1]!;
      found.push({
        step,
        id,
        from: STATE_NAMES[packed & 15]!,
        to: STATE_NAMES[(packed >>> 4) & 15]!,
        worker: (packed >>> 8) - 1,
      });
    }
    return found;
  }
}
