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

interface Span {
  readonly start: number;
  readonly stop: number;
}

/** `scatter`: to the workers; `gather`: from them. */
export function clientTransfers(facts: Facts, what: 'scatter' | 'gather'): ClientTransfers {
  const { nbytes } = facts.trace.transfers;
  const rows = rowsOf(facts, what).sort((a, b) => nbytes[b]! - nbytes[a]!);
  return {
    rows,
    nbytes: rows.reduce((sum, row) => sum + nbytes[row]!, 0),
    onPath: rows.length === 0 ? 0 : overlapSeconds(waits(facts), clientSpans(facts, what)),
  };
}

/** When such transfers were going on. */
export function clientSpans(facts: Facts, what: 'scatter' | 'gather'): Span[] {
  const { start, stop } = facts.trace.transfers;
  return rowsOf(facts, what).map((row) => ({ start: start[row]!, stop: stop[row]! }));
}

function rowsOf({ trace: { transfers } }: Facts, what: 'scatter' | 'gather'): number[] {
  const kind = TRANSFER_KINDS.indexOf(what);
  const direction = DIRECTIONS.indexOf(what === 'scatter' ? 'incoming' : 'outgoing');
  const rows: number[] = [];
  for (let row = 0; row < transfers.length; row++)
    if (transfers.what[row] === kind && transfers.peer[row]! < 0 && transfers.direction[row] === direction)
      rows.push(row);
  return rows;
}

/** Kinds of parts in which no task ran on the worker that the path waits for, and nothing that has a cause of its own. */
const WAITS = ['transfer', 'waiting for the scheduler', 'client time', 'unknown'] as const;

/** The path's parts that are no computing, in order. */
function waits(facts: Facts): Span[] {
  const { firstStart } = facts;
  // Before any task ran the path says that nobody was there yet; what was sent meanwhile may be why.
  const early = [...facts.parts('worker start')].filter(({ start }) => start < firstStart);
  return [...WAITS.flatMap((kind) => [...facts.parts(kind)]), ...early].sort((a, b) => a.start - b.start);
}

/** Seconds of `parts`, which are in order and do not overlap, that lie inside at least one of the spans. */
export function overlapSeconds(parts: readonly Span[], spans: readonly Span[]): number {
  let seconds = 0;
  let next = 0;
  for (const [from, to] of merged([...spans].sort((a, b) => a.start - b.start))) {
    while (next < parts.length && parts[next]!.stop <= from) next++;
    for (let at = next; at < parts.length && parts[at]!.start < to; at++)
      seconds += Math.max(0, Math.min(parts[at]!.stop, to) - Math.max(parts[at]!.start, from));
  }
  return seconds;
}

function* merged(sorted: readonly Span[]): IterableIterator<[number, number]> {
  let current: [number, number] | undefined;
  for (const { start, stop } of sorted) {
    if (current !== undefined && start <= current[1]) {
      current[1] = Math.max(current[1], stop);
      continue;
    }
    if (current !== undefined) yield current;
    current = [start, stop];
  }
  if (current !== undefined) yield current;
}
