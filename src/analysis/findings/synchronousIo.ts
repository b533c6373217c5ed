import { percentText, secondsText } from '../../base/words.js';
import { enabled } from '../simulation/conditions.js';
import { TimeBins } from '../timeBins.js';
import { haveOwnThreads } from './cpuOversubscription.js';
import { BINS, type Facts, type Rule } from './finding.js';
import { cpuByPrefix, type PrefixCpu, shareOfTime } from './noncpu.js';

/** Share of a prefix's time, but for waiting for a core, from where its tasks wait rather than compute. */
const MIN_SHARE = 0.6;

/**
 * Tasks of a prefix hold their thread mostly without computing: they wait for the disk, the network or another process,
 * and nothing else can run there meanwhile. Costs that time as far as another task was ready and no thread was free.
 */
export const synchronousIo: Rule = (facts) => {
  const waiting = cpuByPrefix(facts.trace).filter(({ share }) => share >= MIN_SHARE);
  const worst = waiting[0];
  // Tasks that have threads of their own wait for those: they do compute.
  if (worst === undefined || haveOwnThreads(facts)) return undefined;
  const noncpu = waiting.reduce((sum, row) => sum + row.noncpu, 0);
  const prefixes = new Set(waiting.map(({ prefix }) => prefix));
  const rows = facts.lanes.spans.rows.filter((row) =>
    prefixes.has(facts.prefixName(facts.trace.tasks.prefix[row]!)),
  );
  return {
    code: 'synchronous-io',
    title: `'${worst.prefix}' blocks its thread without computing for ${percentText(shareOfTime(worst, worst.noncpu))} of its time`,
    seconds: heldUpSeconds(facts, waiting),
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

/** Seconds that ready tasks waited for threads on which others were blocked, divided by the number of threads. */
function heldUpSeconds(
  { trace, path, lanes, running, workers }: Facts,
  blocked: readonly PrefixCpu[],
): number {
  const { prefix, started, stopped } = trace.tasks;
  const { start, stop } = path;
  const ready = new TimeBins(start, stop, BINS);
  const shares = new Map(blocked.map((row) => [row.prefix, shareOfTime(row, row.noncpu)]));
  const bins = new Map([...shares.keys()].map((name) => [name, new TimeBins(start, stop, BINS)]));
  for (const row of lanes.spans.rows) {
    const { time } = enabled(trace, row);
    if (time < started[row]!) ready.add(time, started[row]!);
    bins.get(prefix[row]! < 0 ? '' : trace.strings.get(prefix[row]!))?.add(started[row]!, stopped[row]!);
  }
  const waiting = ready.means();
  let threads = 0;
  for (const [name, spans] of bins) {
    for (const [bin, holding] of spans.means().entries()) {
      const full = Math.min(1, running[bin]! / workers);
      threads += holding * shares.get(name)! * Math.min(1, waiting[bin]!) * full;
    }
  }
  return (threads / workers) * ((stop - start) / BINS);
}
