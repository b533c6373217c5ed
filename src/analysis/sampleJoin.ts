// Which resource samples belong to a task: those of its host and device taken while it ran, weighted by overlap.
//
// A sample is the state since the sample before it, so its window reaches from there to its own time; the first window is
// as long as the second. Samples that name a worker belong to that worker's tasks, samples that name a device to tasks on
// that device; samples of a host belong to all its tasks that have none of their own.
import { firstWhere, pushTo } from '../base/lookUps.js';
import { sortedOrder } from '../base/sortedOrder.js';
import type { ResourceRows, Trace } from '../trace/trace.js';

/** Seconds; for a stream of one sample, whose window is not known. DASF samples ten times a second. */
const USUAL_WINDOW = 0.1;
const ANY = -1;

/** A weighted sum that grows with the tasks of a row; the mean is `sum / seconds`. */
export interface Overlap {
  seconds: number;
  sum: number;
}

/** One figure of one stream of samples as a function of time, constant on each window. */
class Stream {
  /** Begin of the first window, then the end of each. */
  readonly #edges: Float64Array;
  readonly #values: Float64Array;
  /** Integral of the value, and seconds that have one, from the first edge to each edge. */
  readonly #sums: Float64Array;
  readonly #seconds: Float64Array;
  #latest = 0;

  /** Times ascend. */
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

  /** Adds what overlaps with [start, stop]. Cost: two binary searches. */
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

  /** The window that holds a time; the first or last for times outside. Tasks mostly follow each other: so do their windows. */
  #window(time: number): number {
    const edges = this.#edges;
    const latest = this.#latest;
    if (time >= edges[latest]! && time < edges[latest + 1]!) return latest;
    this.#latest = this.#searched(time);
    return this.#latest;
  }

  #searched(time: number): number {
    return firstWhere(0, this.#edges.length - 2, (at) => this.#edges[at + 1]! > time);
  }
}

/** One figure of all streams of a trace. */
export class SampleJoin {
  readonly #streams = new Map<string, Stream>();

  /** `values` is a column of `trace.resources`. */
  constructor(trace: Trace, values: Float64Array) {
    const { resources } = trace;
    const rowsOf = new Map<string, number[]>();
    for (const row of sortedOrder(resources.time, false)) {
      const name = streamOf(resources, row);
      pushTo(rowsOf, name, row);
    }
    for (const [name, rows] of rowsOf) {
      const times = Float64Array.from(rows, (row) => resources.time[row]!);
      this.#streams.set(
        name,
        new Stream(
          times,
          Float64Array.from(rows, (row) => values[row]!),
        ),
      );
    }
  }

  /** What a task on this host, worker and device has to look at; undefined if nothing was sampled there. */
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

function streamOf(resources: ResourceRows, row: number): string {
  return `${resources.host[row]} ${resources.worker[row]} ${resources.device[row]}`;
}
