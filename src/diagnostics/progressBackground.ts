// The main thread's side of the drawing thread. A process starts one drawing thread, with the first bar on a terminal.
// The thread serves one run at a time. Other bars are not redrawn while the main thread is blocked.
import { Worker } from 'node:worker_threads';
import { ACTIVE, CELL, elapsed, IDLE, lock, unlock } from './progressThreadCells.js';

export interface BackgroundBar {
  readonly fd: number;
  readonly size: number;
  readonly width: number;
  readonly columns: number;
  /** Seconds. */
  readonly dt: number;
  readonly minimum: number;
}

let sharedCells: Int32Array | undefined;

function start(): Int32Array {
  const cells = new SharedArrayBuffer(Object.keys(CELL).length * Int32Array.BYTES_PER_ELEMENT);
  const worker = new Worker(new URL('./progressThread.js', import.meta.url), {
    name: 'longpole-progress',
    workerData: { cells },
    execArgv: [],
    env: {},
  });
  worker.unref();
  // Without the thread, the bar is only not redrawn while the main thread is blocked.
  worker.on('error', () => {});
  return new Int32Array(cells);
}

/** Use of the drawing thread by one run. */
export class ProgressBackground {
  readonly #cells: Int32Array;

  /** Starts to draw. Returns undefined if another run uses the thread, or the system refuses a thread. */
  static begin(bar: BackgroundBar): ProgressBackground | undefined {
    try {
      sharedCells ??= start();
    } catch {
      return undefined;
    }
    return Atomics.load(sharedCells, CELL.state) === ACTIVE
      ? undefined
      : new ProgressBackground(sharedCells, bar);
  }

  private constructor(cells: Int32Array, bar: BackgroundBar) {
    this.#cells = cells;
    const now = Date.now();
    cells[CELL.startLow] = now | 0;
    cells[CELL.startHigh] = Math.floor(now / 2 ** 32);
    cells[CELL.finished] = 0;
    cells[CELL.size] = bar.size;
    cells[CELL.lastDraw] = 0;
    cells[CELL.fd] = bar.fd;
    cells[CELL.width] = bar.width;
    cells[CELL.columns] = bar.columns;
    cells[CELL.dt] = Math.round(bar.dt * 1000);
    cells[CELL.minimum] = Math.min(0x7fffffff, Math.round(bar.minimum * 1000));
    Atomics.store(cells, CELL.state, ACTIVE);
    Atomics.notify(cells, CELL.state);
  }

  update(finished: number): void {
    Atomics.store(this.#cells, CELL.finished, finished);
  }

  /** Draws on the main thread, while the drawing thread waits. */
  exclusively(draw: () => void): void {
    lock(this.#cells);
    try {
      draw();
      Atomics.store(this.#cells, CELL.lastDraw, elapsed(this.#cells));
    } finally {
      unlock(this.#cells);
    }
  }

  /** Ends the drawing. The drawing thread does not write after this call has returned. */
  end(): void {
    Atomics.store(this.#cells, CELL.state, IDLE);
    Atomics.notify(this.#cells, CELL.state);
    lock(this.#cells);
    unlock(this.#cells);
  }
}
