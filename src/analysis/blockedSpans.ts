// Finds when worker processes did not answer, and which of these times they spent reading large arguments.
import { oncePer } from '../base/lookUps.js';
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

const meet = (one: Span, other: Span): boolean => one.start < other.stop && other.start < one.stop;

/**
 * Returns the end of each transfer by row. Arguments for a process whose isolate may be starting are recorded until they are packed. If
 * the process did not answer until its isolate had received them, it read them from its pipe. Computed once per trace.
 */
export const arrivals = oncePer((trace: Trace): Float64Array => {
  const { what, direction, worker, start, stop, keys, keyOffsets, length } = trace.transfers;
  const ends = stop.slice();
  const blocked = isRemote(trace) ? [] : blockedSpans(trace);
  if (blocked.length === 0) return ends;
  const { key, received } = trace.tasks;
  const rows = new Map(Array.from(key, (id, row) => [id, row]));
  for (let row = 0; row < length; row++) {
    const isArgument = TRANSFER_KINDS[what[row]!] === 'scatter' && DIRECTIONS[direction[row]!] === 'incoming';
    const task = isArgument ? rows.get(keys[keyOffsets[row]!]!) : undefined;
    const span = { start: start[row]!, stop: task === undefined ? Number.NaN : received[task]! };
    if (span.stop > stop[row]! && blocked.some((one) => one.worker === worker[row] && meet(one, span)))
      ends[row] = span.stop;
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
