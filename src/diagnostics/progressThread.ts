// The drawing thread of the progress bar. It redraws the line while the main thread is busy, e.g. during a long task of
// getSync. It sleeps between runs and does not keep the process alive.
import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { progressLine } from './progressLine.js';
import {
  ACTIVE,
  COLUMNS,
  DT,
  elapsed,
  FD,
  FINISHED,
  IDLE,
  LAST_DRAW,
  lock,
  MINIMUM,
  SIZE,
  STATE,
  unlock,
  WIDTH,
} from './progressThreadCells.js';

/** Time of this thread's last drawing, to distinguish it from drawings of the main thread. */
let ownDraw = -1;

function draw(cells: Int32Array): void {
  const milliseconds = elapsed(cells);
  const lastDraw = Atomics.load(cells, LAST_DRAW);
  // The main thread draws every dt if it can. This thread draws when the main thread is late, and from then on every
  // dt.
  const patience = lastDraw === ownDraw ? 0.5 : 1.5;
  const due = milliseconds - lastDraw >= patience * cells[DT]!;
  if (!due || milliseconds < cells[MINIMUM]! || Atomics.load(cells, STATE) !== ACTIVE) return;
  const line = progressLine({
    finished: Atomics.load(cells, FINISHED),
    size: cells[SIZE]!,
    seconds: milliseconds / 1000,
    width: cells[WIDTH]!,
    columns: cells[COLUMNS]!,
  });
  try {
    writeSync(cells[FD]!, `\r${line}`);
  } catch {
    // The terminal is closed or busy. The main thread detects whether that is an error.
  }
  Atomics.store(cells, LAST_DRAW, milliseconds);
  ownDraw = milliseconds;
}

function watch(cells: Int32Array): void {
  for (;;) {
    Atomics.wait(cells, STATE, IDLE);
    Atomics.wait(cells, STATE, ACTIVE, Math.max(1, cells[DT]!));
    lock(cells);
    draw(cells);
    unlock(cells);
  }
}

const { cells }: { cells: SharedArrayBuffer } = workerData;
watch(new Int32Array(cells));
