// Reads from the intervals of a trace how large the results were that went to disk. What is written may be compressed.
import { checkArgument, TRACE } from '../base/arguments.js';
import { addTo, oncePer, sumOf } from '../base/lookUps.js';
import { bytesText } from '../base/words.js';
import { ACTIONS } from '../protocol/clusterObserver.js';
import type { Trace } from '../trace/trace.js';
import { isRemote } from './workerLives.js';

export interface SpilledResults {
  /** Bytes of these results in memory. */
  readonly nbytes: number;
  /** Ratio of their bytes in memory to those on disk; 1 if they were not compressed. */
  readonly ratio: number;
  /** Bytes in memory of all results that were written or read back, per second, with the time to compress; NaN if none. */
  readonly bandwidth: number;
}

/** Sums of the intervals that write, or of those that read. */
class Direction {
  /** Bytes and seconds of the disk. */
  readonly disk = { nbytes: 0, seconds: 0 };
  /** Bytes in memory, and seconds, of what was compressed. */
  readonly packed = { nbytes: 0, seconds: 0 };
  readonly #plain = new Map<number, number>();
  readonly #packedTasks = new Set<number>();

  add(isDisk: boolean, task: number, nbytes: number, seconds: number): void {
    const sums = isDisk ? this.disk : this.packed;
    sums.nbytes += nbytes;
    sums.seconds += seconds;
    if (isDisk) addTo(this.#plain, task, nbytes);
    else this.#packedTasks.add(task);
  }

  get seconds(): number {
    return this.disk.seconds + this.packed.seconds;
  }

  /** Bytes in memory. What the disk has of a compressed result counts as compressed. */
  get nbytes(): number {
    if (this.disk.nbytes === 0) return 0;
    let sum = this.packed.nbytes;
    for (const [task, nbytes] of this.#plain) if (!this.#packedTasks.has(task)) sum += nbytes;
    return sum;
  }
}

/** Returns the results that were written to disk. Computed once per trace. */
export function spilledResults(trace: Trace): SpilledResults {
  checkArgument('spilledResults(): trace', trace, TRACE);
  return resultsOf(trace);
}

const resultsOf = oncePer((trace: Trace): SpilledResults => {
  const { intervals, totals } = trace;
  // A Dask worker spills results between its tasks, for which it has metrics but no intervals.
  if (isRemote(trace)) return { nbytes: daskSum(trace, 'bytes'), ratio: 1, bandwidth: Number.NaN };
  const { length, action, nbytes, start, stop, task } = intervals;
  const [written, read] = [new Direction(), new Direction()];
  for (let row = 0; row < length; row++) {
    const name = ACTIONS[action[row]!];
    const isDisk = name === 'disk-write' || name === 'disk-read';
    if ((!isDisk && name !== 'compress' && name !== 'decompress') || !(nbytes[row]! > 0)) continue;
    const direction = name === 'disk-write' || name === 'compress' ? written : read;
    direction.add(isDisk, task[row]!, nbytes[row]!, stop[row]! - start[row]!);
  }
  const ratio = Math.max(1, written.nbytes / written.disk.nbytes || 1);
  const moved = written.nbytes + read.nbytes;
  const seconds = (written.nbytes > 0 ? written.seconds : 0) + (read.nbytes > 0 ? read.seconds : 0);
  return { nbytes: totals.spilled * ratio, ratio, bandwidth: seconds > 0 ? moved / seconds : Number.NaN };
});

/** Returns the seconds in which Dask workers wrote results to disk, added up. Each of them starts no task meanwhile. */
export function spillSeconds(trace: Trace): number {
  return daskSum(trace, 'seconds');
}

function daskSum({ totals }: Trace, of: 'bytes' | 'seconds'): number {
  return sumOf(totals.metrics, ({ activity, unit, value }) =>
    activity === 'disk-write' && unit === of ? value : 0,
  );
}

/** Returns e.g. `648 MB of results (2.6 MB compressed)`. */
export function spilledText(trace: Trace): string {
  const { nbytes, ratio } = spilledResults(trace);
  const packed = ratio < 1.05 ? '' : ` (${bytesText(trace.totals.spilled)} compressed)`;
  return `${bytesText(nbytes)} of results${packed}`;
}
