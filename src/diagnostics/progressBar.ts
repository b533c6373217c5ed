// The progress bar: an observer that draws when the engine reports progress. On a terminal, a thread also draws between
// reports.

import { Worker } from 'node:worker_threads';
import { COUNT, checkOptions, INTERVAL, kind, type OptionKinds, SECONDS } from '../base/arguments.js';
import { hasFields } from '../base/json.js';
import type { RunObserver, RunWatcher } from '../protocol/runObserver.js';
import { Callback, OBSERVERS, WATCHERS } from './callback.js';
import { progressLine } from './progressLine.js';
import { GuardedOutput, type ProgressOutput } from './progressOutput.js';
import { ACTIVE, CELL, elapsed, IDLE, lock, unlock } from './progressThreadCells.js';

export interface ProgressBarOptions {
  /** Duration of a run in seconds before the bar appears. Default 0. */
  readonly minimum?: number | undefined;
  /** Characters between the brackets. Default 40, or less on a narrow terminal. */
  readonly width?: number | undefined;
  /** Seconds between two updates on a terminal. Default 0.1. */
  readonly dt?: number | undefined;
  /** Output stream. Default `process.stdout`. */
  readonly out?: ProgressOutput | undefined;
}

const OPTIONS: OptionKinds<ProgressBarOptions> = {
  minimum: SECONDS,
  width: COUNT,
  dt: INTERVAL,
  out: kind('a stream, or an object with write(text)', (value) => hasFields(value, { write: 'function' })),
};

/** Minimum distance of two lines in a log. */
const LOG_STEP_PERCENT = 10;
const LOG_STEP_SECONDS = 5;

/**
 * Shows the progress of a run:
 *
 *     [########################################] | 100% Completed | 17.1 s
 *
 * On a terminal, the line is redrawn every `dt` seconds. Any other output is a log: it receives the last line, and
 * during long runs a line every 10 %, at least 5 seconds apart. If a run fails, the bar keeps its last state. An error
 * of `out` ends the run with this error; a closed pipe (EPIPE) only ends the drawing.
 *
 * @source Dask's `dask.diagnostics.ProgressBar`
 */
export class ProgressBar extends Callback {
  /** Duration of the last run in seconds; 0 before the first run. */
  lastDuration = 0;
  readonly #shape: BarShape;
  readonly #output: GuardedOutput;

  /** @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for an option of the wrong type or range */
  constructor(options: ProgressBarOptions = {}) {
    super();
    checkOptions('ProgressBar', options, OPTIONS);
    const { minimum = 0, width = 40, dt = 0.1, out = process.stdout } = options;
    this.#shape = { minimum, width, dt };
    this.#output = new GuardedOutput(out);
  }

  override [OBSERVERS](): RunObserver[] {
    return this[WATCHERS]();
  }

  override [WATCHERS](): RunWatcher[] {
    return [this.bar()];
  }

  /** @internal Returns a bar for one run, or for another object with a size and a count. */
  bar(): DrawnBar {
    return new RunProgress(this.#shape, this.#output, (seconds) => (this.lastDuration = seconds));
  }
}

/** The options of a bar without its output. */
type BarShape = Readonly<Record<'minimum' | 'width' | 'dt', number>>;

/** The part of a run that a bar needs. */
interface Progressing {
  readonly finishedCount: number;
  readonly computation: { readonly size: number };
}

/** @internal */
export interface DrawnBar {
  runStarted(run: Progressing): void;
  progress(run: Progressing): void;
  runFinished(run: Progressing, error: unknown): void;
}

class RunProgress implements DrawnBar {
  readonly #options: BarShape;
  readonly #output: GuardedOutput;
  readonly #done: (seconds: number) => void;
  #background: ProgressBackground | undefined;
  #start = 0;
  #lastDraw = Number.NEGATIVE_INFINITY;
  #lastPercent = 0;
  #lastLength = 0;
  #started = false;

  constructor(options: BarShape, output: GuardedOutput, done: (seconds: number) => void) {
    this.#options = options;
    this.#output = output;
    this.#done = done;
  }

  runStarted(run: Progressing): void {
    const { fd, columns = 0, isTTY } = this.#output.out;
    this.#start = performance.now();
    this.#output.open();
    this.#started = true;
    if (isTTY && typeof fd === 'number' && run.computation.size > 0) {
      this.#background = ProgressBackground.begin({
        fd,
        size: run.computation.size,
        columns,
        ...this.#options,
      });
    }
    this.progress(run);
  }

  progress(run: Progressing): void {
    const seconds = this.#elapsed();
    this.#background?.update(run.finishedCount);
    this.#output.check();
    if (seconds < this.#options.minimum) return;
    if (this.#output.out.isTTY) {
      if (seconds - this.#lastDraw >= this.#options.dt)
        this.#draw(run.finishedCount, run.computation.size, seconds);
    } else {
      this.#log(run.finishedCount, run.computation.size, seconds);
    }
  }

  runFinished(run: Progressing, error: unknown): void {
    if (!this.#started) return;
    this.#background?.end();
    this.#background = undefined;
    const seconds = this.#elapsed();
    this.#done(seconds);
    try {
      this.#output.check();
      if (seconds < this.#options.minimum) return;
      const finished = error === undefined ? run.computation.size : run.finishedCount;
      if (this.#output.out.isTTY) {
        this.#draw(finished, run.computation.size, seconds);
        this.#output.write('\n');
      } else {
        this.#output.write(`${this.#line(finished, run.computation.size, seconds)}\n`);
      }
    } finally {
      this.#output.release();
    }
  }

  #elapsed(): number {
    return (performance.now() - this.#start) / 1000;
  }

  #line(finished: number, size: number, seconds: number): string {
    const { columns } = this.#output.out;
    return progressLine({ finished, size, seconds, width: this.#options.width, columns });
  }

  #draw(finished: number, size: number, seconds: number): void {
    const line = this.#line(finished, size, seconds);
    // Spaces erase the rest of a longer line.
    const text = `\r${line.padEnd(this.#lastLength)}`;
    this.#lastLength = line.length;
    this.#lastDraw = seconds;
    if (this.#background) this.#background.exclusively(() => this.#output.write(text));
    else this.#output.write(text);
  }

  #log(finished: number, size: number, seconds: number): void {
    const percent = size === 0 ? 100 : (100 * finished) / size;
    if (percent < this.#lastPercent + LOG_STEP_PERCENT || finished >= size) return;
    if (seconds - Math.max(0, this.#lastDraw) < LOG_STEP_SECONDS) return;
    this.#lastPercent = percent;
    this.#lastDraw = seconds;
    this.#output.write(`${this.#line(finished, size, seconds)}\n`);
  }
}

interface BackgroundBar extends BarShape {
  readonly fd: number;
  readonly size: number;
  readonly columns: number;
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

/**
 * Use of the drawing thread by one run. A process starts one drawing thread, with the first bar on a terminal. The thread
 * serves one run at a time. Other bars are not redrawn while the main thread is blocked.
 */
class ProgressBackground {
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
