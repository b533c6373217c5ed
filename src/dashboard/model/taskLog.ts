// The log of one task: how often its result was transferred, and the events that mention its key.
import { newestMentions } from '../../trace/names.js';
import type { Trace } from '../../trace/trace.js';

export interface TaskLog {
  /** Number of transfers of the result to another worker or to a client. */
  readonly transferCount: number;
  /** Events that mention the key. */
  readonly lines: readonly { readonly time: number; readonly topic: string; readonly text: string }[];
}

const MAX_LINES = 20;
const MAX_CHARACTERS = 2000;

/** Returns the newest events, in order of time. Cost: one pass over transfers and events. */
export function taskLog(trace: Trace, key: string): TaskLog {
  const { transfers, keys } = trace;
  let transferCount = 0;
  for (let row = 0; row < transfers.length; row++) {
    // Both workers record a transfer between them, so the outgoing side is skipped.
    if (transfers.direction[row] === 1 && transfers.peer[row]! >= 0) continue;
    for (let at = transfers.keyOffsets[row]!; at < transfers.keyOffsets[row + 1]!; at++)
      if (keys.get(transfers.keys[at]!) === key) transferCount++;
  }
  return { transferCount, lines: newestMentions(trace, key, MAX_LINES, MAX_CHARACTERS) };
}
