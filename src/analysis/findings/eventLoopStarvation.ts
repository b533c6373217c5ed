import { countText, secondsText } from '../../base/words.js';
import type { Facts, Rule } from './finding.js';

/** Seconds by which the scheduler's event loop is late, from where it does not answer. */
const MIN_DELAY = 0.05;

/**
 * The scheduler's event loop was blocked, by code of the program on its thread, while tasks waited for it. Costs the waits
 * for the scheduler on the critical path that fall into such times, after the first task has started.
 */
export const eventLoopStarvation: Rule = (facts) => {
  const blocked = blockedSpans(facts);
  const worst = blocked.reduce((most, { delay }) => Math.max(most, delay), 0);
  if (blocked.length === 0) return undefined;
  let seconds = 0;
  const rows = new Set<number>();
  const { firstStart } = facts;
  for (const part of facts.parts('waiting for the scheduler')) {
    for (const { start, stop } of blocked) {
      const inside = Math.min(part.stop, stop) - Math.max(part.start, start, firstStart);
      if (inside <= 0) continue;
      seconds += inside;
      rows.add(part.row);
    }
  }
  return {
    code: 'event-loop-starvation',
    title: `The scheduler did not answer for ${secondsText(worst)}: its event loop was blocked`,
    seconds,
    confidence: 'high',
    evidence: {
      text: `${countText(blocked.length, 'sample')} saw its event loop late by ${secondsText(MIN_DELAY)} or more; tasks of the critical path waited ${secondsText(seconds)} meanwhile.`,
      numbers: { worstDelaySeconds: worst, samples: blocked.length },
      tasks: facts.keys(rows),
      question: 'queueing',
    },
    advice:
      'Move what the program computes beside the run (parsing, sorting, synchronous I/O) into tasks, or into another process than the scheduler.',
  };
};

/** What a delay of the host's sample covers: the time before it. */
function blockedSpans({ trace }: Facts): { start: number; stop: number; delay: number }[] {
  const { length, worker, time, figures } = trace.resources;
  const delays = figures.get('eventLoopDelay');
  const spans: { start: number; stop: number; delay: number }[] = [];
  if (delays === undefined) return spans;
  let until = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < length; row++) {
    const delay = delays[row]!;
    if (worker[row] !== -1 || !(delay >= MIN_DELAY)) continue;
    spans.push({ start: Math.max(until, time[row]! - delay), stop: time[row]!, delay });
    until = time[row]!;
  }
  return spans;
}
