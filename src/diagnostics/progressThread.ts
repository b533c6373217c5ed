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

function draw(cells: Int32Array): void {
  const milliseconds = elapsed(cells);
  // The main thread draws every dt when it can; half a dt of grace keeps the two from taking turns.
  const due = milliseconds - Atomics.load(cells, LAST_DRAW) >= 1.5 * cells[DT]!;
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
