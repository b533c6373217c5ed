import { countText, percentText, secondsText } from '../../base/words.js';
import { clientSpans, overlapSeconds } from './clientTransfers.js';
import type { Facts, Rule } from './finding.js';

/** Parts that are shorter are what it takes to act upon a result, seconds. */
const MIN_PART = 1e-3;

/**
 * The run waited for the program, which had all results that it had asked for and did something else before it submitted
 * more. Costs that time of the critical path, without what the client sent and fetched meanwhile.
 */
export const clientBound: Rule = (facts) => {
  const { seconds, parts, rows } = programTime(facts);
  if (parts === 0) return undefined;
  return {
    code: 'client-bound',
    title: `The run waited ${secondsText(seconds)} for the program, between results and what it submitted next`,
    seconds,
    confidence: 'medium',
    evidence: {
      text: `${percentText(seconds / facts.makespan)} of the critical path, in ${countText(parts, 'pause')}: no task could run that the program had submitted.`,
      numbers: { clientSeconds: seconds, pauses: parts },
      tasks: facts.keys(rows),
      question: 'critical-path',
    },
    advice:
      'Submit the next step before you process results of the last one, or process them in tasks: pass futures instead of values.',
  };
};

/** What of the path is the program's own time after the first task had started. */
export function programTime(facts: Facts): {
  readonly seconds: number;
  readonly parts: number;
  /** Rows of the tasks that ran next. */
  readonly rows: ReadonlySet<number>;
} {
  const moving = [...clientSpans(facts, 'gather'), ...clientSpans(facts, 'scatter')];
  const { kind, start, stop, row, length } = facts.path.columns;
  const number = facts.kindNumber('client time');
  const rows = new Set<number>();
  let [seconds, parts] = [0, 0];
  for (let part = 0; part < length; part++) {
    const from = Math.max(start[part]!, facts.firstStart);
    if (kind[part] !== number || !(stop[part]! > from)) continue;
    const own = stop[part]! - from - overlapSeconds([{ start: from, stop: stop[part]! }], moving);
    if (own < MIN_PART) continue;
    seconds += own;
    parts++;
    if (part + 1 < length && row[part + 1]! >= 0) rows.add(row[part + 1]!);
  }
  return { seconds, parts, rows };
}
