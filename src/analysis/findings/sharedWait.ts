import { pushTo, sumOf } from '../../base/lookUps.js';
import { percentText, secondsText } from '../../base/words.js';
import { eachUse } from '../lanes.js';
import { awaitedObject } from '../leaseWaits.js';
import { type Span, secondsOf } from '../spans.js';
import type { Facts, Rule } from './finding.js';

/** What ends a wait for an object of each class. */
const ENDS: ReadonlyMap<string, string> = new Map([
  ['Event', 'sets it'],
  ['Variable', 'sets it'],
  ['Queue', 'puts or takes items'],
]);

/**
 * Tasks outside their slots wait for an event, a variable or a queue while no task computes, so the program ends these waits, or a
 * task that awaits something itself. The cost is this part of the critical path. While a task computes, it may end the wait:
 * `lack-of-parallelism` and `serial-tail` are about such tasks.
 */
export const sharedWait: Rule = (facts) => {
  const [worst] = [...waitsByPrefix(facts)].sort(([, a], [, b]) => secondsOf(b) - secondsOf(a));
  if (worst === undefined) return undefined;
  const [prefix, waits] = worst;
  const object = awaitedObject(facts.trace, prefix, secondsOf(waits));
  const ends = ENDS.get(object?.split(' ', 1)[0] ?? '');
  if (object === undefined || ends === undefined) return undefined;
  const idle = idleUntil(facts, prefix);
  const seconds = sumOf(waits, ({ start, stop }) => idle(stop) - idle(start));
  return {
    code: 'shared-wait',
    title: `Tasks of '${prefix}' wait for ${object} while no other task computes`,
    seconds,
    confidence: 'medium',
    text: `For ${secondsText(seconds)} of the critical path, ${percentText(seconds / facts.makespan)} of the run, tasks of '${prefix}' wait until the program, or a task that awaits something itself, ${ends}. More workers do not change this.`,
    numbers: { idleSeconds: seconds, awaitedSeconds: secondsOf(waits), workers: facts.workers },
    tasks: facts.keys(new Set(waits.map(({ row }) => row))),
    question: 'critical-path',
    advice: `Find out what the code that ends the wait for ${object} waits for, or computes. Start that earlier, or do it in tasks.`,
  };
};

/**
 * Returns a function from a time to the seconds until then in which no task computed. When tasks of this prefix compute between two
 * waits is not recorded, and mostly they wait then.
 */
function idleUntil(facts: Facts, waiting: string): (time: number) => number {
  const { trace, lanes } = facts;
  const { prefix, seceded, resumed } = trace.tasks;
  const bins = facts.bins();
  for (const row of lanes.spans.rows)
    eachUse(trace, row, (start, stop, share) => {
      const isBetween = start === seceded[row] && stop === resumed[row];
      if (!isBetween || facts.prefixName(prefix[row]!) !== waiting) bins.add(start, stop, share);
    });
  return bins.integral(bins.means().map((tasks) => Math.max(0, 1 - tasks)));
}

/** Returns the waits of tasks that have left their slot, on the critical path, by prefix. */
function waitsByPrefix(facts: Facts): ReadonlyMap<string, readonly (Span & { readonly row: number })[]> {
  const { prefix, seceded } = facts.trace.tasks;
  const waits = new Map<string, (Span & { readonly row: number })[]>();
  for (const part of facts.parts('awaiting'))
    if (part.row >= 0 && !Number.isNaN(seceded[part.row]!))
      pushTo(waits, facts.prefixName(prefix[part.row]!), part);
  return waits;
}
