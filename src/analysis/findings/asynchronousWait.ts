import { countText, percentText, secondsText } from '../../base/words.js';
import type { Rule } from './finding.js';
import { cpuByPrefix, type PrefixCpu, shareOfTime } from './noncpu.js';

/** Share of a prefix's time, but for waiting for a core, in which it waits for a promise, from where that is what it does. */
const MIN_SHARE = 0.6;
/** Workers are not free: more than this many times as many are no advice. */
const MAX_TIMES = 16;

/**
 * Asynchronous tasks wait for promises (requests, files, timers) most of their time. A worker runs one task at a time, so
 * its thread has nothing to do meanwhile. Costs that time, divided by how many ran together.
 */
export const asynchronousWait: Rule = (facts) => {
  const waiting = cpuByPrefix(facts.trace).filter((row) => shareOf(row) >= MIN_SHARE);
  waiting.sort((a, b) => b.awaited - a.awaited);
  const worst = waiting[0];
  if (worst === undefined) return undefined;
  const { workers, trace, lanes } = facts;
  const awaited = waiting.reduce((sum, row) => sum + row.awaited, 0);
  const prefixes = new Set(waiting.map(({ prefix }) => prefix));
  const rows = lanes.spans.rows.filter((row) => prefixes.has(facts.prefixName(trace.tasks.prefix[row]!)));
  const times = Math.min(MAX_TIMES, Math.ceil(1 / (1 - Math.min(0.99, shareOf(worst)))));
  return {
    code: 'asynchronous-wait',
    title: `'${worst.prefix}' waits for promises ${percentText(shareOfTime(worst, worst.awaited))} of its time, and each worker runs one task at a time`,
    seconds: facts.divided(awaited),
    confidence: 'high',
    evidence: {
      text: `${countText(workers, 'thread')} had nothing to do for ${secondsText(awaited)} while tasks waited: for requests, files or timers.`,
      numbers: { awaitedSeconds: awaited, cpuSeconds: worst.cpu, workers },
      tasks: facts.keys(rows),
      question: 'critical-path',
    },
    advice: `Let one call of '${worst.prefix}' wait for many at once (Promise.all), or use more workers than cores: about ${times * workers} keep ${workers} busy.`,
  };
};

/** A machine that is full of other programs does not make tasks wait less for promises. */
function shareOf({ cpu, noncpu, gc, awaited }: PrefixCpu): number {
  return awaited / (cpu + noncpu + gc + awaited);
}
