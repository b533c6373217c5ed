// Computes which results fill the memory over time. A result is needed until the last task that depends on it has run,
// or until the end if no task depends on it, but not after it was lost and had to be computed again. Results that workers hold longer are held by futures of the client.
import { getOrMake } from '../base/lookUps.js';
import { sortedOrder } from '../base/sortedOrder.js';
import { type Trace, textOf } from '../trace/trace.js';
import { lanesOf } from './lanes.js';
import { windowOf } from './path/pathWalk.js';
import { prefixesOfUnknownSize } from './programTransfers.js';
import { previousRuns } from './submissionTimes.js';
import { Table } from './table.js';
import { TimeBins } from './timeBins.js';

const BINS = 50;
/** Largest number of prefixes with a column. The others are added up. */
const MAX_PREFIXES = 8;

/**
 * Smallest share of results that are no longer needed for a separate column. A result is released shortly after its last
 * use.
 */
const KEPT_SHARE = 0.1;

/**
 * Returns one row per fiftieth of the run with the mean megabytes that tasks still need, in a column per prefix, the
 * largest first. The last column has megabytes that workers hold although no task needs them, if they are at least a
 * tenth of all. Prefixes with results of unknown size are left out.
 */
export function memoryByPrefix(trace: Trace): Table {
  const { tasks, strings } = trace;
  const { prefix, nbytes, stopped } = tasks;
  const { laneOf } = lanesOf(trace);
  const unknown = prefixesOfUnknownSize(trace);
  const { start, stop } = windowOf(trace);
  const until = neededUntil(trace, stop);
  const bins = new Map<number, TimeBins>();
  // Byte seconds by prefix, shifted by 1 for tasks without a prefix.
  const sums = new Float64Array(strings.length + 1);
  for (let row = 0; row < tasks.length; row++) {
    if (laneOf[row]! < 0 || !(nbytes[row]! > 0)) continue;
    const id = prefix[row]!;
    const own = getOrMake(bins, id, () => new TimeBins(start, stop, BINS));
    own.add(stopped[row]!, until[row]!, nbytes[row]!);
    sums[id + 1]! += nbytes[row]! * (until[row]! - stopped[row]!);
  }
  for (const id of bins.keys()) if (unknown.has(textOf(strings, id))) bins.delete(id);
  if (bins.size === 0) return new Table([{ title: 'Time (s)', numbers: new Float64Array(0) }]);
  const ids = [...bins.keys()];
  const order = sortedOrder(
    Float64Array.from(ids, (id) => sums[id + 1]!),
    true,
  );
  const means = Array.from(order, (i) =>
    bins
      .get(ids[i]!)!
      .means()
      .map((bytes) => bytes / 1e6),
  );
  const named = means.slice(0, MAX_PREFIXES).map((numbers, i) => {
    const id = ids[order[i]!]!;
    return { title: `${textOf(strings, id)} (MB)`, numbers };
  });
  const others = means.slice(MAX_PREFIXES);
  const all = added(means);
  const kept = keptBeyond(trace, all, start, stop);
  return new Table([
    { title: 'Time (s)', numbers: new TimeBins(0, stop - start, BINS).times() },
    { title: 'All (MB)', numbers: all },
    ...named,
    ...(others.length === 0 ? [] : [{ title: 'Others (MB)', numbers: added(others) }]),
    ...(kept === undefined ? [] : [{ title: KEPT, numbers: kept }]),
  ]);
}

/** Title of the column of results that workers hold although no task needs them. */
const KEPT = 'Only futures hold (MB)';

/**
 * Returns what workers hold in memory and on disk, minus what tasks need; undefined if that is too little for a column.
 */
function keptBeyond(
  { memory, workers }: Trace,
  needed: Float64Array,
  start: number,
  stop: number,
): Float64Array | undefined {
  const bins = new TimeBins(start, stop, BINS);
  const latest = new Map<number, { time: number; bytes: number }>();
  for (const row of sortedOrder(memory.time, false)) {
    const worker = memory.worker[row]!;
    const before = latest.get(worker);
    const time = memory.time[row]!;
    if (before !== undefined) bins.add(before.time, time, before.bytes);
    latest.set(worker, { time, bytes: (memory.managed[row]! || 0) + (memory.spilled[row]! || 0) });
  }
  for (const [worker, { time, bytes }] of latest) {
    // The end of a worker is NaN if it stayed to the end of the run.
    const gone = workers.stopped[worker] ?? Number.NaN;
    bins.add(time, gone >= time ? gone : stop, bytes);
  }
  const measured = bins.means().map((bytes) => bytes / 1e6);
  const kept = measured.map((megabytes, bin) => Math.max(0, megabytes - needed[bin]!));
  const sum = (values: Float64Array): number => values.reduce((all, value) => all + value, 0);
  return sum(kept) > KEPT_SHARE * sum(measured) ? kept : undefined;
}

/**
 * Returns, for each row, the time at which the last dependent task stopped, or `end` without dependents. A result that was
 * lost is held until its task is ready to run again.
 */
function neededUntil(trace: Trace, end: number): Float64Array {
  const { length, ready, stopped, dependencyOffsets, dependencyRows } = trace.tasks;
  const until = new Float64Array(length).fill(Number.NEGATIVE_INFINITY);
  for (let row = 0; row < length; row++) {
    for (let edge = dependencyOffsets[row]!; edge < dependencyOffsets[row + 1]!; edge++) {
      const dependency = dependencyRows[edge]!;
      if (dependency >= 0 && stopped[row]! > until[dependency]!) until[dependency] = stopped[row]!;
    }
  }
  for (let row = 0; row < length; row++) {
    if (until[row] === Number.NEGATIVE_INFINITY) until[row] = end;
    else if (!(until[row]! >= stopped[row]!)) until[row] = stopped[row]!;
  }
  for (const [again, row] of previousRuns(trace).entries())
    if (row >= 0 && ready[again]! < until[row]!) until[row] = Math.max(stopped[row]!, ready[again]!);
  return until;
}

function added(columns: readonly Float64Array[]): Float64Array {
  const sum = new Float64Array(BINS);
  for (const column of columns) for (let bin = 0; bin < BINS; bin++) sum[bin]! += column[bin]!;
  return sum;
}
