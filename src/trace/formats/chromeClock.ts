// Times of a trace in the microseconds of Chrome Trace JSON, so that reading them gives the same float64 again.
import type { Trace } from '../trace.js';
import { secondsOf } from './chromeFormat.js';
import type { JsonObjectText } from './jsonText.js';

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

  /** Microseconds since the origin: whole nanoseconds where they are the same time, which makes the text short. */
  micros(seconds: number): number {
    const exact = (seconds - this.origin) * 1e6;
    const short = Math.round(exact * 1e3) / 1e3;
    return secondsOf(short, this.origin) === seconds ? short : exact;
  }

  /** Adds a time as microseconds or, where these do not give it again, as seconds in quotes. Absent ones are left out. */
  field(args: JsonObjectText, name: string, seconds: number): void {
    if (!Number.isFinite(seconds)) return;
    const micros = this.micros(seconds);
    if (secondsOf(micros, this.origin) === seconds) args.number(name, micros);
    else args.string(name, String(seconds));
  }

  /** `"ts":…,"dur":…`; what these two do not restore goes into the arguments. */
  slice(args: JsonObjectText, start: number, stop: number, duration: number): string {
    const ts = this.micros(start);
    const dur = withinSlice(shortMicros(duration), ts, this.micros(stop));
    const read = secondsOf(ts, this.origin);
    if (read !== start) args.string('started', String(start));
    if (read + dur / 1e6 !== stop) args.string('stopped', String(stop));
    if (dur / 1e6 !== duration) args.string('duration', String(duration));
    return `"ts":${ts},"dur":${dur}`;
  }

  /** A moment within a slice, where it is long enough before its end by more than `slice` may take off. */
  inside(start: number, stop: number): number {
    const [from, to] = [this.micros(start), this.micros(stop)];
    return to - from > 6e-3 ? to - 3e-3 : (from + to) / 2;
  }
}

/** Whole nanoseconds where they are the same duration. */
function shortMicros(duration: number): number {
  const exact = duration * 1e6;
  const short = Math.round(exact * 1e3) / 1e3;
  return short / 1e6 === duration ? short : exact;
}

/**
 * How long a viewer draws a slice. Tasks of a thread follow each other without a gap, and Perfetto drops a slice that begins
 * a nanosecond before the end of the one before. It adds start and duration as whole nanoseconds, which it makes by
 * truncating (1.001 µs are 1000 then) or, depending on its version, by rounding. Whichever it does, the end must not come out
 * behind that of the exact times.
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
