// The main thread's side of the drawing thread. A process starts one drawing thread, with the first bar on a terminal.
// The thread serves one run at a time. Other bars are not redrawn while the main thread is blocked.
import { Worker } from 'node:worker_threads';
import {
  ACTIVE,
  CELLS,
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
  START_HIGH,
  START_LOW,
  STATE,
  unlock,
  WIDTH,
} from './progressThreadCells.js';

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
  const cells = new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT);
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
    return Atomics.load(sharedCells, STATE) === ACTIVE ? undefined : new ProgressBackground(sharedCells, bar);
  }

  private constructor(cells: Int32Array, bar: BackgroundBar) {
    this.#cells = cells;
    const now = Date.now();
    cells[START_LOW] = now | 0;
    cells[START_HIGH] = Math.floor(now / 2 ** 32);
    cells[FINISHED] = 0;
    cells[SIZE] = bar.size;
    cells[LAST_DRAW] = 0;
    cells[FD] = bar.fd;
    cells[WIDTH] = bar.width;
    cells[COLUMNS] = bar.columns;
    cells[DT] = Math.round(bar.dt * 1000);
    cells[MINIMUM] = Math.min(0x7fffffff, Math.round(bar.minimum * 1000));
    Atomics.store(cells, STATE, ACTIVE);
    Atomics.notify(cells, STATE);
  }

  update(finished: number): void {
    Atomics.store(this.#cells, FINISHED, finished);
  }

  /** Draws on the main thread, while the drawing thread waits. */
  exclusively(draw: () => void): void {
    lock(this.#cells);
    try {
      draw();
      Atomics.store(this.#cells, LAST_DRAW, elapsed(this.#cells));
    } finally {
      unlock(this.#cells);
    }
  }

  /** Ends the drawing. The drawing thread does not write after this call has returned. */
  end(): void {
    Atomics.store(this.#cells, STATE, IDLE);
    Atomics.notify(this.#cells, STATE);
    lock(this.#cells);
    unlock(this.#cells);
  }
}
