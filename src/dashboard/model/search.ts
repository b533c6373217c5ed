// Finds tasks by their keys, as positions that the task stream draws and steps through.
import type { Plot, ProfileModel } from './profileModel.js';

/** Matching runs of one lane, in order of start. */
export interface LaneMatches {
  readonly positions: Uint32Array;
  /** Seconds since the origin. */
  readonly starts: Float64Array;
}

/** A run in a task stream; or the row of a task that has none there, e.g. because it was lost or cancelled. */
export type Match =
  | { readonly plot: number; readonly position: number; readonly task: number }
  | { readonly task: number };

export interface Matches {
  readonly count: number;
  /** By plot: lane → its matches. Empty for plots other than task streams. */
  readonly lanes: readonly (readonly LaneMatches[])[];
  /** All matches: first runs in order of start, then tasks without a run. */
  readonly inOrder: readonly Match[];
}

/** Returns the tasks whose key contains the query, in any case; undefined for an empty query. */
export function findTasks(model: ProfileModel, query: string): Matches | undefined {
  const wanted = query.trim().toLowerCase();
  if (wanted === '') return undefined;
  const { keys } = model.page.tasks;
  const found = new Uint8Array(keys.length);
  for (let row = 0; row < found.length; row++) {
    if (keys.at(row)?.toLowerCase().includes(wanted)) found[row] = 1;
  }
  const drawn: { plot: number; position: number; start: number; task: number }[] = [];
  const searched = model.searched ?? model.plots;
  const lanes = searched.map((plot, index) => {
    if (plot.type !== 'tasks') return [];
    const { start, entry, lanes } = plot.lanes;
    return lanes.map((groups): LaneMatches => {
      const own: number[] = [];
      for (const { from, to } of groups)
        for (let position = from; position < to; position++)
          if (found[plot.section.task[entry[position]!]!] === 1) own.push(position);
      const positions = Uint32Array.from(own).sort((a, b) => start[a]! - start[b]!);
      for (const position of positions) {
        const task = plot.section.task[entry[position]!]!;
        drawn.push({ plot: index, position, start: start[position]!, task });
      }
      return { positions, starts: Float64Array.from(positions, (position) => start[position]!) };
    });
  });
  drawn.sort((a, b) => a.start - b.start);
  const inOrder = [...drawn, ...withoutRun(searched, found, drawn)];
  return { count: inOrder.length, lanes, inOrder };
}

/** Returns the found tasks that no task stream draws. A page without a task stream, e.g. of samples, does not find tasks. */
function withoutRun(
  plots: readonly Plot[],
  found: Uint8Array,
  drawn: readonly { readonly task: number }[],
): Match[] {
  if (!plots.some(({ type }) => type === 'tasks')) return [];
  for (const { task } of drawn) found[task] = 0;
  const matches: Match[] = [];
  for (let task = found.indexOf(1); task >= 0; task = found.indexOf(1, task + 1)) matches.push({ task });
  return matches;
}
