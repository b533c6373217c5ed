// Finds when worker processes did not answer, and which of these times they spent reading large arguments.
import { oncePer, pushTo } from '../base/lookUps.js';
import { blockedSeconds, WORKER_BLOCKED } from '../protocol/eventTopics.js';
import { DIRECTIONS, eventsOf, TRANSFER_KINDS, type Trace } from '../trace/trace.js';
import type { Span } from './spans.js';
import { isRemote } from './workerLives.js';

export interface BlockedWorker extends Span {
  readonly worker: number;
}

/** Returns the times in which a worker did not answer. */
export function blockedSpans(trace: Trace): BlockedWorker[] {
  return Array.from(eventsOf(trace, WORKER_BLOCKED), ({ time: stop, worker, text }) => ({
    start: stop - blockedSeconds(text),
    stop,
    worker,
  })).filter(({ start, stop }) => start < stop);
}

/** Bytes per second that a process reads at least. On a busy machine, 6 MB/s of small objects were measured. */
const SLOWEST = 1e6;

const meet = (one: Span, other: Span): boolean => one.start < other.stop && other.start < one.stop;

/**
 * Returns the end of each transfer by row. Arguments for a process whose isolate may be starting are recorded until they are packed. If
 * the process did not answer until its isolate had received them, it read them from its pipe, unless that took too long for their size.
 * Computed once per trace.
 */
export const arrivals = oncePer((trace: Trace): Float64Array => {
  const { what, direction, worker, start, stop, nbytes, keys, keyOffsets, length } = trace.transfers;
  const ends = stop.slice();
  const blocked = isRemote(trace) ? [] : blockedSpans(trace);
  if (blocked.length === 0) return ends;
  const { tasks } = trace;
  const runs = new Map<number, number[]>();
  for (const [run, key] of tasks.key.entries()) pushTo(runs, key, run);
  for (let row = 0; row < length; row++) {
    if (TRANSFER_KINDS[what[row]!] !== 'scatter' || DIRECTIONS[direction[row]!] !== 'incoming') continue;
    // Later runs of the task have received their arguments again.
    const run = runs
      .get(keys[keyOffsets[row]!]!)
      ?.find((one) => tasks.worker[one] === worker[row] && tasks.received[one]! > stop[row]!);
    const span = { start: start[row]!, stop: run === undefined ? Number.NaN : tasks.received[run]! };
    const isRead = (one: BlockedWorker): boolean =>
      one.worker === worker[row] && meet(one, span) && (one.stop - one.start) * SLOWEST <= nbytes[row]!;
    if (blocked.some(isRead)) ends[row] = span.stop;
  }
  return ends;
});

/** Returns the times in which a worker did not answer, without those in which it read arguments. */
export function unexplainedSpans(trace: Trace): BlockedWorker[] {
  const { worker, start, stop } = trace.transfers;
  const ends = arrivals(trace);
  const reading = Array.from(ends.keys()).filter((row) => ends[row]! > stop[row]!);
  return blockedSpans(trace).filter(
    (one) =>
      !reading.some(
        (row) => worker[row] === one.worker && meet(one, { start: start[row]!, stop: ends[row]! }),
      ),
  );
}
