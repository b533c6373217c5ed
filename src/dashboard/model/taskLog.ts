// What a trace says of one task beside its runs: how often its result was moved, and what scheduler and workers said of it.
import { mentions, textOf } from '../../trace/names.js';
import type { Trace } from '../../trace/trace.js';

export interface TaskLog {
  /** Movements of its result between workers, or to a client. */
  readonly moves: number;
  /** What was said with its key. */
  readonly lines: readonly { readonly time: number; readonly topic: string; readonly text: string }[];
}

const MOST_LINES = 20;
const MOST_LETTERS = 2000;

/** Oldest first. Cost: a walk over transfers and events. */
export function taskLog(trace: Trace, key: string): TaskLog {
  const { transfers, keys, events, strings } = trace;
  let moves = 0;
  for (let row = 0; row < transfers.length; row++) {
    // Of a movement between workers both sides tell.
    if (transfers.direction[row] === 1 && transfers.peer[row]! >= 0) continue;
    for (let at = transfers.keyOffsets[row]!; at < transfers.keyOffsets[row + 1]!; at++)
      if (keys.get(transfers.keys[at]!) === key) moves++;
  }
  const lines: TaskLog['lines'][number][] = [];
  for (let row = events.length - 1; row >= 0 && lines.length < MOST_LINES; row--) {
    const text = textOf(strings, events.text[row]);
    if (!mentions(text, key)) continue;
    const topic = textOf(strings, events.topic[row]);
    lines.push({ time: events.time[row]!, topic, text: text.slice(0, MOST_LETTERS) });
  }
  return { moves, lines: lines.reverse() };
}
