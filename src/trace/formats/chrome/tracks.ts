// Where rows with a start and a stop are drawn: viewers want slices of one track to follow each other, but a worker's
// thread may have several tasks under way at once. Those that overlap get tracks of their own.
import { getOrMake } from '../../../base/lookUps.js';
import { sortedOrder } from '../../../base/sortedOrder.js';
import type { Trace } from '../../trace.js';

/** A sequence of rows that do not overlap. */
export interface Track {
  /** Row of the trace's workers, -1 for none. */
  readonly worker: number;
  /** Thread of the worker; -1 where the rows name none. */
  readonly thread: number;
  /** 0 for the first track of a thread, 1 for what overlaps with that, … */
  readonly layer: number;
}

export interface Tracks {
  /** By worker, thread and layer. */
  readonly tracks: readonly Track[];
  /** Row → index into `tracks`. */
  readonly trackOf: Int32Array;
  /** Rows by their start; those that never started come last, on the first layer of their thread. */
  readonly order: Int32Array;
}

export interface TimedRows {
  readonly length: number;
  readonly worker: Int32Array;
  readonly thread: Int32Array;
  readonly start: Float64Array;
  readonly stop: Float64Array;
}

/** More layers than anybody looks at: what overlaps with all of them goes to the last. */
const MAX_LAYERS = 256;
/** Threads of one worker that are told apart. */
const THREADS = 2 ** 20;

interface Layer {
  readonly track: Track;
  readonly number: number;
  until: number;
}

/** Each row goes to the lowest layer of its thread that is free. Cost: a sort by start, a walk. */
export function layOut(rows: TimedRows): Tracks {
  const order = sortedOrder(rows.start, false);
  const layersOf = new Map<number, Layer[]>();
  const all: Layer[] = [];
  const found = new Int32Array(rows.length);
  for (const row of order) {
    const worker = rows.worker[row]!;
    const thread = rows.thread[row]!;
    const key = (worker + 1) * THREADS + (thread + 1);
    const layers = getOrMake(layersOf, key, () => []);
    const start = rows.start[row]!;
    // Not "later than": what has no start fits everywhere.
    let layer = layers.find(({ until }) => !(until > start));
    if (layer === undefined && layers.length >= MAX_LAYERS) layer = layers[MAX_LAYERS - 1];
    if (layer === undefined) {
      const track = { worker, thread, layer: layers.length };
      layer = { track, number: all.length, until: Number.NEGATIVE_INFINITY };
      layers.push(layer);
      all.push(layer);
    }
    const stop = rows.stop[row]!;
    if (stop > layer.until) layer.until = stop;
    found[row] = layer.number;
  }
  const sorted = all.toSorted(
    ({ track: a }, { track: b }) => a.worker - b.worker || a.thread - b.thread || a.layer - b.layer,
  );
  const placeOf = new Int32Array(all.length);
  for (const [place, { number }] of sorted.entries()) placeOf[number] = place;
  return {
    tracks: sorted.map(({ track }) => track),
    trackOf: found.map((number) => placeOf[number]!),
    order,
  };
}

/** The tracks of a trace's tasks. */
export function taskTracks({ tasks }: Trace): Tracks {
  const { length, worker, thread, started, stopped } = tasks;
  return layOut({ length, worker, thread, start: started, stop: stopped });
}

/** `thread 2`; of further layers `thread 2 (overlapping 1)`. */
export function trackName({ thread, layer }: Track, what = 'thread'): string {
  const name = thread < 0 ? what : `${what} ${thread}`;
  return layer === 0 ? name : `${name} (overlapping ${layer})`;
}
