import { percentText, secondsText } from '../../base/words.js';
import { coreUseOf } from '../coreUse.js';
import { mean } from '../statistics.js';
import type { Facts, Finding, Rule } from './finding.js';
import { cpuByPrefix, type PrefixCpu } from './noncpu.js';

/** Share of their time in which tasks wait for a core, from where threads compete. */
export const CROWDED_SHARE = 0.2;
/** Cores of other programs, from where they are what tasks wait for. */
const MIN_OTHERS = 0.3;
/** Percent of a core per thread, from where tasks must have threads of their own. */
const OWN_THREADS = 130;

/**
 * There are more threads that want to compute than cores: tasks wait for a core whatever they do, or bring threads of their
 * own. Time without a core alone is no sign of it: tasks may sleep. Costs the time in which tasks wait for a core, divided by how
 * many ran together.
 */
export const cpuOversubscription: Rule = (facts) => waitsForCores(facts, true);

/** Finds the same where the program has enough cores of its own, and only other programs take them away. */
export const otherPrograms: Rule = (facts) => waitsForCores(facts, false);

function waitsForCores(facts: Facts, ours: boolean): Finding | undefined {
  const prefixes = cpuByPrefix(facts.trace);
  const sum = (of: (row: PrefixCpu) => number, first = 0): number =>
    prefixes.reduce((total, row) => total + of(row), first);
  const percent = cpuPerThread(facts);
  const ownThreads = percent >= OWN_THREADS;
  const { cores, others, lost, demand, concurrency, isMeasured } = coreUseOf(facts.trace);
  // A task that has threads of its own waits for them, and they for a core.
  const blocked = sum(({ noncpu, crowded }) => noncpu + crowded);
  const share = ownThreads ? blocked / sum(({ cpu, gc }) => cpu + gc, blocked) : lost;
  if (!(share >= CROWDED_SHARE)) return undefined;
  const areOthers = others >= MIN_OTHERS;
  // As many threads as cores are what the machine is for, even if their helpers wait a little.
  if (facts.workers <= cores && !areOthers) return undefined;
  const isOurs = !areOthers || !(concurrency * demand <= cores);
  if (isOurs !== ours) return undefined;
  const seconds = ownThreads ? blocked : share * facts.work;
  const why = isMeasured
    ? 'in which threads were ready to run and had none'
    : `while all ${cores} cores were busy`;
  const beside = areOthers && isOurs ? ` Other programs kept ${others.toFixed(1)} cores busy.` : '';
  return {
    code: 'cpu-oversubscription',
    title: `Tasks wait for a core ${percentText(share)} of their time: ${isOurs ? 'more threads compute than there are cores' : `other programs keep ${others.toFixed(1)} of ${cores} cores busy`}`,
    seconds: facts.divided(seconds),
    confidence: ownThreads || isMeasured ? 'high' : 'medium',
    evidence: {
      text: ownThreads
        ? `Each worker thread uses ${Math.round(percent)} % of a core: its tasks have threads of their own.`
        : `${secondsText(seconds)} without a core, ${why}.${beside}`,
      numbers: {
        noncpuSeconds: seconds,
        cpuSeconds: sum(({ cpu }) => cpu),
        workers: facts.workers,
        percentPerThread: percent,
      },
      tasks: facts.keys(facts.lanes.spans.rows),
      question: 'time-by-prefix',
    },
    advice: adviceOf(ownThreads, isOurs),
  };
}

function adviceOf(ownThreads: boolean, isOurs: boolean): string {
  if (ownThreads) return 'Use fewer workers, or one thread inside each task.';
  return isOurs
    ? 'Use as many workers as there are cores, and run nothing else beside them.'
    : 'Run nothing else beside it, or use fewer workers.';
}

/** Whether tasks keep more than their own thread busy. */
export function haveOwnThreads(facts: Facts): boolean {
  return cpuPerThread(facts) >= OWN_THREADS;
}

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
