import { sortedOrder } from '../../base/sortedOrder.js';
import { countText, secondsText } from '../../base/words.js';
import { coreUseOf } from '../coreUse.js';
import { median } from '../statistics.js';
import type { Facts, Rule } from './finding.js';
import { dependOnEachOther } from './serialFinding.js';

/** Smallest number of rounds. */
const MIN_ROUNDS = 3;
/** Largest ratio of the longest task of a round to its median. Beyond it, the round waits for this task. */
const MAX_RATIO = 2;
/** Smallest share of the cost that idle threads account for. Otherwise, tasks overlap or something else delays them. */
const MIN_IDLE = 0.5;

/** Tasks between two times at which the program had no task in progress. */
interface Round {
  readonly rows: readonly number[];
  readonly start: number;
  readonly stop: number;
}

/**
 * The program submits rounds of independent, equally long tasks, waits for the whole round each time, and the tasks of a round
 * do not divide evenly among the threads. The cost is the part of the last tasks of the rounds that the idle threads could
 * have saved.
 */
export const unevenRounds: Rule = (facts) => {
  const { workers } = facts;
  const { aloneSeconds } = coreUseOf(facts.trace);
  const all = workers < 2 ? [] : roundsOf(facts);
  if (all.length < MIN_ROUNDS) return undefined;
  const uneven = all.flatMap((round) => {
    const share = round.rows.length / workers;
    if (round.rows.length === 1 || share % 1 === 0) return [];
    const usual = median(Float64Array.from(round.rows, aloneSeconds));
    const longest = round.rows.reduce((most, row) => Math.max(most, aloneSeconds(row)), 0);
    const isEqual = longest <= MAX_RATIO * usual && !dependOnEachOther(facts, round.rows);
    return isEqual ? [{ ...round, lost: (Math.ceil(share) - share) * usual }] : [];
  });
  if (uneven.length < MIN_ROUNDS) return undefined;
  const seconds = uneven.reduce((sum, { lost }) => sum + lost, 0);
  const idle = uneven.reduce((sum, round) => sum + idleSeconds(facts, round), 0);
  if (idle < MIN_IDLE * seconds * workers) return undefined;
  const sizes = uneven.map(({ rows }) => rows.length).sort((a, b) => a - b);
  const [least, most] = [sizes[0]!, sizes.at(-1)!];
  const rows = uneven.flatMap((round) => round.rows);
  const prefix = facts.prefixName(facts.trace.tasks.prefix[rows[0]!]!);
  return {
    code: 'uneven-rounds',
    title: `${countText(uneven.length, 'round')} of ${least === most ? least : `${least} to ${most}`} tasks do not divide evenly among ${workers} threads, and each waits for its last tasks`,
    seconds,
    confidence: 'medium',
    text: `The program submits the next tasks when all tasks of a round have ended. Threads are idle for ${secondsText(idle)} in these rounds, most of it while the last tasks of '${prefix}' run.`,
    numbers: { rounds: uneven.length, leastTasks: least, mostTasks: most, idleSeconds: idle, workers },
    tasks: facts.keys(rows),
    question: 'concurrency',
    advice: `Submit the next tasks when the first results arrive, e.g. with asCompleted(), or several rounds at a time. Or divide the work of a round into more and smaller tasks, e.g. a multiple of ${workers}.`,
  };
};

/** Returns the rounds in the order of time. Cost: a radix sort of the rows. */
function roundsOf({ trace, lanes }: Facts): Round[] {
  const { submitted, started, stopped } = trace.tasks;
  const rounds: { rows: number[]; start: number; stop: number }[] = [];
  for (const row of sortedOrder(submitted, false)) {
    if (lanes.laneOf[row]! < 0) continue;
    const last = rounds.at(-1);
    // Times of submission that are not recorded are NaN, and make one round.
    if (last === undefined || submitted[row]! > last.stop)
      rounds.push({ rows: [row], start: started[row]!, stop: stopped[row]! });
    else {
      last.rows.push(row);
      last.start = Math.min(last.start, started[row]!);
      last.stop = Math.max(last.stop, stopped[row]!);
    }
  }
  return rounds;
}

/** Returns the seconds in which threads ran no task of a round, from its first start to its last stop. */
function idleSeconds({ trace, workers }: Facts, { rows, start, stop }: Round): number {
  const { started, stopped } = trace.tasks;
  const busy = rows.reduce((sum, row) => sum + stopped[row]! - started[row]!, 0);
  return Math.max(0, workers * (stop - start) - busy);
}
