import { bytesText, countText, secondsText } from '../../base/words.js';
import { type LostWorker, lostWorkers } from '../lostWork.js';
import type { Facts, Rule } from './finding.js';
import { lostSeconds } from './lostSeconds.js';

/** Of its memory limit: a worker that held more than this when it was lost probably ended for that. */
const MEMORY_SHORT = 0.8;
/** Workers that the evidence names. */
const NAMED = 3;

/**
 * Workers were lost, and what they had made or begun was computed again. Costs the share of the path in which threads did
 * that. A path that computed something else meanwhile lost nothing.
 */
export const lostWork: Rule = (facts) => {
  const lost = lostWorkers(facts.trace);
  const [first] = lost;
  if (first === undefined) return undefined;
  const again = lost.flatMap((worker) => worker.again);
  const cut = lost.reduce((sum, worker) => sum + worker.cut.length, 0);
  const computed = again.reduce((sum, row) => sum + facts.trace.tasks.duration[row]!, 0);
  const reasons = reasonsOf(facts, lost);
  return {
    code: 'lost-work',
    title: titleOf(facts, lost, again.length, cut),
    seconds: lostSeconds(facts, lost),
    confidence: 'high',
    evidence: {
      text: [
        again.length === 0 ? '' : `${secondsText(computed)} of work was done twice.`,
        cut === 0
          ? ''
          : `${countText(cut, 'task')} that ${lost.length === 1 ? 'it' : 'they'} ran or held went to other workers.`,
        reasons === '' ? '' : `The scheduler noted: ${reasons}.`,
      ]
        .filter((text) => text !== '')
        .join(' '),
      numbers: {
        workers: lost.length,
        firstLostSeconds: sinceStart(facts, first),
        resultsAgain: again.length,
        againSeconds: computed,
        runsCut: cut,
      },
      tasks: facts.keys(again.length > 0 ? again : lost.flatMap((worker) => worker.cut)),
      question: 'worker-balance',
    },
    advice: adviceOf(facts, lost),
  };
};

function titleOf(facts: Facts, lost: readonly LostWorker[], again: number, cut: number): string {
  const [first] = lost;
  const when = first === undefined ? '' : secondsText(sinceStart(facts, first));
  const who =
    first !== undefined && lost.length === 1
      ? `Worker '${nameOf(facts, first)}' was lost at ${when}`
      : `${countText(lost.length, 'worker')} were lost, the first at ${when}`;
  const what = again > 0 ? countText(again, 'result') : countText(cut, 'task');
  return `${who}: ${what} ${(again > 0 ? again : cut) === 1 ? 'was' : 'were'} computed again`;
}

function sinceStart({ path }: Facts, { time }: LostWorker): number {
  return Math.max(0, time - path.start);
}

function nameOf({ trace }: Facts, { row }: LostWorker): string {
  const name = trace.workers.name[row]!;
  return name < 0 ? '' : trace.strings.get(name);
}

function reasonsOf({ trace }: Facts, lost: readonly LostWorker[]): string {
  const reasons = lost.map(({ row }) => trace.workers.reason[row]!).filter((id) => id >= 0);
  const texts = reasons.map((id) => trace.strings.get(id).replace(/\.$/, ''));
  return [...new Set(texts)].slice(0, NAMED).join('; ');
}

function adviceOf(facts: Facts, lost: readonly LostWorker[]): string {
  for (const worker of lost) {
    const { held, limit } = lastMemory(facts, worker);
    if (limit > 0 && held >= MEMORY_SHORT * limit)
      return `'${nameOf(facts, worker)}' used ${bytesText(held)} of its memory limit of ${bytesText(limit)}: raise the limit, or use smaller blocks.`;
  }
  return 'Look into the logs of the machine and of the worker for why it ended. Write results that took long to compute to files.';
}

/** What a worker used when it was last sampled. */
function lastMemory({ trace }: Facts, { row: lost, time }: LostWorker): { held: number; limit: number } {
  const { length, worker, process, time: times } = trace.memory;
  let last = -1;
  for (let row = 0; row < length; row++) {
    if (worker[row] !== lost || times[row]! > time) continue;
    if (last < 0 || times[row]! > times[last]!) last = row;
  }
  return { held: last < 0 ? 0 : process[last]!, limit: trace.workers.memoryLimit[lost] || 0 };
}
