import { percentText, secondsText } from '../../base/words.js';
import { longestChain } from '../path/longestChain.js';
import { programTime } from './clientBound.js';
import { clientTransfers } from './clientTransfers.js';
import type { Facts, Rule } from './finding.js';

/** Share of the threads' time that is computing, below which they idle: also one of two. */
const MAX_BUSY = 0.55;
/** Share of the makespan that the longest chain is, from where no more workers can help. */
const MIN_CHAIN = 0.6;

/**
 * Most threads idled because the graph has not enough tasks that can run at the same time, or the client did not submit
 * them: the longest chain is most of the time since the first task started. Costs what the same work would have taken less, had it been divided evenly.
 */
export const lackOfParallelism: Rule = (facts) => {
  const { work, workers, active, path } = facts;
  const busy = work / (workers * active);
  if (workers < 2 || !(busy < MAX_BUSY) || path.floor < MIN_CHAIN * active) return undefined;
  const useful = Math.max(1, Math.ceil(work / path.floor));
  const name = computedMost(facts);
  const chain = longestChain(facts.trace, runSeconds(facts));
  const isClient = chain < MIN_CHAIN * path.floor;
  const enough =
    useful < workers ? ` ${facts.crew(useful)} ${useful === 1 ? 'takes' : 'take'} about as long.` : '';
  return {
    code: 'lack-of-parallelism',
    title: `${isClient ? 'The program hands over one thing after the other, which' : 'The graph'} keeps ${(work / active).toFixed(1)} of ${workers} threads busy`,
    seconds: path.floor - work / workers - (isClient ? clientSeconds(facts) : 0),
    confidence: 'high',
    evidence: {
      text: isClient
        ? `It waits for results before it submits more, so that no number of workers is faster than ${secondsText(path.floor)}; the longest chain of tasks alone computes ${secondsText(chain)}.`
        : `Its longest chain of tasks takes ${secondsText(path.floor)}, ${percentText(path.floor / facts.makespan)} of the run: no number of workers is faster than that.`,
      numbers: {
        floorSeconds: path.floor,
        chainSeconds: chain,
        workSeconds: work,
        workers,
        usefulWorkers: useful,
      },
      tasks: facts.pathTasks('compute'),
      question: 'critical-path',
    },
    advice: isClient
      ? `Submit all that does not need a result before you await the first: client.map, compute(a, b), or pass futures to the next step.${enough}`
      : `Break the chain, most of which is '${name}': smaller blocks, trees instead of chains.${enough}`,
  };
};

/** Of the path, what the client fetched, sent and did by itself: that has rules of its own. */
function clientSeconds(facts: Facts): number {
  const carrying = clientTransfers(facts, 'gather').onPath + clientTransfers(facts, 'scatter').onPath;
  return carrying + programTime(facts).seconds;
}

/** By row of tasks; NaN for those that did not run. */
function runSeconds({ trace, lanes }: Facts): Float64Array {
  return trace.tasks.duration.map((seconds, row) => (lanes.laneOf[row]! < 0 ? Number.NaN : seconds));
}

/** The prefix that the path computes longest. */
function computedMost(facts: Facts): string {
  const { prefix } = facts.trace.tasks;
  const sums = new Map<number, number>();
  for (const { start, stop, row } of facts.parts('compute'))
    sums.set(prefix[row]!, (sums.get(prefix[row]!) ?? 0) + stop - start);
  const [most] = [...sums].sort(([, a], [, b]) => b - a);
  return facts.prefixName(most?.[0] ?? -1);
}
