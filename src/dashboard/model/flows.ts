// Lines over the lanes of a task stream: the flows of a selected task from its dependencies and to its dependents, and the
// critical path.

import type { CriticalPath } from '../../analysis/criticalPath.js';
import { PATH_KINDS, type PathKind } from '../../analysis/path/pathParts.js';
import { reversedEdges } from '../../base/groups.js';
import { oncePer } from '../../base/lookUps.js';
import { inputRows, type Trace } from '../../trace/trace.js';
import type { TaskPlot } from './profileModel.js';
import { lowerBound } from './taskLanes.js';

/** Place of a run; times are seconds since the model's origin. */
export interface FlowEnd {
  readonly lane: number;
  readonly start: number;
  readonly stop: number;
}

export interface Flows {
  readonly plot: TaskPlot;
  readonly task: FlowEnd;
  readonly needs: readonly FlowEnd[];
  readonly neededBy: readonly FlowEnd[];
}

/** Lines in each direction. More lines would merge into a surface, and the side bar shows the counts. */
const MAX_FLOWS = 400;

/**
 * Returns the flows of a run in `plot`, the task stream of `trace`; undefined if `plot` lacks the run. Cost: O(tasks).
 */
export function flowsOf(trace: Trace, row: number, plot: TaskPlot): Flows | undefined {
  if (row >= trace.tasks.length) return undefined;
  const needs = inputRows(trace.tasks, row).slice(0, MAX_FLOWS);
  const neededBy = dependentsOf(trace, row).slice(0, MAX_FLOWS);
  const ends = endsOf(plot, new Set([row, ...needs, ...neededBy]));
  const task = ends.get(row);
  if (task === undefined) return undefined;
  const found = (rows: Iterable<number>): FlowEnd[] => {
    return Array.from(rows, (one) => ends.get(one)).filter((end) => end !== undefined);
  };
  return { plot, task, needs: found(needs), neededBy: found(neededBy) };
}

function endsOf({ lanes, section }: TaskPlot, wanted: ReadonlySet<number>): Map<number, FlowEnd> {
  const ends = new Map<number, FlowEnd>();
  for (const [lane, groups] of lanes.lanes.entries()) {
    for (const { from, to, isActivity } of groups) {
      for (let position = from; position < to && !isActivity; position++) {
        const row = section.task[lanes.entry[position]!]!;
        if (!wanted.has(row)) continue;
        const part = { lane, start: lanes.start[position]!, stop: lanes.stop[position]! };
        const other = ends.get(row) ?? part;
        // A seceded task has several parts. Its lines begin at its end and arrive at its start.
        const [first, last] = part.start < other.start ? [part, other] : [other, part];
        ends.set(row, { ...first, stop: last.stop });
      }
    }
  }
  return ends;
}

/** Returns the rows of the runs that needed the result of `row`, in order. */
export function dependentsOf(trace: Trace, row: number): number[] {
  const { offsets, targets } = dependents(trace);
  return [...targets.subarray(offsets[row]!, offsets[row + 1]!)];
}

/** Returns the dependents of all rows: those of row `i` are `targets[offsets[i] .. offsets[i + 1])`. */
export const dependents = oncePer(({ tasks }: Trace) =>
  reversedEdges(tasks.dependencyOffsets, tasks.dependencyRows),
);

/** Parts in order of time, in seconds since the model's origin. Each part ends where the next one begins. */
export interface PathLanes {
  readonly start: Float64Array;
  readonly stop: number;
  /** Lane of the task that computed; -1 if no task did. */
  readonly lane: Int32Array;
}

/** Kinds of parts in which the task itself computes. */
const COMPUTING = numbersOf('compute', 'recomputed', 'awaiting');
/** Kinds of parts in which the task occupies its thread. */
const RUNNING = new Set([...COMPUTING, ...numbersOf('gc', 'profiler')]);

function numbersOf(...kinds: readonly PathKind[]): Set<number> {
  return new Set(kinds.map((kind) => PATH_KINDS.indexOf(kind)));
}

export function* computingRows({ columns: { length, kind, row } }: CriticalPath): IterableIterator<number> {
  for (let part = 0; part < length; part++) if (COMPUTING.has(kind[part]!)) yield row[part]!;
}

/** Returns the lanes of a path in the task stream of the same trace. Cost: O(tasks + parts). */
export function pathLanes(path: CriticalPath, { lanes, section }: TaskPlot, origin: number): PathLanes {
  const laneOf = new Map<number, number>();
  for (const [lane, groups] of lanes.lanes.entries()) {
    for (const { from, to } of groups)
      for (let position = from; position < to; position++)
        laneOf.set(section.task[lanes.entry[position]!]!, lane);
  }
  const { kind, row, start } = path.columns;
  return {
    start: start.map((time) => time - origin),
    stop: path.stop - origin,
    lane: Int32Array.from(row, (task, part) => (RUNNING.has(kind[part]!) ? (laneOf.get(task) ?? -1) : -1)),
  };
}

/** Returns the lane on which the path computes at a time, or -1. */
export function pathLaneAt({ start, stop, lane }: PathLanes, time: number): number {
  if (time >= stop) return -1;
  const from = lowerBound(start, 0, start.length, time);
  return lane[start[from] === time ? from : from - 1] ?? -1;
}
