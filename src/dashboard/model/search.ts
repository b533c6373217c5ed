// Finds tasks by their keys, as positions that the task stream draws and steps through.
import type { ProfileModel } from './profileModel.js';
import { isLaterPart } from './sections.js';

/** Matching runs of one lane, in order of start. */
export interface LaneMatches {
  readonly positions: Uint32Array;
  /** Seconds since the origin. */
  readonly starts: Float64Array;
}

/** A run in a task stream; or the row of a task that has none there, e.g. because it was lost or cancelled. */
export type Match = { readonly position: number; readonly task: number } | { readonly task: number };

export interface Matches {
  readonly count: number;
  /** Lane → its matches. */
  readonly lanes: readonly LaneMatches[];
  /** All matches: first runs in order of start, then tasks without a run. */
  readonly inOrder: readonly Match[];
}

/** Returns the tasks whose key contains the query, in any case; undefined without a query, and if a page finds no tasks. */
export function findTasks(model: ProfileModel, query: string): Matches | undefined {
  const wanted = query.trim().toLowerCase();
  if (wanted === '' || model.findsTasks === false) return undefined;
  const { keys } = model.page.tasks;
  const { section } = model.stream;
  const { start, entry, lanes: groupsOf } = model.stream.lanes;
  const found = new Uint8Array(keys.length);
  for (let row = 0; row < found.length; row++) {
    if (keys.at(row)?.toLowerCase().includes(wanted)) found[row] = 1;
  }
  const drawn: { position: number; start: number; task: number }[] = [];
  const lanes = groupsOf.map((groups): LaneMatches => {
    const own: number[] = [];
    for (const { from, to } of groups)
      for (let position = from; position < to; position++)
        if (found[section.task[entry[position]!]!] === 1) own.push(position);
    const positions = Uint32Array.from(own).sort((a, b) => start[a]! - start[b]!);
    for (const position of positions)
      if (!isLaterPart(section, entry[position]!))
        drawn.push({ position, start: start[position]!, task: section.task[entry[position]!]! });
    return { positions, starts: Float64Array.from(positions, (position) => start[position]!) };
  });
  drawn.sort((a, b) => a.start - b.start);
  const inOrder = [...drawn, ...withoutRun(found, drawn)];
  return { count: inOrder.length, lanes, inOrder };
}

/** Returns the found tasks that the task stream does not draw. */
function withoutRun(found: Uint8Array, drawn: readonly { readonly task: number }[]): Match[] {
  for (const { task } of drawn) found[task] = 0;
  const matches: Match[] = [];
  for (let task = found.indexOf(1); task >= 0; task = found.indexOf(1, task + 1)) matches.push({ task });
  return matches;
}

/** Returns the index of a match in the matches of a later model; -1 if the row of its task was evicted. */
export function laterMatch(
  before: ProfileModel,
  match: Match,
  later: ProfileModel,
  matches: Matches | undefined,
): number {
  // Time 0 may have moved between the models, so epoch times are compared.
  const startOf = ({ stream: { lanes, section } }: ProfileModel, one: Match) =>
    'position' in one ? section.start[lanes.entry[one.position]!] : undefined;
  const keyOf = ({ page }: ProfileModel, { task }: Match) => page.tasks.keys.at(task);
  const [start, key] = [startOf(before, match), keyOf(before, match)];
  return (
    matches?.inOrder.findIndex((one) => startOf(later, one) === start && keyOf(later, one) === key) ?? -1
  );
}
