// The stretches of a run in which no worker had work. The task stream folds long ones. Cost: some 10 ns per entry.
import type { TimeWindow } from './timeView.js';

/** Parts of the run in which entries are counted. A stretch that is found has at least one part without an entry. */
const BINS = 4096;

/**
 * Returns the stretches of at least `least` seconds between the entries, in order.
 *
 * @param origin subtracted from the times of the entries
 * @param counts returns whether an entry is work
 */
export function idleStretches(
  { start, stop }: { readonly start: Float64Array; readonly stop: Float64Array },
  origin: number,
  run: TimeWindow,
  least: number,
  counts: (entry: number) => boolean = () => true,
): TimeWindow[] {
  const perBin = (run.stop - run.start) / BINS;
  if (!(perBin > 0) || run.stop - run.start < least) return [];
  const binOf = (time: number): number =>
    Math.min(BINS - 1, Math.max(0, Math.floor((time - run.start) / perBin)));
  /** Changes of the number of entries from bin to bin. */
  const changes = new Int32Array(BINS + 1);
  const latest = new Float64Array(BINS).fill(run.start);
  const earliest = new Float64Array(BINS).fill(run.stop);
  for (let entry = 0; entry < start.length; entry++) {
    if (!counts(entry)) continue;
    const [from, to] = [start[entry]! - origin, stop[entry]! - origin];
    const [first, last] = [binOf(from), binOf(to)];
    changes[first]!++;
    changes[last + 1]!--;
    if (to > latest[last]!) latest[last] = to;
    if (from < earliest[first]!) earliest[first] = from;
  }
  const found: TimeWindow[] = [];
  let [count, from] = [0, run.start];
  for (let bin = 0; bin < BINS; bin++) {
    const before = count;
    count += changes[bin]!;
    if (count > 0) {
      if (before === 0 && earliest[bin]! - from >= least) found.push({ start: from, stop: earliest[bin]! });
      from = Math.max(from, latest[bin]!);
    }
  }
  return found;
}
