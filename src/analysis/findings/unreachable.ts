import { countText, secondsText } from '../../base/words.js';
import { UNREACHABLE } from '../../protocol/eventTopics.js';
import type { PathKind } from '../path/pathParts.js';
import { merged, overlapSeconds } from '../spans.js';
import type { Rule } from './finding.js';

/** Waits that end when a fetch fails: its result is computed again, or the task that needs it fails. */
const WAITS: readonly PathKind[] = [
  'waiting for the scheduler',
  'waiting for a worker',
  'run without result',
];
/** Seconds from a failed fetch to the end of the wait. */
const LATE = 0.5;
/** Longest part between two waits of one fetch, in seconds. Other tasks end meanwhile. */
const SHORT = 0.2;

/**
 * Results could not be fetched, because no connection to their worker could be opened. The cost is the waits on the critical
 * path that ended with a failed fetch.
 */
export const unreachable: Rule = (facts) => {
  const { events, strings } = facts.trace;
  const rows = Array.from(events.topic.keys()).filter(
    (row) => strings.get(events.topic[row]!) === UNREACHABLE,
  );
  const [first] = rows;
  if (first === undefined) return undefined;
  const waits = WAITS.flatMap((kind) => [...facts.parts(kind)]).sort((a, b) => a.start - b.start);
  const together = merged(waits.map(({ start, stop }) => ({ start: start - SHORT, stop }))).filter(
    ({ start, stop }) => rows.some((row) => start < events.time[row]! && events.time[row]! <= stop + LATE),
  );
  const seconds = overlapSeconds(waits, together);
  return {
    code: 'unreachable-worker',
    title: `The run waited ${secondsText(seconds)} for connections to workers that cannot be opened`,
    seconds,
    confidence: 'high',
    text: `${countText(rows.length, 'attempt')} to fetch results failed. The first time: ${strings.get(events.text[first]!)}`,
    numbers: { attempts: rows.length },
    tasks: [],
    question: 'critical-path',
    advice:
      'Permit TCP on all ports between the machines of the workers, and between them and that of the program.',
  };
};
