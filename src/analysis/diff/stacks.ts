// Compares call stacks of two sets of runs with samples: a call tree with the seconds before and after, and the seconds
// of each function's own code with their variation inside a run.
import { getOrMake } from '../../base/lookUps.js';
import { diffTrees, placesOf, type StackDiff, type WeightedTree } from '../../profile/stackDiff.js';
import { type Trace, textOf } from '../../trace/trace.js';
import { windowOf } from '../path/pathWalk.js';
import { profileTree, samplingInterval } from '../profile.js';
import { Table, valuesColumn } from '../table.js';
import type { GroupSamples } from './samples.js';

/** Number of sections of equal duration into which a run is divided. */
const STRETCHES = 20;
/** Largest number of functions, those with most seconds. */
const MAX_FUNCTIONS = 100;

/** Values of a function without samples. */
export const NO_SECONDS: GroupSamples = { count: 1, seconds: 0, means: new Float64Array(STRETCHES) };

/** Returns the call tree; undefined if a run has no samples. */
export function stackDiff(before: readonly Trace[], after: readonly Trace[]): StackDiff | undefined {
  // Local schedulers sample the program's thread, but no tasks.
  if ([...before, ...after].some(({ samples }) => samples.worker.every((worker) => worker < 0)))
    return undefined;
  const weighted = (traces: readonly Trace[]): WeightedTree[] =>
    traces.map((trace) => ({ tree: profileTree(trace), seconds: samplingInterval(trace) / traces.length }));
  return diffTrees(weighted(before), weighted(after));
}

/** Returns the seconds of functions' own code inside tasks, by name and file. */
export function functionSamples(trace: Trace): Map<string, GroupSamples> {
  const { samples, frames, strings } = trace;
  const { start, stop } = windowOf(trace);
  const step = (stop - start) / STRETCHES;
  const sums = new Map<string, Float64Array>();
  for (let row = 0; row < samples.length; row++) {
    const frame = samples.frame[row]!;
    if (samples.worker[row]! < 0 || samples.prefix[row]! < 0 || frame < 0) continue;
    const name = functionText(
      textOf(strings, frames.functionName[frame]),
      textOf(strings, frames.file[frame]),
    );
    const own = getOrMake(sums, name, () => new Float64Array(STRETCHES));
    const stretch = Math.floor((samples.time[row]! - start) / step) || 0;
    own[Math.min(STRETCHES - 1, Math.max(0, stretch))]! += samples.count[row]! * samples.interval[row]!;
  }
  const groups = Array.from(sums, ([name, means]): [string, GroupSamples] => {
    const seconds = means.reduce((sum, value) => sum + value, 0);
    return [name, { count: 1, seconds, means }];
  });
  return new Map(groups.sort(([, a], [, b]) => b.seconds - a.seconds).slice(0, MAX_FUNCTIONS));
}

/** Returns e.g. `fit (model.js)`. */
function functionText(name: string, filename: string): string {
  const file = filename.split(/[/\\]/).at(-1) ?? '';
  return `${name === '' ? '(anonymous)' : name}${file === '' ? '' : ` (${file})`}`;
}

/** Smallest change that is shown, as a share of all seconds before or after. */
const MIN_CHANGE = 0.01;

/** Returns a table of functions with a changed time, callers before callees, which are indented. */
export function stackTable(root: StackDiff): Table {
  const least = MIN_CHANGE * Math.max(root.before, root.after);
  const changed = new Set<StackDiff>();
  const mark = (place: StackDiff): boolean => {
    const inside = place.children.map(mark).some((isChanged) => isChanged);
    const own = Math.abs(place.after - place.before) >= least && place.after !== place.before;
    if (inside || own) changed.add(place);
    return inside || own;
  };
  mark(root);
  const rows = [...placesOf(root)].filter(({ place }) => changed.has(place));
  const numbers = (title: string, value: (place: StackDiff) => number) => ({
    title,
    // Differences below a nanosecond are rounding errors.
    numbers: Float64Array.from(rows, ({ place }) => Math.round(value(place) * 1e9) / 1e9),
  });
  return new Table([
    valuesColumn(
      'Call stack',
      rows.map(({ place, depth }) => `${'  '.repeat(depth)}${functionText(place.name, place.filename)}`),
    ),
    numbers('Before (s)', ({ before }) => before),
    numbers('After (s)', ({ after }) => after),
    numbers('Change (s)', ({ before, after }) => after - before),
    numbers('Own code (s)', ({ selfBefore, selfAfter }) => selfAfter - selfBefore),
  ]);
}
