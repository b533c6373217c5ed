// The Int32 cells that the main thread and the drawing thread of the progress bar share.

/** IDLE or ACTIVE. The drawing thread waits on this cell. */
export const STATE = 0;
export const IDLE = 0;
export const ACTIVE = 1;
/** 1 while a thread draws. */
export const LOCK = 1;
export const FINISHED = 2;
export const SIZE = 3;
/** Milliseconds from the start of the run to the last drawing. */
export const LAST_DRAW = 4;
export const FD = 5;
export const WIDTH = 6;
export const COLUMNS = 7;
/** Milliseconds. */
export const DT = 8;
export const MINIMUM = 9;
/** Low and high half of the start of the run, in milliseconds since the epoch. */
export const START_LOW = 10;
export const START_HIGH = 11;
export const CELLS = 12;

/** Waits until no other thread draws, and takes the lock. */
export function lock(cells: Int32Array): void {
  while (Atomics.compareExchange(cells, LOCK, 0, 1) !== 0) Atomics.wait(cells, LOCK, 1);
}

export function unlock(cells: Int32Array): void {
  Atomics.store(cells, LOCK, 0);
  Atomics.notify(cells, LOCK);
}

/** Returns the milliseconds since the start of the run. */
export function elapsed(cells: Int32Array): number {
  const start = cells[START_HIGH]! * 2 ** 32 + (cells[START_LOW]! >>> 0);
  return Date.now() - start;
}
