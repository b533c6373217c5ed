// Converts flows of Chrome traces to edges between slices. A flow is a list of points in time on threads. A point
// belongs to the innermost open slice; an end without `bp: "e"` belongs to the next slice that begins.

import type { Float64Column, Int32Column } from '../../../base/columns.js';
import { countedOffsets, groupedRows } from '../../../base/groups.js';
import { getOrMake, pushTo } from '../../../base/lookUps.js';
import { sortedOrder } from '../../../base/sortedOrder.js';

/** Phase `s`: start of a flow, in the enclosing slice. */
export const FLOW_BEGIN = 0;
/** Phase `t`: step, in the enclosing slice. */
export const FLOW_STEP = 1;
/** Phase `f` with `bp: "e"`: end, in the enclosing slice. A flow may have several ends. */
export const FLOW_END = 2;
/** Phase `f` alone: end, in the next slice of its thread. */
export const FLOW_END_NEXT = 3;

export interface SliceTimes {
  readonly length: number;
  /** Lane of the thread. A slice with a negative lane is on no thread and has no flows. */
  readonly lane: Int32Array;
  readonly start: Float64Array;
  readonly duration: Float64Array;
}

/** Points of flows in the order of the file. `flow` numbers the flows from 0. */
export interface FlowPoints {
  readonly time: Float64Column;
  readonly lane: Int32Column;
  readonly flow: Int32Column;
  readonly phase: Int32Column;
}

/** Sources of each slice, without duplicates: `sources[offsets[slice] .. offsets[slice + 1])`. */
export interface SliceEdges {
  readonly offsets: Int32Array;
  readonly sources: Int32Array;
}

const NONE = -1;

/** Returns the edges between slices. Cost: two sorts by time and four passes. */
export function bindFlows(slices: SliceTimes, points: FlowPoints): SliceEdges {
  const count = points.time.length;
  if (count === 0) return { offsets: new Int32Array(slices.length + 1), sources: new Int32Array(0) };
  const times = points.time.take();
  const order = sortedOrder(times, false);
  const sliceOf = slicesAtPoints(slices, points, order);
  const flows = points.flow.take();
  const phases = points.phase.take();
  let flowCount = 0;
  for (const flow of flows) if (flow >= flowCount) flowCount = flow + 1;
  const latest = new Int32Array(flowCount).fill(NONE);
  const froms: number[] = [];
  const tos: number[] = [];
  for (const point of order) {
    const flow = flows[point]!;
    const slice = sliceOf[point]!;
    const before = phases[point] === FLOW_BEGIN ? NONE : latest[flow]!;
    if (slice >= 0 && before >= 0 && slice !== before) {
      froms.push(before);
      tos.push(slice);
    }
    if (phases[point]! <= FLOW_STEP) latest[flow] = slice;
  }
  const offsets = countedOffsets(tos, slices.length);
  return { offsets, sources: groupedRows(tos, offsets).map((edge) => froms[edge]!) };
}

/** Returns the slice of every point, or -1. */
function slicesAtPoints(slices: SliceTimes, points: FlowPoints, pointOrder: Int32Array): Int32Array {
  const times = points.time.take();
  const lanes = points.lane.take();
  const phases = points.phase.take();
  const found = new Int32Array(times.length).fill(NONE);
  const sliceOrder = sortedOrder(slices.start, false);
  /** Open slices, the innermost last, and points that wait for the next slice, both by lane. */
  const open = new Map<number, number[]>();
  const waiting = new Map<number, number[]>();
  const stop = (slice: number): number => slices.start[slice]! + slices.duration[slice]!;
  let next = 0;
  const openUntil = (time: number): void => {
    for (; next < sliceOrder.length && slices.start[sliceOrder[next]!]! <= time; next++) {
      const slice = sliceOrder[next]!;
      const lane = slices.lane[slice]!;
      if (lane < 0) continue;
      for (const point of waiting.get(lane) ?? []) found[point] = slice;
      waiting.delete(lane);
      const stack = getOrMake(open, lane, () => []);
      while (stack.length > 0 && stop(stack[stack.length - 1]!) <= slices.start[slice]!) stack.pop();
      insertByStop(stack, slice, stop);
    }
  };
  for (const point of pointOrder) {
    const time = times[point]!;
    const lane = lanes[point]!;
    openUntil(time);
    const stack = open.get(lane) ?? [];
    while (stack.length > 0 && stop(stack[stack.length - 1]!) < time) stack.pop();
    const slice = stack[stack.length - 1] ?? NONE;
    if (phases[point] !== FLOW_END_NEXT) found[point] = slice;
    // A slice that begins at the time of the point counts as the next slice.
    else if (slice >= 0 && slices.start[slice] === time) found[point] = slice;
    else pushTo(waiting, lane, point);
  }
  openUntil(Number.POSITIVE_INFINITY);
  return found;
}

/**
 * Inserts a slice by its end. If slices begin together, the longer one encloses the other. Slices that overlap without
 * nesting are ordered by their end.
 */
function insertByStop(stack: number[], slice: number, stop: (slice: number) => number): void {
  stack.push(slice);
  for (let at = stack.length - 1; at > 0 && stop(stack[at - 1]!) < stop(slice); at--) {
    stack[at] = stack[at - 1]!;
    stack[at - 1] = slice;
  }
}
