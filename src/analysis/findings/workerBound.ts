import { percentText, secondsText } from '../../base/words.js';
import { Simulator } from '../simulate.js';
import { MAX_SIMULATED, speedups } from '../speedups.js';
import type { Facts, Rule } from './finding.js';

/** Share of the threads' time since the first start in which tasks ran, from where threads are what the run is short of. */
const MIN_BUSY = 0.8;
/** Prefixes that the evidence names. */
const NAMED = 2;

/**
 * Threads computed for most of the run: nothing is wrong with it, and more threads or faster tasks are what makes it faster.
 * Costs what twice as many workers would gain.
 */
export const workerBound: Rule = (facts) => {
  const { work, workers, active } = facts;
  const busy = Math.min(1, work / (workers * active));
  if (!(busy >= MIN_BUSY)) return undefined;
  const more = 2 * workers;
  const [makespan, then] = makespans(facts, more);
  const faster = speedups(facts.trace).slice(0, NAMED);
  const gains = faster.map(
    ({ prefix, gained }) =>
      ` '${prefix}' twice as fast: ${gained > 0 ? `−${secondsText(gained)}` : 'nothing gained'}.`,
  );
  return {
    code: 'worker-bound',
    title: `Limited by its ${facts.crew(workers)}: they computed ${percentText(busy)} of the time`,
    seconds: makespan - then,
    confidence: 'medium',
    evidence: {
      text: `${facts.crew(more)}, each with a core: ${secondsText(then)}.${gains.join('')}`,
      numbers: { busyShare: busy, workSeconds: work, workers, moreWorkers: more, moreWorkersSeconds: then },
      tasks: facts.pathTasks('compute'),
      question: 'speedups',
    },
    advice: `Use more workers on more cores${faster[0] === undefined ? '' : `, or make '${faster[0].prefix}' faster`}.`,
  };
};

/** Seconds of the run, and of the same with so many workers. */
function makespans(facts: Facts, workers: number): [now: number, then: number] {
  if (facts.tasks > MAX_SIMULATED)
    return [facts.makespan, Math.max(facts.path.floor, facts.makespan - facts.active + facts.work / workers)];
  const simulator = new Simulator(facts.trace);
  return [
    simulator.simulate().makespan,
    simulator.simulate(Math.ceil(workers / (simulator.threadsPerWorker || 1))).makespan,
  ];
}
