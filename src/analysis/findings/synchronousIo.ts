import { percentText, secondsText } from '../../base/words.js';
import type { Rule } from './finding.js';
import { cpuByPrefix } from './noncpu.js';

/** Share of a prefix's time without a core, from where its tasks wait rather than compute. */
const MIN_SHARE = 0.6;

/**
 * Tasks of a prefix hold their thread mostly without computing: they wait for the disk, the network or another process,
 * and nothing else can run there meanwhile. Costs that time, divided by how many ran together.
 */
export const synchronousIo: Rule = (facts) => {
  const waiting = cpuByPrefix(facts.trace).filter(({ share }) => share >= MIN_SHARE);
  const worst = waiting[0];
  if (worst === undefined) return undefined;
  const noncpu = waiting.reduce((sum, row) => sum + row.noncpu, 0);
  const prefixes = new Set(waiting.map(({ prefix }) => prefix));
  const rows = facts.lanes.spans.rows.filter((row) =>
    prefixes.has(facts.prefixName(facts.trace.tasks.prefix[row]!)),
  );
  return {
    code: 'synchronous-io',
    title: `'${worst.prefix}' blocks its thread without computing for ${percentText(worst.share)} of its time`,
    seconds: facts.divided(noncpu),
    confidence: 'medium',
    evidence: {
      text: `${secondsText(worst.noncpu)} without a core against ${secondsText(worst.cpu)} with one: synchronous I/O, or waiting for another thread.`,
      numbers: { noncpuSeconds: noncpu, cpuSeconds: worst.cpu, workers: facts.workers },
      tasks: facts.keys(rows),
      question: 'time-by-prefix',
    },
    advice: facts.isDask
      ? `Give each worker more threads than cores, so that other tasks run while '${worst.prefix}' waits.`
      : `Use more workers than cores, or let one call of '${worst.prefix}' wait for several at once: fs/promises or fetch, and Promise.all.`,
  };
};
