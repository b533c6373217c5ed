// Joins resource samples with tasks: the samples of the task's host and device during its run, weighted by overlap.
//
// A sample describes the time since the previous sample, its window. The first window is as long as the second. Samples
// with a worker belong to the tasks of this worker, and samples with a device to the tasks on this device. Samples of a
// host belong to all tasks of the host without more specific samples.
import { firstWhere, pushTo } from '../base/lookUps.js';
import { sortedOrder } from '../base/sortedOrder.js';
import type { Trace } from '../trace/trace.js';

/** Seconds of the window of a single sample. DASF samples ten times a second. */
const USUAL_WINDOW = 0.1;
const ANY = -1;

/** A weighted sum over tasks. The mean is `sum / seconds`. */
export interface Overlap {
  seconds: number;
  sum: number;
}

/** One figure of one stream of samples as a function of time, constant on each window. */
class Stream {
  /** Start of the first window, then the end of each window. */
  readonly #edges: Float64Array;
  readonly #values: Float64Array;
  /** Integral of the value, and seconds with a value, from the first edge to each edge. */
  readonly #sums: Float64Array;
  readonly #seconds: Float64Array;
  #latest = 0;

  /** @param times in ascending order */
  constructor(times: Float64Array, values: Float64Array) {
    const count = times.length;
    this.#edges = new Float64Array(count + 1);
    this.#edges.set(times, 1);
    this.#edges[0] = times[0]! - (count > 1 ? times[1]! - times[0]! : USUAL_WINDOW);
    this.#values = values;
    this.#sums = new Float64Array(count + 1);
    this.#seconds = new Float64Array(count + 1);
    for (let i = 0; i < count; i++) {
      const seconds = Number.isNaN(values[i]!) ? 0 : this.#edges[i + 1]! - this.#edges[i]!;
      this.#seconds[i + 1] = this.#seconds[i]! + seconds;
      this.#sums[i + 1] = this.#sums[i]! + (seconds === 0 ? 0 : seconds * values[i]!);
    }
  }

  /** Adds the overlap with [start, stop]. Cost: two binary searches. */
  add(start: number, stop: number, to: Overlap): void {
    const edges = this.#edges;
    const end = edges.length - 1;
    if (!(start < edges[end]!) || !(stop > edges[0]!)) return;
    const first = this.#window(start);
    const last = stop < edges[first + 1]! ? first : this.#window(stop);
    if (first === last) {
      this.#addPart(first, Math.max(start, edges[0]!), Math.min(stop, edges[end]!), to);
      return;
    }
    this.#addPart(first, Math.max(start, edges[0]!), edges[first + 1]!, to);
    this.#addPart(last, edges[last]!, Math.min(stop, edges[end]!), to);
    to.seconds += this.#seconds[last]! - this.#seconds[first + 1]!;
    to.sum += this.#sums[last]! - this.#sums[first + 1]!;
  }

  #addPart(window: number, from: number, to: number, overlap: Overlap): void {
    const value = this.#values[window]!;
    if (Number.isNaN(value) || to <= from) return;
    overlap.seconds += to - from;
    overlap.sum += value * (to - from);
  }

  /**
   * Returns the window of a time, or the nearest one. Tries the latest window first, because most tasks are in order.
   */
  #window(time: number): number {
    const edges = this.#edges;
    const latest = this.#latest;
    if (time >= edges[latest]! && time < edges[latest + 1]!) return latest;
    this.#latest = firstWhere(0, edges.length - 2, (at) => edges[at + 1]! > time);
    return this.#latest;
  }
}

/** One figure of all streams of a trace. */
export class SampleJoin {
  readonly #streams = new Map<string, Stream>();

  /** @param values a column of `trace.resources` */
  constructor(trace: Trace, values: Float64Array) {
    const { host, worker, device, time } = trace.resources;
    const rowsOf = new Map<string, number[]>();
    for (const row of sortedOrder(time, false))
      pushTo(rowsOf, `${host[row]} ${worker[row]} ${device[row]}`, row);
    for (const [name, rows] of rowsOf) {
      const [times, own] = [time, values].map((column) => Float64Array.from(rows, (row) => column[row]!));
      this.#streams.set(name, new Stream(times!, own!));
    }
  }

  /** Returns the most specific stream for a task on this host, worker and device; undefined if there is none. */
  streamFor(host: number, worker: number, device: number): Stream | undefined {
    const streams = this.#streams;
    return (
      streams.get(`${host} ${worker} ${device}`) ??
      streams.get(`${host} ${worker} ${ANY}`) ??
      streams.get(`${host} ${ANY} ${device}`) ??
      streams.get(`${host} ${ANY} ${ANY}`)
    );
  }
}
