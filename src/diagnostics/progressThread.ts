// The drawing thread of the progress bar. It redraws the line while the main thread is busy, e.g. during a long task of
// getSync. It sleeps between runs and does not keep the process alive.
import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { progressLine } from './progressLine.js';
import { ACTIVE, CELL, elapsed, IDLE, lock, unlock } from './progressThreadCells.js';

/** Time of this thread's last drawing, to distinguish it from drawings of the main thread. */
let ownDraw = -1;

function draw(cells: Int32Array): void {
  const milliseconds = elapsed(cells);
  const lastDraw = Atomics.load(cells, CELL.lastDraw);
  // The main thread draws every dt if it can. This thread draws when the main thread is late, and from then on every
  // dt.
  const patience = lastDraw === ownDraw ? 0.5 : 1.5;
  const due = milliseconds - lastDraw >= patience * cells[CELL.dt]!;
  if (!due || milliseconds < cells[CELL.minimum]! || Atomics.load(cells, CELL.state) !== ACTIVE) return;
  const line = progressLine({
    finished: Atomics.load(cells, CELL.finished),
    size: cells[CELL.size]!,
    seconds: milliseconds / 1000,
    width: cells[CELL.width]!,
    columns: cells[CELL.columns]!,
  });
  try {
    writeSync(cells[CELL.fd]!, `\r${line}`);
  } catch {
    // The terminal is closed or busy. The main thread detects whether that is an error.
  }
  Atomics.store(cells, CELL.lastDraw, milliseconds);
  ownDraw = milliseconds;
}

function watch(cells: Int32Array): void {
  for (;;) {
    Atomics.wait(cells, CELL.state, IDLE);
    Atomics.wait(cells, CELL.state, ACTIVE, Math.max(1, cells[CELL.dt]!));
    lock(cells);
    draw(cells);
    unlock(cells);
  }
}

const { cells }: { cells: SharedArrayBuffer } = workerData;
watch(new Int32Array(cells));
