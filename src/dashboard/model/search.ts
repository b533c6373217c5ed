// Finds tasks by their keys, as positions that the task stream draws and steps through.
import type { ProfileModel } from './profileModel.js';

/** Matching runs of one lane, in order of start. */
export interface LaneMatches {
  readonly positions: Uint32Array;
  /** Seconds since the origin. */
  readonly starts: Float64Array;
}

export interface Matches {
  readonly count: number;
  /** By plot: lane → its matches. Empty for plots other than task streams. */
  readonly lanes: readonly (readonly LaneMatches[])[];
  /** All matches in order of start. */
  readonly inOrder: readonly { readonly plot: number; readonly position: number }[];
}

/** Returns the runs whose key contains the query, in any case; undefined for an empty query. */
export function findTasks(model: ProfileModel, query: string): Matches | undefined {
  const wanted = query.trim().toLowerCase();
  if (wanted === '') return undefined;
  const { keys } = model.page.tasks;
  const found = new Uint8Array(keys.length);
  for (let row = 0; row < found.length; row++) {
    if (keys.at(row)?.toLowerCase().includes(wanted)) found[row] = 1;
  }
  const inOrder: { plot: number; position: number; start: number }[] = [];
  const lanes = (model.searched ?? model.plots).map((plot, index) => {
    if (plot.type !== 'tasks') return [];
    const { start, entry, lanes } = plot.lanes;
    return lanes.map((groups): LaneMatches => {
      const own: number[] = [];
      for (const { from, to } of groups)
        for (let position = from; position < to; position++)
          if (found[plot.section.task[entry[position]!]!] === 1) own.push(position);
      const positions = Uint32Array.from(own).sort((a, b) => start[a]! - start[b]!);
      for (const position of positions) inOrder.push({ plot: index, position, start: start[position]! });
      return { positions, starts: Float64Array.from(positions, (position) => start[position]!) };
    });
  });
  inOrder.sort((a, b) => a.start - b.start);
  return { count: inOrder.length, lanes, inOrder };
}
