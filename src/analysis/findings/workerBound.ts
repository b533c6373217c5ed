import { countText, percentText, secondsText } from '../../base/words.js';
import { INLINE_WORKER } from '../../protocol/clusterObserver.js';
import { coreUseOf } from '../coreUse.js';
import { simulatorOf } from '../simulate.js';
import { MAX_SIMULATED, notSimulated, speedups } from '../speedups.js';
import { isOfPool } from '../workerLives.js';
import type { Facts, Rule } from './finding.js';
import { cpuByPrefix, isCpuKnown } from './noncpu.js';
import { longTails } from './stragglerTasks.js';
import { IN_TURNS } from './synchronousIo.js';

/**
 * Share of the threads' time since the first task's start spent on tasks, from which the run is limited by its threads.
 */
const MIN_BUSY = 0.8;
/** Share of the time of tasks in which they held their threads without computing, from which the finding says so. */
const MIN_BLOCKED = 0.2;
/** Share of the run that a second prefix in the evidence saves. */
const MIN_GAIN = 0.01;
/** Largest number of prefixes in the evidence. */
const NAMED = 2;

/**
 * Threads computed for most of the run, so only more threads or faster tasks make it faster. The cost is the time that
 * twice as many workers would save.
 */
export const workerBound: Rule = (facts) => {
  const { work, workers, active } = facts;
  const busy = Math.min(1, work / (workers * active));
  if (!(busy >= MIN_BUSY)) return undefined;
  const more = 2 * workers;
  const [makespan, then] = makespans(facts, more);
  const faster = speedups(facts.trace)
    .slice(0, NAMED)
    .filter(({ gained }, i) => i === 0 || gained >= MIN_GAIN * facts.makespan);
  const tails = Array.from(
    longTails(facts),
    ([id, { tasks, share }]) =>
      ` ${countText(tasks, 'long task')} of '${facts.prefixName(id)}' take ${percentText(share)} of its time.`,
  );
  const gains = faster.map(
    ({ prefix, gained }) =>
      ` If '${prefix}' were twice as fast, ${gained > 0 ? `it would take ${secondsText(gained)} less` : 'it would take as long'}.`,
  );
  const blocked = blockedText(facts);
  const isBlocked = blocked !== '';
  const isKnown = isCpuKnown(facts.trace);
  const unknown = isKnown ? '' : ' The trace does not show whether tasks computed all the time.';
  return {
    code: 'worker-bound',
    title: `The run is limited by its ${facts.workersText(workers)}, which ${isBlocked || !isKnown ? 'were busy' : 'computed'} ${percentText(busy)} of the time`,
    seconds: makespan - then,
    confidence: isBlocked || !isKnown ? 'low' : 'medium',
    text: `With ${facts.workersText(more)}, each on its own core, the run would take ${secondsText(then)}.${unknown}${blocked}${gains.join('')}${tails.join('')}`,
    numbers: { busyShare: busy, workSeconds: work, workers, moreWorkers: more, moreWorkersSeconds: then },
    tasks: facts.pathTasks('compute'),
    question: 'speedups',
    advice: `${moreAdvice(facts, more, isBlocked)}${faster[0] === undefined ? '' : `, or make '${faster[0].prefix}' faster`}.${isBlocked ? ` ${IN_TURNS}` : ''}`,
  };
};

/** Returns a sentence about tasks that held their threads without computing; empty if they did so for a small part of their time. */
function blockedText({ trace, work }: Facts): string {
  const rows = cpuByPrefix(trace).map(({ prefix, noncpu, awaited }) => ({
    prefix,
    blocked: noncpu + awaited,
  }));
  const share = rows.reduce((sum, { blocked }) => sum + blocked, 0) / work;
  const [worst] = rows.sort((a, b) => b.blocked - a.blocked);
  return worst === undefined || share < MIN_BLOCKED
    ? ''
    : ` For ${percentText(share)} of their time, tasks held their threads without computing, mostly '${worst.prefix}'.`;
}

function moreAdvice(facts: Facts, more: number, isBlocked: boolean): string {
  if (isInline(facts)) return "Run the tasks on worker threads, e.g. with compute({ scheduler: 'threads' })";
  const { cores, others, hasLimit, demand } = coreUseOf(facts.trace);
  if (!isBlocked && cores - others >= more * demand) return 'Use more workers: there are cores for them';
  if (!isBlocked && hasLimit) return 'Raise the CPU limit of the container, and use more workers';
  return `Use more workers${isBlocked ? ', also more than cores' : ' on more cores'}`;
}

/** Returns true if the program's thread ran the tasks itself (scheduler 'sync'). It is the only worker without an address. */
function isInline({ trace }: Facts): boolean {
  const { workers, strings } = trace;
  return workers.length === 1 && strings.get(workers.name[0]!) === INLINE_WORKER && isOfPool(trace, 0);
}

/** Returns the simulated makespans with the recorded and another number of threads; an estimate without simulations. */
function makespans(facts: Facts, workers: number): [now: number, then: number] {
  if (facts.tasks > MAX_SIMULATED || notSimulated(facts.trace) !== '')
    return [facts.makespan, Math.max(facts.path.floor, facts.makespan - facts.active + facts.work / workers)];
  const simulator = simulatorOf(facts.trace);
  return [
    simulator.simulate().makespan,
    simulator.simulate(Math.ceil(workers / (simulator.threadsPerWorker || 1))).makespan,
  ];
}
