// The Int32 cells that the main thread and the drawing thread of the progress bar share.

export const IDLE = 0;
export const ACTIVE = 1;

/** Numbers of the cells. */
export const CELL = {
  /** IDLE or ACTIVE. The drawing thread waits on this cell. */
  state: 0,
  /** 1 while a thread draws. */
  lock: 1,
  finished: 2,
  size: 3,
  /** Milliseconds from the start of the run to the last drawing. */
  lastDraw: 4,
  fd: 5,
  width: 6,
  columns: 7,
  /** Milliseconds. */
  dt: 8,
  minimum: 9,
  /** Low and high half of the start of the run, in milliseconds since the epoch. */
  startLow: 10,
  startHigh: 11,
} as const;

/** Waits until no other thread draws, and takes the lock. */
export function lock(cells: Int32Array): void {
  while (Atomics.compareExchange(cells, CELL.lock, 0, 1) !== 0) Atomics.wait(cells, CELL.lock, 1);
}

export function unlock(cells: Int32Array): void {
  Atomics.store(cells, CELL.lock, 0);
  Atomics.notify(cells, CELL.lock);
}

/** Returns the milliseconds since the start of the run. */
export function elapsed(cells: Int32Array): number {
  const start = cells[CELL.startHigh]! * 2 ** 32 + (cells[CELL.startLow]! >>> 0);
  return Date.now() - start;
}
