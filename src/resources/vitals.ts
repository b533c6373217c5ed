// Figures that an isolate writes to shared memory, so that its host and the monitor thread can read them while a task
// computes. A double of 8 aligned bytes is written atomically. Two figures may be from different moments.
import { readFileSync, readlinkSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { attempt } from '../base/errors.js';
import { VITALS, VITALS_INTERVAL, VITALS_LENGTH } from '../protocol/isolateMessages.js';
import { epochSeconds } from './clock.js';
import { idleTime } from './idleTime.js';

/** Seconds between two queries of V8, because each query costs some microseconds. */
const REFRESH_SECONDS = 20e-3;

export function makeVitals(): Float64Array<SharedArrayBuffer> {
  return new Float64Array(new SharedArrayBuffer(VITALS_LENGTH * Float64Array.BYTES_PER_ELEMENT));
}

/** Reads the figures that a worker process has copied to a file; null if the file is missing or incomplete. */
export function readVitals(file: string): Float64Array | null {
  const bytes = attempt(() => readFileSync(file), undefined);
  if (bytes === undefined || bytes.length < VITALS_LENGTH * Float64Array.BYTES_PER_ELEMENT) return null;
  return new Float64Array(Uint8Array.from(bytes).buffer, 0, VITALS_LENGTH);
}

/** Writes the heap on request, and the state of the event loop ten times a second. Each write costs some 5 µs. */
export class Vitals {
  readonly #cells: Float64Array;
  readonly #observer: PerformanceObserver;
  readonly #timer: NodeJS.Timeout;
  readonly #cpuClock: (() => number) | undefined;
  /** Values at the last update: of the event loop in ms, of the CPU in seconds. */
  #before = { active: 0, idle: 0, cpu: Number.NaN };
  #refreshed = 0;
  #due = epochSeconds() + VITALS_INTERVAL;

  /**
   * Starts writing. Does not keep the process alive.
   *
   * @param cpuClock CPU seconds of this thread. It makes the event loop's idle time exact, even while a profiler
   * interrupts its waits.
   */
  constructor(cells: Float64Array, cpuClock?: () => number) {
    this.#cells = cells;
    this.#cpuClock = cpuClock;
    this.#observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) cells[VITALS.gc]! += entry.duration / 1000;
    });
    this.#observer.observe({ entryTypes: ['gc'] });
    cells[VITALS.thread] = ownThread();
    this.#turn();
    this.#timer = setInterval(() => this.#turn(), VITALS_INTERVAL * 1000);
    this.#timer.unref();
  }

  /** Updates the figures. `now` is in seconds; Infinity forces an update. */
  refresh(now: number): void {
    if (now - this.#refreshed < REFRESH_SECONDS) return;
    if (Number.isFinite(now)) this.#refreshed = now;
    const heap = getHeapStatistics();
    this.#cells[VITALS.heap] = heap.used_heap_size;
    this.#cells[VITALS.external] = heap.external_memory;
  }

  /** Stops writing. The cells keep their values. */
  stop(): void {
    clearInterval(this.#timer);
    this.#observer.disconnect();
  }

  #turn(): void {
    const cells = this.#cells;
    const time = epochSeconds();
    this.refresh(time);
    const { active, idle } = this.#loopSeconds();
    cells[VITALS.delay] = Math.max(0, time - this.#due);
    cells[VITALS.active]! += active;
    cells[VITALS.idle]! += idle;
    cells[VITALS.turned] = time;
    this.#due = time + VITALS_INTERVAL;
  }

  /** Returns the seconds in which the event loop was active and idle since the last call. */
  #loopSeconds(): { active: number; idle: number } {
    const before = this.#before;
    const { active, idle } = performance.eventLoopUtilization();
    this.#before = { active, idle, cpu: this.#cpuClock?.() ?? Number.NaN };
    const elapsed = (active + idle - before.active - before.idle) / 1000;
    const without = idleTime(elapsed, (idle - before.idle) / 1000, this.#before.cpu - before.cpu);
    return { active: elapsed - without, idle: without };
  }
}

/** Returns the thread's number. Linux names the calling thread: `4711/task/4720`. */
export function ownThread(): number {
  if (process.platform !== 'linux') return 0;
  return attempt(() => Number(readlinkSync('/proc/thread-self').split('/').at(-1)), 0);
}
