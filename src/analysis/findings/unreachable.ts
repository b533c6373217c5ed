import { countText, secondsText } from '../../base/words.js';
import { UNREACHABLE } from '../../protocol/eventTopics.js';
import { eventsOf } from '../../trace/trace.js';
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
  const failures = [...eventsOf(facts.trace, UNREACHABLE)];
  const [first] = failures;
  if (first === undefined) return undefined;
  const waits = WAITS.flatMap((kind) => [...facts.parts(kind)]).sort((a, b) => a.start - b.start);
  const together = merged(waits.map(({ start, stop }) => ({ start: start - SHORT, stop }))).filter(
    ({ start, stop }) => failures.some(({ time }) => start < time && time <= stop + LATE),
  );
  const seconds = overlapSeconds(waits, together);
  return {
    code: 'unreachable-worker',
    title: `The run waited ${secondsText(seconds)} for connections to workers that cannot be opened`,
    seconds,
    confidence: 'high',
    text: `${countText(failures.length, 'attempt')} to fetch results failed. The first time: ${first.text}`,
    numbers: { attempts: failures.length },
    tasks: [],
    question: 'critical-path',
    advice:
      'Permit TCP on all ports between the machines of the workers, and between them and that of the program.',
  };
};
