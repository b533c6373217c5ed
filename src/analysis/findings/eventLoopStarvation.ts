import { firstWhere } from '../../base/lookUps.js';
import { countText, integerText, secondsText } from '../../base/words.js';
import { merged, type Span } from '../spans.js';
import { coreWaitText, isCause } from './clientBound.js';
import { consoleOutput, manyLines, PRINT_LESS } from './consoleOutput.js';
import { type Facts, MIN_COST, MIN_SECONDS, type Rule } from './finding.js';
import { minDelay, schedulerWaits } from './schedulerThread.js';

/**
 * Code of the program blocked the scheduler's event loop while tasks waited for the scheduler. The cost is the part of
 * these waits on the critical path, after the first task's start, in which the program computed, or waited for a core in
 * order to.
 */
export const eventLoopStarvation: Rule = (facts) => {
  const { waits, blocked } = schedulerWaits(facts);
  const { seconds, computed } = starvedSeconds(facts);
  if (!isCause(facts, computed, seconds - computed)) return undefined;
  const worst = longestSilence(facts, blocked);
  const lines = manyLines(facts);
  return {
    code: 'event-loop-starvation',
    title: `The scheduler did not answer for up to ${secondsText(worst)}, because its event loop was blocked`,
    seconds,
    confidence: 'high',
    text: `${lines > 0 ? `Tasks printed ${integerText(lines)} lines or more, which the thread of the program writes or records. ` : ''}In ${countText(blocked.length, 'sample')} the event loop was at least ${secondsText(minDelay(facts.trace))} late. Tasks on the critical path waited ${secondsText(seconds)} while ${facts.isDask ? 'it was blocked' : "the program computed on the scheduler's thread"}${coreWaitText(seconds, seconds - computed)}.`,
    numbers: { worstDelaySeconds: worst, samples: blocked.length, computedSeconds: computed },
    tasks: facts.keys(new Set(waits.filter(({ starved }) => starved > 0).map(({ row }) => row))),
    question: 'queueing',
    advice: facts.isDask
      ? "Look for large graphs, for plugins of the scheduler and for calls of 'run_on_scheduler', and at the profile of the scheduler on Dask's page '/profile-server'. A stopped scheduler (Ctrl-Z, SIGSTOP) looks the same."
      : `${lines > 0 ? printLess(facts) : 'Move'} the program's computations (parsing, sorting, synchronous I/O, hooks of plugins) into tasks, or into a worker thread of the program (node:worker_threads).`,
  };
};

/** Returns the beginning of the advice if tasks print very much. If that is a finding of its own, it has the advice to print less. */
function printLess(facts: Facts): string {
  const costs = consoleOutput(facts)?.seconds ?? 0;
  return costs >= Math.max(MIN_SECONDS, MIN_COST * facts.makespan)
    ? 'If it is not enough to print less, move'
    : `${PRINT_LESS} Move`;
}

/**
 * Returns the longest time of the run in which the scheduler neither sent a task nor received a report while its event loop was
 * blocked. A program that computes whenever a message arrives delays timers for much longer than messages.
 */
function longestSilence({ trace, path }: Facts, blocked: readonly Span[]): number {
  const { dispatched, acknowledged, length } = trace.tasks;
  const answers = new Float64Array(2 * length);
  answers.set(dispatched);
  answers.set(acknowledged, length);
  answers.sort();
  let longest = 0;
  for (const span of merged(blocked)) {
    // Nothing waits for an answer before the first submission and after the last result.
    const [start, stop] = [Math.max(span.start, path.start), Math.min(span.stop, path.stop)];
    let last = start;
    let next = firstWhere(0, answers.length, (at) => !(answers[at]! <= start));
    for (; answers[next]! < stop; next++) {
      longest = Math.max(longest, answers[next]! - last);
      last = answers[next]!;
    }
    longest = Math.max(longest, stop - last);
  }
  return longest;
}

/** Returns the times in which the event loop was blocked if the program was the cause; otherwise none. */
export function blockedByProgram(facts: Facts): readonly Span[] {
  return blockedSeconds(facts) > 0 ? schedulerWaits(facts).blocked : [];
}

/** Returns the seconds of the path in which tasks waited while the program blocked the event loop, if it was the cause; otherwise 0. */
export function blockedSeconds(facts: Facts): number {
  const { seconds, computed } = starvedSeconds(facts);
  return isCause(facts, computed, seconds - computed) ? seconds : 0;
}

function starvedSeconds(facts: Facts): { readonly seconds: number; readonly computed: number } {
  const { waits } = schedulerWaits(facts);
  return {
    seconds: waits.reduce((sum, { starved }) => sum + starved, 0),
    computed: waits.reduce((sum, wait) => sum + wait.computed, 0),
  };
}
