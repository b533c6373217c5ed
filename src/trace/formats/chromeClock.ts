// Times of a trace in the microseconds of Chrome Trace JSON.
import type { Trace } from '../trace.js';

export class ChromeClock {
  /** Seconds: the last whole second before everything in the trace; 0 for a trace without times. */
  readonly origin: number;

  constructor(trace: Trace) {
    const { tasks, intervals, transfers, memory, resources, events } = trace;
    const columns = [
      tasks.submitted,
      tasks.started,
      intervals.start,
      transfers.start,
      memory.time,
      resources.time,
      events.time,
    ];
    const first = Math.min(...columns.map(smallest));
    this.origin = Number.isFinite(first) ? Math.floor(first) : 0;
  }

  /** Microseconds since the origin, to the nanosecond. */
  micros(seconds: number): number {
    return wholeNanoseconds((seconds - this.origin) * 1e6);
  }

  /** `"ts":…,"dur":…` */
  slice(start: number, stop: number, duration: number): string {
    const ts = this.micros(start);
    return `"ts":${ts},"dur":${withinSlice(wholeNanoseconds(duration * 1e6), ts, this.micros(stop))}`;
  }

  /** A moment within a slice, where it is long enough before its end by more than `slice` may take off. */
  inside(start: number, stop: number): number {
    const [from, to] = [this.micros(start), this.micros(stop)];
    return to - from > 6e-3 ? to - 3e-3 : (from + to) / 2;
  }
}

function wholeNanoseconds(microseconds: number): number {
  return Math.round(microseconds * 1e3) / 1e3;
}

/**
 * How long a viewer draws a slice. Tasks of a thread follow each other without a gap, and Perfetto drops a slice that begins
 * a nanosecond before the end of the one before. It adds start and duration as whole nanoseconds, which it makes by
 * truncating (1.001 µs are 1000 then) or, depending on its version, by rounding. Whichever it does, the end must not come out
 * behind the end of the slice, where the next one may begin.
 */
function withinSlice(dur: number, ts: number, end: number): number {
  const most = Math.max(0, Math.trunc(end * 1e3) - Math.round(ts * 1e3));
  return Math.round(dur * 1e3) > most ? most / 1e3 : dur;
}

function smallest(values: Float64Array): number {
  let result = Number.POSITIVE_INFINITY;
  for (const value of values) if (value < result) result = value;
  return result;
}
