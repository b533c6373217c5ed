// The finding that two rules make of a time span in which tasks ran one after the other.

import { percentText, secondsText } from '../../base/words.js';
import { slowFirstRows } from '../firstCalls.js';
import { eachUse } from '../lanes.js';
import { stragglersOf } from '../stragglers.js';
import type { Facts, Finding } from './finding.js';

/** Mean number of running tasks up to which a time span is serial. */
export const SERIAL = 1.05;
/** Smallest share of the makespan that a serial span must take to be reported as a finding. */
export const MIN_SHARE = 0.1;
/** Smallest share of busy threads outside the span; below it, the whole run is serial. */
export const MIN_BUSY = 0.5;

/** Share of the span in which several tasks are ready, above which the tasks could have run at the same time. */
const MAX_QUEUED = 0.5;
/** Share of the span above which the title names a single prefix. */
const OWN_SHARE = 0.9;

/**
 * Returns undefined if one straggler or slow first call takes most of the span, because other findings report that, and if
 * several tasks were ready for most of it: then something else kept them from idle threads.
 */
export function serialFinding(
  facts: Facts,
  code: 'serial-tail' | 'serial-stretch',
  start: number,
  stop: number,
): Finding | undefined {
  const { makespan, workers, path, trace } = facts;
  const { prefix, coreWait, duration } = trace.tasks;
  const span = stop - start;
  if (facts.queuedBetween(start, stop, 2) > MAX_QUEUED) return undefined;
  const inside = (row: number): number => {
    let sum = 0;
    eachUse(trace, row, (from, to, share) => {
      sum += share * Math.max(0, Math.min(to, stop) - Math.max(from, start));
    });
    return sum;
  };
  // Waits for a core are a cost of other programs. When a task waited is not known.
  const withCore = (row: number): number => {
    const waited = coreWait[row]! / duration[row]!;
    return waited > 0 ? inside(row) * Math.max(0, 1 - waited) : inside(row);
  };
  const rows = Array.from(facts.lanes.spans.rows.filter((row) => inside(row) > 0)).sort(
    (a, b) => inside(b) - inside(a),
  );
  const late = lateSeconds(facts, start);
  if (span - late < MIN_SHARE * makespan) return undefined;
  // The threads may also wait for something else, such as the scheduler.
  const seconds = rows.reduce((sum, row) => sum + inside(row), 0);
  const explained = [...stragglersOf(trace).map(({ row }) => row), ...slowFirstRows(trace)];
  if (seconds < span / 2 || explained.some((row) => inside(row) > span / 2)) return undefined;
  const name = rows[0] === undefined ? '' : facts.prefixName(prefix[rows[0]]!);
  const own = rows.reduce((sum, row) => sum + (prefix[row] === prefix[rows[0]!] ? inside(row) : 0), 0);
  const what = own > OWN_SHARE * seconds ? `only '${name}' runs` : 'tasks run one after the other';
  const idle = `${workers - 1} of ${workers} threads ${workers === 2 ? 'is' : 'are'} idle`;
  const isTail = code === 'serial-tail';
  const when = isTail ? 'At the end,' : `After ${secondsText(start - path.start)},`;
  return {
    code,
    title: `${when} ${what} for ${secondsText(seconds)}, while ${idle}`,
    seconds: Math.max(0, rows.reduce((sum, row) => sum + withCore(row), 0) - late) * (1 - 1 / workers),
    confidence: 'high',
    evidence: {
      text: `For ${isTail ? 'the last ' : ''}${percentText(span / makespan)} of the run, at most one task runs at a time, mostly '${name}'.`,
      numbers: { serialSeconds: seconds, start, stop, makespan, workers, tasks: rows.length },
      tasks: facts.keys(rows),
      question: 'concurrency',
    },
    advice: `Split '${name}',${rows.length > 1 ? ' combine results in a tree instead of a chain,' : ''} or start ${hasInputs(facts, rows) ? 'the inputs of ' : ''}'${name}' earlier.`,
  };
}

function hasInputs({ trace: { tasks } }: Facts, rows: readonly number[]): boolean {
  return rows.some((row) => tasks.dependencyOffsets[row + 1]! > tasks.dependencyOffsets[row]!);
}

/**
 * Returns the seconds by which the chain of tasks that runs at `start` began later than the run, because the thread that ran all
 * of it began late, e.g. without a core. Returns 0 for other tasks.
 */
function lateSeconds({ trace: { tasks }, lanes, firstStart }: Facts, start: number): number {
  const { rows } = lanes.spans;
  for (let lane = 0; lane < lanes.count; lane++) {
    const first = lanes.offsets[lane]!;
    let at = lanes.offsets[lane + 1]! - 1;
    while (at >= first && tasks.started[rows[at]!]! > start) at--;
    if (at < first || tasks.stopped[rows[at]!]! <= start) continue;
    while (at > first && needs(tasks, rows[at]!, rows[at - 1]!)) at--;
    if (at > first) continue;
    const ready = Math.max(firstStart, tasks.dispatched[rows[first]!] || firstStart);
    return Math.max(0, tasks.started[rows[first]!]! - ready);
  }
  return 0;
}

function needs(
  { dependencyOffsets, dependencyRows }: Facts['trace']['tasks'],
  row: number,
  other: number,
): boolean {
  return dependencyRows.subarray(dependencyOffsets[row]!, dependencyOffsets[row + 1]!).includes(other);
}
