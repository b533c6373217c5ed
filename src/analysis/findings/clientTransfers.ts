import { programTransfers } from '../programTransfers.js';
import { overlapSeconds, type Span } from '../spans.js';
import type { Facts } from './finding.js';

/** The transfers from or to the client. */
export interface ClientTransfers {
  /** Rows of transfers, largest first. */
  readonly rows: readonly number[];
  readonly nbytes: number;
  /** Seconds in which such a transfer ran and the critical path did not compute. */
  readonly onPath: number;
}

/** `scatter`: to the workers; `gather`: from them. */
export function clientTransfers(facts: Facts, what: 'scatter' | 'gather'): ClientTransfers {
  const { nbytes } = facts.trace.transfers;
  const rows = programTransfers(facts.trace, what).sort((a, b) => nbytes[b]! - nbytes[a]!);
  return {
    rows,
    nbytes: rows.reduce((sum, row) => sum + nbytes[row]!, 0),
    onPath: rows.length === 0 ? 0 : overlapSeconds(waits(facts), clientSpans(facts, what)),
  };
}

/** Returns the seconds in which a transfer from or to the client ran and the critical path did not compute. */
export function bothOnPath(facts: Facts): number {
  return overlapSeconds(waits(facts), [...clientSpans(facts, 'gather'), ...clientSpans(facts, 'scatter')]);
}

/** Returns the time spans of these transfers. */
export function clientSpans(facts: Facts, what: 'scatter' | 'gather'): Span[] {
  const { start, stop } = facts.trace.transfers;
  return programTransfers(facts.trace, what).map((row) => ({ start: start[row]!, stop: stop[row]! }));
}

/** Kinds of path parts without a running task and without another known cause. */
const WAITS = ['transfer', 'waiting for the scheduler', 'client time', 'unknown'] as const;

/** Returns the parts of the path that a transfer of the client may explain, in order of time. */
function waits(facts: Facts): Span[] {
  const { firstStart } = facts;
  // Before the first task the path shows 'worker start', but transfers at that time may be the cause.
  const early = [...facts.parts('worker start')].filter(({ start }) => start < firstStart);
  return [...WAITS.flatMap((kind) => [...facts.parts(kind)]), ...early].sort((a, b) => a.start - b.start);
}
