import { countText, secondsText } from '../../base/words.js';
import { coreUseOf } from '../coreUse.js';
import { type Straggler, stragglersOf } from '../stragglers.js';
import { CROWDED_SHARE } from './cpuOversubscription.js';
import type { Facts, Rule } from './finding.js';

/** Tasks far above the median of their prefix that held up the critical path, others held nobody up. Costs their excess. */
export const stragglerTasks: Rule = (facts) => {
  const all = stragglersOf(facts.trace);
  if (all.length === 0) return undefined;
  const held = heldUp(facts, all);
  // Where all tasks wait for a core, those that waited longest are no finding of their own.
  const isCrowded = coreUseOf(facts.trace).lost >= CROWDED_SHARE;
  const found = all.filter((one) => held.has(one.row) && !(isCrowded && wasPreempted(one)));
  const worst = found[0];
  if (worst === undefined) return undefined;
  const seconds = found.reduce((sum, one) => sum + one.seconds - one.median, 0);
  const name = facts.prefixName(facts.trace.tasks.prefix[worst.row]!);
  const why = worst.why === '' ? 'The trace shows no reason.' : `What differed: ${worst.why}.`;
  return {
    code: 'stragglers',
    title: `${countText(found.length, 'straggler')} held up the run${found.length === 1 ? ': ' : ', the worst: '}'${name}' took ${secondsText(worst.seconds)} where ${secondsText(worst.median)} is usual`,
    seconds,
    confidence: worst.why === '' ? 'medium' : 'high',
    evidence: {
      text: `${why} ${found.length === 1 ? 'It' : 'Together they'} took ${secondsText(seconds)} longer than the median of ${found.length === 1 ? 'its' : 'their'} prefix.`,
      numbers: {
        stragglers: found.length,
        longestSeconds: worst.seconds,
        medianSeconds: worst.median,
        bytesIn: worst.bytesIn,
        medianBytesIn: worst.medianBytesIn,
        gcSeconds: worst.gc,
        diskSeconds: worst.disk,
        coreWaitSeconds: worst.coreWait,
      },
      tasks: facts.keys(found.map(({ row }) => row)),
      question: 'stragglers',
    },
    advice: adviceFor(worst, name),
  };
};

/** It took longer mostly because the system gave its core to others. */
function wasPreempted({ seconds, median, coreWait }: Straggler): boolean {
  return coreWait > (seconds - median) / 2;
}

function adviceFor(worst: Straggler, name: string): string {
  if (wasPreempted(worst)) return 'Run nothing else beside it, or use fewer workers.';
  return worst.medianBytesIn > 0 && worst.bytesIn > 1.5 * worst.medianBytesIn
    ? 'Divide the input evenly, or split the large parts, and start the largest first.'
    : `Look at the profile of '${name}' for these keys, and start the longest tasks first.`;
}

/** Rows of those that the path computed, and of those that ran where a task of the path waited for its thread. */
function heldUp(facts: Facts, all: readonly Straggler[]): Set<number> {
  const { laneOf } = facts.lanes;
  const { started, stopped } = facts.trace.tasks;
  const held = new Set<number>();
  for (const { row } of facts.parts('compute')) held.add(row);
  // On a single thread every task waits for all before it, long or short.
  if (facts.workers < 2) return held;
  const byLane = new Map<number, number[]>();
  for (const { row } of all) {
    const lane = laneOf[row]!;
    byLane.set(lane, [...(byLane.get(lane) ?? []), row]);
  }
  for (const { start, stop, row } of facts.parts('waiting for a worker')) {
    for (const straggler of (row < 0 ? undefined : byLane.get(laneOf[row]!)) ?? []) {
      // Most of it: a task that was late itself waited for little.
      const waited = Math.min(stopped[straggler]!, stop) - Math.max(started[straggler]!, start);
      if (waited > (stopped[straggler]! - started[straggler]!) / 2) held.add(straggler);
    }
  }
  return held;
}
