import { percentText, secondsText } from '../../base/words.js';
import { coreUseOf, isOneMachine } from '../coreUse.js';
import { mean } from '../statistics.js';
import type { Facts, Rule } from './finding.js';
import { cpuByPrefix } from './noncpu.js';

/** Share of time without a core, from where threads compete. */
const MIN_SHARE = 0.2;
/** If all prefixes lose nearly the same share, it is not what they do. */
const MAX_SPREAD = 0.15;
/** Cores of other programs, from where they are what tasks wait for. */
const MIN_OTHERS = 0.3;
/** Percent of a core per thread, from where tasks must have threads of their own. */
const OWN_THREADS = 130;

/**
 * There are more threads that want to compute than cores: tasks wait for a core whatever they do, or bring threads of their
 * own. Costs the time without a core, divided by how many ran together.
 */
export const cpuOversubscription: Rule = (facts) => {
  const prefixes = cpuByPrefix(facts.trace);
  const cpu = prefixes.reduce((sum, row) => sum + row.cpu, 0);
  const noncpu = prefixes.reduce((sum, row) => sum + row.noncpu + row.crowded, 0);
  const gc = prefixes.reduce((sum, row) => sum + row.gc, 0);
  const share = noncpu / (cpu + noncpu + gc);
  if (!(share >= MIN_SHARE) || facts.workers < 2) return undefined;
  const { cores, others } = coreUseOf(facts.trace);
  // As many threads as cores are what the machine is for, even if their helpers wait a little.
  if (facts.workers <= cores && others < MIN_OTHERS) return undefined;
  const percent = cpuPerThread(facts);
  const ownThreads = percent >= OWN_THREADS;
  // Of several machines nobody knows whose cores were too few; of one without samples it can only be guessed.
  const isKnown = cores > 0 || ownThreads;
  if (!isKnown && !isOneMachine(facts.trace)) return undefined;
  const shares = prefixes.map((row) => {
    const without = row.noncpu + row.crowded;
    return without / (row.cpu + without + row.gc);
  });
  const alike =
    shares.length > 1 &&
    Math.min(...shares) >= MIN_SHARE &&
    Math.max(...shares) - Math.min(...shares) <= MAX_SPREAD;
  const crowded = prefixes.reduce((sum, row) => sum + row.crowded, 0) >= noncpu / 2;
  if (!alike && !ownThreads && !crowded) return undefined;
  const areOthers = others >= MIN_OTHERS && facts.workers <= cores;
  const why = alike
    ? 'in about the same share of every prefix'
    : `most of it while all ${cores} cores were busy`;
  const beside =
    others >= MIN_OTHERS && !areOthers ? ` Other programs kept ${others.toFixed(1)} cores busy.` : '';
  return {
    code: 'cpu-oversubscription',
    title: `Tasks wait for a core ${percentText(share)} of their time: ${areOthers ? `other programs keep ${others.toFixed(1)} of ${cores} cores busy` : isKnown ? 'more threads compute than there are cores' : 'as if more threads computed than there are cores'}`,
    seconds: facts.divided(noncpu),
    confidence: ownThreads ? 'high' : isKnown ? 'medium' : 'low',
    evidence: {
      text: ownThreads
        ? `Each worker thread uses ${Math.round(percent)} % of a core: its tasks have threads of their own.`
        : `${secondsText(noncpu)} without a core, ${why}.${beside}`,
      numbers: { noncpuSeconds: noncpu, cpuSeconds: cpu, workers: facts.workers, percentPerThread: percent },
      tasks: facts.keys(facts.lanes.spans.rows),
      question: 'time-by-prefix',
    },
    advice: ownThreads
      ? 'Use fewer workers, or one thread inside each task.'
      : areOthers
        ? 'Run nothing else beside it, or use fewer workers.'
        : 'Use as many workers as there are cores, and run nothing else beside them.',
  };
};

/** Percent of a core that each worker used on average, per thread; NaN where workers were not sampled. */
function cpuPerThread({ trace }: Facts): number {
  const { length, worker, figures } = trace.resources;
  const cpu = figures.get('cpu');
  if (cpu === undefined) return Number.NaN;
  const samples: number[] = [];
  for (let row = 0; row < length; row++) {
    if (worker[row]! < 0 || Number.isNaN(cpu[row]!)) continue;
    samples.push(cpu[row]! / Math.max(1, trace.workers.threads[worker[row]!]! || 1));
  }
  return mean(samples);
}
