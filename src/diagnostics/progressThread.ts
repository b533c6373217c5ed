// The drawing thread of the progress bar: redraws the line while the main thread is too busy to, so that the seconds move on
// also during one long task under getSync. It sleeps between runs, and the process ends without asking it.
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

/** When this thread last drew, to tell it from the main thread's drawings. */
let ownDraw = -1;

function draw(cells: Int32Array): void {
  const milliseconds = elapsed(cells);
  const lastDraw = Atomics.load(cells, LAST_DRAW);
  // The main thread draws every dt while it can: only when it falls behind is it this thread's turn, then every dt.
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
    // The terminal is gone or busy: whether that is an error is for the main thread to find out.
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
