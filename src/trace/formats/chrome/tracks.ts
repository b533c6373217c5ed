// Assigns rows with a start and a stop to tracks. Viewers require that slices of a track do not overlap, but a thread
// of a worker may run several tasks at once. Overlapping rows get separate tracks.
import { getOrMake } from '../../../base/lookUps.js';
import { sortedOrder } from '../../../base/sortedOrder.js';
import type { Trace } from '../../trace.js';

/** Rows that do not overlap. */
export interface Track {
  /** Row of the trace's workers, or -1. */
  readonly worker: number;
  /** Thread of the worker, or -1 if unknown. */
  readonly thread: number;
  /** 0 for the first track of a thread, 1 for rows that overlap with track 0, … */
  readonly layer: number;
}

export interface Tracks {
  /** Tracks in the order of worker, thread and layer. */
  readonly tracks: readonly Track[];
  /** Index into `tracks`, by row. */
  readonly trackOf: Int32Array;
  /** Rows in the order of their starts. Rows without a start come last, on layer 0 of their thread. */
  readonly order: Int32Array;
}

export interface TimedRows {
  readonly length: number;
  readonly worker: Int32Array;
  readonly thread: Int32Array;
  readonly start: Float64Array;
  readonly stop: Float64Array;
}

/** Limit for layers. Rows that overlap with all layers go to the last one. */
const MAX_LAYERS = 256;
/** Limit for the distinct threads of a worker. */
const THREADS = 2 ** 20;

interface Layer {
  readonly track: Track;
  readonly number: number;
  until: number;
}

/** Assigns each row to the lowest free layer of its thread. Cost: a sort by start and one pass. */
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
    // Negated, so that a row without a start fits everywhere.
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

export function taskTracks({ tasks }: Trace): Tracks {
  const { length, worker, thread, started, stopped } = tasks;
  return layOut({ length, worker, thread, start: started, stop: stopped });
}

/** Returns `thread 2`, or `thread 2 (overlapping 1)` for layer 1. */
export function trackName({ thread, layer }: Track, what = 'thread'): string {
  const name = thread < 0 ? what : `${what} ${thread}`;
  return layer === 0 ? name : `${name} (overlapping ${layer})`;
}
