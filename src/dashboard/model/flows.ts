// From a chosen task to those whose results it needed and those that needed its own, on the lanes of a task stream.
import type { Trace } from '../../trace/trace.js';
import { dependentsOf } from './dependents.js';
import type { TaskPlot } from './profileModel.js';

/** Where a run stands: seconds since the model's origin. */
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

/** Lines in each direction at most: more are one surface, and the lists beside have the counts. */
const MOST_FLOWS = 400;

/** `plot` is the task stream of `trace`; undefined if the run is not in it. Cost: a step per task of the stream. */
export function flowsOf(trace: Trace, row: number, plot: TaskPlot): Flows | undefined {
  const { dependencyOffsets, dependencyRows, length } = trace.tasks;
  if (row >= length) return undefined;
  const needs = dependencyRows.slice(dependencyOffsets[row]!, dependencyOffsets[row + 1]!);
  const neededBy = dependentsOf(trace, row);
  const wanted = new Set([row, ...needs.slice(0, MOST_FLOWS), ...neededBy.slice(0, MOST_FLOWS)]);
  const ends = endsOf(plot, wanted);
  const task = ends.get(row);
  if (task === undefined) return undefined;
  const found = (rows: Iterable<number>): FlowEnd[] => {
    return Array.from(rows, (one) => ends.get(one)).filter((end) => end !== undefined);
  };
  return {
    plot,
    task,
    needs: found(needs.slice(0, MOST_FLOWS)),
    neededBy: found(neededBy.slice(0, MOST_FLOWS)),
  };
}

function endsOf({ lanes, section }: TaskPlot, wanted: ReadonlySet<number>): Map<number, FlowEnd> {
  const ends = new Map<number, FlowEnd>();
  for (const [lane, groups] of lanes.lanes.entries()) {
    for (const { from, to, beside } of groups) {
      for (let position = from; position < to && !beside; position++) {
        const row = section.task[lanes.entry[position]!]!;
        if (!wanted.has(row)) continue;
        ends.set(row, { lane, start: lanes.start[position]!, stop: lanes.stop[position]! });
      }
    }
  }
  return ends;
}
