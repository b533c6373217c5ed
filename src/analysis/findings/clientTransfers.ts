import { DIRECTIONS, TRANSFER_KINDS } from '../../trace/trace.js';
import type { Facts } from './finding.js';

/** What the client sent or fetched. */
export interface ClientTransfers {
  /** Rows of transfers, largest first. */
  readonly rows: readonly number[];
  readonly nbytes: number;
  /** Seconds in which the critical path did nothing else: not computing, and such a transfer was going on. */
  readonly onPath: number;
}

/** `scatter`: to the workers; `gather`: from them. */
export function clientTransfers(facts: Facts, what: 'scatter' | 'gather'): ClientTransfers {
  const { transfers } = facts.trace;
  const kind = TRANSFER_KINDS.indexOf(what);
  const direction = DIRECTIONS.indexOf(what === 'scatter' ? 'incoming' : 'outgoing');
  const rows: number[] = [];
  let nbytes = 0;
  for (let row = 0; row < transfers.length; row++) {
    if (transfers.what[row] !== kind || transfers.peer[row]! >= 0 || transfers.direction[row] !== direction)
      continue;
    rows.push(row);
    nbytes += transfers.nbytes[row]!;
  }
  if (rows.length === 0) return { rows, nbytes, onPath: 0 };
  const spans = rows.map((row) => [transfers.start[row]!, transfers.stop[row]!] as const);
  rows.sort((a, b) => transfers.nbytes[b]! - transfers.nbytes[a]!);
  return { rows, nbytes, onPath: overlapWithWaits(facts, spans) };
}

/** Kinds of parts in which no task ran on the worker that the path waits for, and nothing that has a cause of its own. */
const WAITS = ['transfer', 'waiting for the scheduler', 'client time', 'unknown'] as const;

/** Seconds of the path's parts that are no computing and lie inside at least one of the spans. */
function overlapWithWaits(facts: Facts, spans: readonly (readonly [number, number])[]): number {
  const sorted = [...spans].sort(([a], [b]) => a - b);
  const { firstStart } = facts;
  // Before any task ran the path says that nobody was there yet; what was sent meanwhile may be why.
  const early = [...facts.parts('worker start')].filter(({ start }) => start < firstStart);
  const waits = [...WAITS.flatMap((kind) => [...facts.parts(kind)]), ...early].sort(
    (a, b) => a.start - b.start,
  );
  let seconds = 0;
  let next = 0;
  for (const [from, to] of merged(sorted)) {
    while (next < waits.length && waits[next]!.stop <= from) next++;
    for (let at = next; at < waits.length && waits[at]!.start < to; at++)
      seconds += Math.max(0, Math.min(waits[at]!.stop, to) - Math.max(waits[at]!.start, from));
  }
  return seconds;
}

function* merged(sorted: readonly (readonly [number, number])[]): IterableIterator<[number, number]> {
  let current: [number, number] | undefined;
  for (const [from, to] of sorted) {
    if (current !== undefined && from <= current[1]) {
      current[1] = Math.max(current[1], to);
      continue;
    }
    if (current !== undefined) yield current;
    current = [from, to];
  }
  if (current !== undefined) yield current;
}
