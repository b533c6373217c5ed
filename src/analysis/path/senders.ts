// Finds the work of senders during transfers. A result that the sender reads from disk, or that waits for its garbage
// collection, is not delayed by the network.

import { countedOffsets } from '../../base/groups.js';
import { DIRECTIONS, type Trace } from '../../trace/trace.js';
import { overlapping, type TimeSpans, timeSpans } from '../lanes.js';
import type { Span } from '../spans.js';
import { actionOf, type WorkIntervals, workIntervalsOf } from '../workIntervals.js';

export interface SenderWork extends Span {
  readonly kind: 'disk' | 'gc';
}

const INCOMING = DIRECTIONS.indexOf('incoming');

export class Senders {
  readonly #trace: Trace;
  readonly #intervals: WorkIntervals;
  /** Rows of transfers between workers, by receiver. */
  readonly #spans: TimeSpans;
  readonly #offsets: Int32Array;

  constructor(trace: Trace) {
    this.#trace = trace;
    this.#intervals = workIntervalsOf(trace);
    const { worker, peer, direction, start, stop } = trace.transfers;
    const groupOf = worker.map((row, transfer) =>
      peer[transfer]! >= 0 && direction[transfer] === INCOMING ? row : -1,
    );
    this.#offsets = countedOffsets(groupOf, trace.workers.length);
    this.#spans = timeSpans(groupOf, this.#offsets, start, stop);
  }

  /** Returns the work of the senders to a worker between two times, last first and without overlaps. */
  during(worker: number, from: number, to: number): SenderWork[] {
    const { peer, start, stop } = this.#trace.transfers;
    const found: SenderWork[] = [];
    for (const transfer of overlapping(this.#spans, this.#offsets, worker, { start, stop }, from, to)) {
      const [begin, end] = [Math.max(from, start[transfer]!), Math.min(to, stop[transfer]!)];
      found.push(...this.#workOf(peer[transfer]!, begin, end));
    }
    found.sort((a, b) => b.stop - a.stop);
    return withoutOverlaps(found);
  }

  #workOf(peer: number, from: number, to: number): SenderWork[] {
    const { spans, offsets, start, stop } = this.#intervals;
    return overlapping(spans, offsets, peer, this.#intervals, from, to).flatMap((interval) => {
      const action = actionOf(this.#intervals, interval);
      const kind = action === 'gc' ? 'gc' : action.startsWith('disk') ? 'disk' : undefined;
      const [begin, end] = [Math.max(from, start[interval]!), Math.min(to, stop[interval]!)];
      return kind === undefined ? [] : [{ kind, start: begin, stop: end }];
    });
  }
}

function withoutOverlaps(sorted: readonly SenderWork[]): SenderWork[] {
  const result: SenderWork[] = [];
  let before = Number.POSITIVE_INFINITY;
  for (const { kind, start, stop } of sorted) {
    const end = Math.min(stop, before);
    if (!(end > start)) continue;
    result.push({ kind, start, stop: end });
    before = start;
  }
  return result;
}
