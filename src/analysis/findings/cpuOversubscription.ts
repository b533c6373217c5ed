import { percentText, secondsText } from '../../base/words.js';
import { CROWDED_SHARE, coreUseOf, MIN_OTHERS } from '../coreUse.js';
import { mean } from '../statistics.js';
import { threadSeconds } from '../workerLives.js';
import type { Facts, Found, Rule } from './finding.js';
import { gcOfWorkers } from './garbageCollection.js';
import { metricSeconds } from './metricSeconds.js';
import { cpuByPrefix, type PrefixCpu } from './noncpu.js';
import { otherThreadSeconds } from './waitsForOthers.js';

/** Percent of a core per thread, from which tasks must have started additional threads. */
const OWN_THREADS = 130;
/** Cores that other threads of the program keep busy, from which they count as a cause of waits. V8 compiles on such threads, too. */
const MIN_BESIDE = 0.5;

/**
 * More threads are ready to compute than there are cores, either workers or threads that tasks start. Time without a
 * core is no evidence alone, because tasks may sleep. The cost is the time in which tasks wait for a core, divided by
 * the mean concurrency.
 */
export const cpuOversubscription: Rule = (facts) => waitsForCores(facts, true);

/** Finds waits for cores that only other programs cause, because the program alone has enough cores, e.g. with one thread. */
export const otherPrograms: Rule = (facts) => waitsForCores(facts, false);

function waitsForCores(facts: Facts, ours: boolean): Found | undefined {
  const prefixes = cpuByPrefix(facts.trace);
  const sum = (of: (row: PrefixCpu) => number, first = 0): number =>
    prefixes.reduce((total, row) => total + of(row), first);
  const percent = cpuPerThread(facts);
  const ownThreads = percent >= OWN_THREADS;
  const { hasLimit, others, lost, limited, demand, concurrency, isMeasured, ...use } = coreUseOf(facts.trace);
  // A single thread is not one too many.
  const cores = Math.max(1, hasLimit ? Math.ceil(use.cores) : use.cores);
  // A task that starts threads waits for them, and these threads wait for a core.
  const blocked = sum(({ noncpu, crowded }) => noncpu + crowded);
  // Waits of which the CPU limit is the cause are a finding of their own.
  const share = (ownThreads ? blocked / sum(({ cpu, gc }) => cpu + gc, blocked) : lost) - limited;
  if (!(share >= CROWDED_SHARE)) return undefined;
  const areOthers = others >= MIN_OTHERS;
  const beside = ownThreads ? 0 : coresBesideTasks(facts);
  const isBeside = beside >= MIN_BESIDE;
  // As many threads as cores is the right number, even if helper threads (GC, compiler) wait a little.
  const threads = meanThreads(facts);
  if (threads <= cores && !areOthers && !isBeside) return undefined;
  const areMany = threads > cores || ownThreads;
  // Helper threads (GC, compiler) are no reason for fewer workers.
  const used = concurrency * (ownThreads ? demand : Math.min(1, demand));
  // Without samples of the machine, several threads may be too many, and one is not.
  const isUnknown = Number.isNaN(cores) && !ownThreads;
  const isOurs = isUnknown
    ? facts.workers > 1
    : !areOthers || (isBeside && beside >= others) || (areMany && !(used <= cores));
  if (isOurs !== ours) return undefined;
  const seconds = ownThreads ? blocked : share * facts.work;
  const when = isMeasured ? '' : ` while all ${cores} cores were busy`;
  const also = `${isBeside ? ` Threads of the program that run no tasks, e.g. of another pool of threads, crypto or zlib, kept ${beside.toFixed(1)} cores busy.` : ''}${areOthers && isOurs ? ` Other programs kept ${others.toFixed(1)} cores busy.` : ''}`;
  return {
    code: 'cpu-oversubscription',
    title: `Tasks wait for a core ${percentText(share)} of their time: ${isUnknown ? unknownUsers(facts) : isOurs ? 'more threads compute than there are cores' : `other programs keep ${others.toFixed(1)} of ${cores} cores busy`}`,
    seconds: facts.secondsOfRun(seconds),
    confidence: ownThreads || isMeasured ? 'high' : 'medium',
    text: ownThreads
      ? `Each worker thread uses ${Math.round(percent)} % of a core, because its tasks start more threads.`
      : `Threads that were ready to run waited ${secondsText(seconds)}${limited > 0 ? '' : ' in total'} for a core${when}.${also}`,
    numbers: {
      noncpuSeconds: seconds,
      cpuSeconds: sum(({ cpu }) => cpu),
      workers: facts.workers,
      ...(Number.isNaN(percent) ? {} : { percentPerThread: percent }),
      ...(isBeside ? { coresBesideTasks: beside } : {}),
    },
    tasks: facts.keys(ownThreads ? facts.lanes.spans.rows : longestWaits(facts)),
    question: 'time-by-prefix',
    advice: isBeside
      ? `Let fewer threads compute at a time: workers, and other threads of the program.${areOthers ? ` ${STOP_OTHERS_ALONE}` : ''}`
      : facts.workers > 1 || ownThreads
        ? adviceOf(ownThreads, isOurs && !isUnknown, areOthers, hasLimit)
        : STOP_OTHERS_ALONE,
  };
}

/**
 * Returns the mean number of cores that threads of the program without tasks kept busy after the first start of a task, without
 * collections of garbage, in which several threads take part; NaN if unknown.
 */
function coresBesideTasks(facts: Facts): number {
  const { trace, active } = facts;
  const gc = Math.max(metricSeconds(trace, 'gc').total, gcOfWorkers(facts));
  return Math.max(0, otherThreadSeconds(trace) - gc) / active;
}

/** Returns the mean number of threads of the run. A worker that exists for a short part of it is not one too many. */
function meanThreads({ trace, path, workers, makespan }: Facts): number {
  return Math.min(workers, Math.round(threadSeconds(trace, path) / makespan));
}

/** Returns the rows of tasks that waited for a core, the longest waits first; all rows if no wait was measured. */
export function longestWaits({ trace, lanes }: Facts): Iterable<number> {
  const { coreWait } = trace.tasks;
  const rows = lanes.spans.rows.filter((row) => coreWait[row]! > 0);
  return rows.length === 0 ? lanes.spans.rows : rows.sort((a, b) => coreWait[b]! - coreWait[a]!);
}

/** Returns who may use the cores if no sample of the machine shows it. */
function unknownUsers({ workers }: Facts): string {
  return workers > 1
    ? 'other programs use the cores, or there are more threads than cores'
    : 'other programs use the cores';
}

export const STOP_OTHERS = 'Stop other programs on the machine, or use fewer workers.';
/** The same for a program with one thread. */
const STOP_OTHERS_ALONE = 'Stop other programs on the machine.';

function adviceOf(ownThreads: boolean, isOurs: boolean, areOthers: boolean, hasLimit: boolean): string {
  if (ownThreads) return 'Use fewer workers, or one thread inside each task.';
  return isOurs
    ? `Use as many worker threads as ${hasLimit ? 'the CPU limit of the container has cores' : 'there are cores'}${areOthers ? ', and stop other programs on the machine' : ''}.`
    : STOP_OTHERS;
}

/** Returns true if tasks keep more than one thread busy each. */
export function haveOwnThreads(facts: Facts): boolean {
  return cpuPerThread(facts) >= OWN_THREADS;
}

/** Returns the mean percentage of a core that a worker used per thread; NaN if workers were not sampled. */
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
