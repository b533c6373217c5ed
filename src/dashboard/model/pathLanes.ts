// The critical path on the lanes of a task stream. Its parts have no gaps, so one search finds the part at a time.
import type { CriticalPath } from '../../analysis/criticalPath.js';
import { PATH_KINDS } from '../../analysis/path/pathParts.js';
import type { TaskPlot } from './profileModel.js';
import { lowerBound } from './taskLanes.js';

/** Parts in order of time, in seconds since the model's origin. Each part ends where the next one begins. */
export interface PathLanes {
  readonly start: Float64Array;
  readonly stop: number;
  /** Lane of the task that computed; -1 if no task did. */
  readonly lane: Int32Array;
}

const AWAITING = PATH_KINDS.indexOf('awaiting');
const COMPUTE = PATH_KINDS.indexOf('compute');
const RECOMPUTED = PATH_KINDS.indexOf('recomputed');
/** Kinds of parts in which the task occupies its thread. */
const RUNNING = new Set([
  COMPUTE,
  RECOMPUTED,
  AWAITING,
  PATH_KINDS.indexOf('gc'),
  PATH_KINDS.indexOf('profiler'),
]);
/** Kinds of parts in which the task itself computes. */
const COMPUTING = new Set([COMPUTE, RECOMPUTED, AWAITING]);

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
