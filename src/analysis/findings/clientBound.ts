import { firstWhere } from '../../base/lookUps.js';
import { countText, percentText, secondsText } from '../../base/words.js';
import { SchedulerCoreWaits } from '../schedulerCoreWaits.js';
import { gapsBetween, type Span } from '../spans.js';
import { submissionsOf } from '../submissionTimes.js';
import { clientSpans } from './clientTransfers.js';
import type { Facts, Rule } from './finding.js';
import { coreWaitText, isCause } from './ownThread.js';
import { sampledSeconds } from './schedulerThread.js';

/** Shorter parts, in seconds, are the normal delay between a result and the next submission. */
const MIN_PART = 1e-3;

/**
 * The program had all results that it awaited, and did something else before it submitted the next tasks. The cost is
 * this time on the critical path, without the transfers of the client in it.
 */
export const clientBound: Rule = (facts) => {
  const { seconds, coreWait, longpole, pauses, rows } = programTime(facts);
  if (!isCause(facts, seconds - coreWait - longpole, coreWait + longpole)) return undefined;
  return {
    code: 'client-bound',
    title: `The run waited ${secondsText(seconds)} for the program to submit its next tasks`,
    seconds,
    confidence: 'medium',
    evidence: {
      text: `In ${countText(pauses, 'pause')}, ${percentText(seconds / facts.makespan)} of the critical path, the program had not submitted the next task yet${coreWaitText(seconds, coreWait)}.`,
      numbers: { clientSeconds: seconds, coreWaitSeconds: coreWait, pauses },
      tasks: facts.keys(rows),
      question: 'critical-path',
    },
    advice:
      'Submit the next step before you process the results of the previous one, or process results in tasks: pass futures instead of values.',
  };
};

export interface ProgramTime {
  readonly seconds: number;
  /** Part of `seconds` in which the program's thread waited for a core. */
  readonly coreWait: number;
  /** Part of `seconds` in which Longpole used this thread, e.g. to record, according to samples. */
  readonly longpole: number;
  /** Submissions before which the run waited for the program. */
  readonly pauses: number;
  /** Rows of the tasks that followed these parts on the path. */
  readonly rows: ReadonlySet<number>;
}

/**
 * Returns the time on the critical path, after the first task's start, in which the run waited for the program itself.
 */
export function programTime(facts: Facts): ProgramTime {
  const moving = [...clientSpans(facts, 'gather'), ...clientSpans(facts, 'scatter')];
  const { kind, start, stop, row, length } = facts.path.columns;
  const number = facts.kindNumber('client time');
  const waits = new SchedulerCoreWaits(facts.trace);
  const rows = new Set<number>();
  const all: Span[] = [];
  let [seconds, coreWait, pauses] = [0, 0, 0];
  // No submission follows the last part.
  for (let part = 0; part + 1 < length; part++) {
    const from = Math.max(start[part]!, facts.firstStart);
    if (kind[part] !== number || !(stop[part]! > from)) continue;
    const gaps = gapsBetween(from, stop[part]!, moving);
    const own = gaps.reduce((sum, gap) => sum + gap.stop - gap.start, 0);
    if (own < MIN_PART) continue;
    seconds += own;
    all.push(...gaps);
    for (const gap of gaps) coreWait += waits.take(gap.start, gap.stop);
    pauses += Math.max(1, submissionsBetween(facts, from, stop[part]!));
    if (row[part + 1]! >= 0) rows.add(row[part + 1]!);
  }
  const longpole = sampledSeconds(facts.trace, all)?.longpole ?? 0;
  return { seconds, coreWait, longpole: Math.min(longpole, seconds - coreWait), pauses, rows };
}

/** Returns the number of submissions in a part of the path. A program that always has tasks in flight is one long part. */
function submissionsBetween({ trace }: Facts, from: number, to: number): number {
  const { time } = submissionsOf(trace);
  const after = (limit: number): number => firstWhere(0, time.length, (at) => time[at]! > limit);
  return after(to) - after(from);
}
