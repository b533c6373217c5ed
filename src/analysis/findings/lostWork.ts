import { rangeOf, sumOf } from '../../base/lookUps.js';
import { bytesText, countText, secondsText } from '../../base/words.js';
import { CONNECTION_LOST, EXHAUSTED, NO_ANSWER, NO_MEMORY } from '../../protocol/eventTopics.js';
import { textOf, workerName } from '../../trace/trace.js';
import {
  type DiedTask,
  diedTasks,
  type ExceededTimeout,
  exceededTimeouts,
  reasonOfLoss,
} from '../diedTasks.js';
import { type LostWorker, lostWorkers, replacedWorkers } from '../lostWork.js';
import { firstStarts } from '../workerLives.js';
import type { Facts, Found, Rule } from './finding.js';

/** Share of the memory limit above which a lack of memory probably ended the worker. */
const MEMORY_SHORT = 0.8;
/** Tasks of a worker from which its memory shows that they keep some of it. */
const KEEPING = 5;
/** Share of the memory, and of its growth before the last task, from which the tasks keep it. */
const KEPT = 0.75;
/** Seconds between the loss of a worker and its removal, from which the evidence names them. */
const LATE = 1;
/** Largest number of reasons that the evidence lists. */
const NAMED = 3;

/**
 * Workers were lost, and their results and running tasks were computed again, or tasks waited until they were replaced. The
 * cost is the share of the path in which threads repeated this work or were missing. A path that computed something else at
 * that time lost nothing. Tasks that ended with each of their workers come first, because the program lacks their results.
 */
export const lostWork: Rule = (facts) => died(facts) ?? repeated(facts);

/**
 * Returns the finding for tasks that have no result. It costs the time from their first start to the last loss, or the time that
 * all lost workers cost if there are more of them.
 */
function died(facts: Facts): Found | undefined {
  const { tasks } = facts.trace;
  const timeouts = exceededTimeouts(facts.trace);
  const exceeded = new Set(timeouts.map(({ key }) => key));
  const ended = diedTasks(facts.trace);
  const all = ended.filter(({ row }) => !exceeded.has(tasks.keyOf(row)));
  const [first] = all;
  if (first === undefined) return ended.length === 0 ? undefined : timedOut(facts, ended, timeouts);
  const deaths = first.lost.length;
  const name = facts.prefixName(tasks.prefix[first.row]!);
  const rows = all.flatMap(({ lost }) => lost);
  const { start } = rangeOf(Float64Array.from(rows, (row) => tasks.dispatched[row]!));
  const { stop } = rangeOf(Float64Array.from(rows, (row) => tasks.acknowledged[row]!));
  const reason = reasonOfLoss(facts.trace, first.row);
  const others =
    all.length === 1 ? '' : ` ${countText(all.length, 'task')} in total ended with their workers.`;
  const workers = lostWorkers(facts.trace);
  const more =
    workers.length > rows.length ? ` ${countText(workers.length, 'worker')} were lost in total.` : '';
  const isConnection = reason.startsWith(CONNECTION_LOST);
  return {
    code: 'lost-work',
    title: isConnection
      ? `The connection to the cluster was lost while workers had ${countText(all.length, 'task')}`
      : `'${name}' died ${deaths === 1 ? 'once' : `${deaths} times`} with its worker and has no result`,
    seconds: Math.max(
      stop > start ? stop - start : 0,
      workers.length > rows.length ? lostSeconds(facts, workers) : 0,
    ),
    confidence: 'high',
    text: `${reason === '' ? 'The trace does not record why the worker ended.' : `The last time: ${reason.replace(/\.$/, '')}.`}${others}${more}`,
    numbers: { tasks: all.length, runs: rows.length, mostRunsOfTask: deaths },
    tasks: facts.keys(all.map(({ row }) => row)),
    question: 'worker-balance',
    advice: isConnection
      ? 'Read the log of the scheduler to find out why it ended.'
      : (memoryAdvice(
          facts,
          rows.map((row) => ({ row: tasks.worker[row]!, time: tasks.acknowledged[row]! })),
        ) ??
        (facts.isDask
          ? `Look in '${name}' for exhausted memory, os._exit(), or a crash in native code, and read the log of the worker and its nanny.`
          : 'Look for process.exit(), exhausted memory, a rejected promise that nothing awaits, or a crash in native code.')),
  };
}

function repeated(facts: Facts): Found | undefined {
  const lost = lostWorkers(facts.trace);
  const [first] = lost;
  if (first === undefined) return undefined;
  const again = lost.flatMap((worker) => worker.again);
  const runs = lost.flatMap((worker) => worker.cut);
  const cut = new Set(runs.map((row) => facts.trace.tasks.id[row]!)).size;
  const suspect = suspectOf(facts, lost);
  const computed = again.reduce((sum, row) => sum + facts.trace.tasks.duration[row]!, 0);
  const reasons = reasonsOf(facts, lost);
  const unnoticed = Math.max(...lost.map(({ time, removed }) => removed - time));
  return {
    code: 'lost-work',
    title: titleOf(facts, lost, again.length, cut),
    seconds: lostSeconds(facts, lost),
    confidence: 'high',
    text: [
      again.length === 0 ? '' : `Tasks repeated ${secondsText(computed)} of work.`,
      cut === 0
        ? ''
        : `${countText(cut, 'task')} of the lost worker${lost.length === 1 ? '' : 's'} moved to other workers.`,
      suspect === '' ? '' : `Each of these workers ended while it ran '${suspect}'.`,
      unnoticed < LATE ? '' : `Tasks waited up to ${secondsText(unnoticed)} until the loss was noticed.`,
      reasons === '' ? '' : `Reason for the loss of the worker${lost.length === 1 ? '' : 's'}: ${reasons}.`,
    ]
      .filter((text) => text !== '')
      .join(' '),
    numbers: {
      workers: lost.length,
      firstLostSeconds: sinceStart(facts, first),
      resultsAgain: again.length,
      againSeconds: computed,
      runsCut: runs.length,
    },
    tasks: facts.keys(again.length > 0 ? again : runs),
    question: 'worker-balance',
    advice:
      memoryAdvice(facts, lost) ??
      (reasons.includes(NO_ANSWER)
        ? 'Check that the machine of the Dask worker is up, and that the scheduler and this program reach it. Read the log of the worker.'
        : suspect === ''
          ? 'Read the logs of the machine and of the worker to find out why the worker ended. Write results of long computations to files.'
          : `Look in '${suspect}' for ${facts.isDask ? 'os._exit()' : 'process.exit()'}, exhausted memory or a crash in native code.`),
  };
}

/**
 * Returns the only prefix whose tasks several workers ran when they ended; empty if they differ, for one worker, and if the
 * workers did not answer: then all threads of a machine are lost at once, whatever they run.
 */
function suspectOf(facts: Facts, lost: readonly LostWorker[]): string {
  if (reasonsOf(facts, lost).includes(NO_ANSWER)) return '';
  const { prefix } = facts.trace.tasks;
  const prefixes = lost.map(({ cut }) => new Set(cut.map((row) => prefix[row]!)));
  const [first] = prefixes.flatMap((own) => [...own]);
  return lost.length > 1 && first !== undefined && prefixes.every((own) => own.size === 1 && own.has(first))
    ? facts.prefixName(first)
    : '';
}

function titleOf(facts: Facts, lost: readonly LostWorker[], again: number, cut: number): string {
  const [first] = lost;
  const when = first === undefined ? '' : secondsText(sinceStart(facts, first));
  const who =
    first !== undefined && lost.length === 1
      ? `Worker '${workerName(facts.trace, first.row)}' was lost at ${when}`
      : `${countText(lost.length, 'worker')} were lost, the first at ${when}`;
  if (again + cut === 0) {
    const missing = secondsText(Math.max(...lost.map((one) => missingUntil(facts, one) - one.removed)));
    return `${who}: ${lost.length === 1 ? `it was missing for ${missing}` : `they were missing for up to ${missing}`}`;
  }
  const what = again > 0 ? countText(again, 'result') : countText(cut, 'task');
  return `${who}: ${what} ${(again > 0 ? again : cut) === 1 ? 'was' : 'were'} computed again`;
}

function sinceStart({ path }: Facts, { time }: LostWorker): number {
  return Math.max(0, time - path.start);
}

function reasonsOf({ trace }: Facts, lost: readonly End[]): string {
  const reasons = lost.map(({ row }) => trace.workers.reason[row]!).filter((id) => id >= 0);
  const texts = reasons.map((id) => trace.strings.get(id).replace(/\.$/, ''));
  return [...new Set(texts)].slice(0, NAMED).join('; ');
}

type End = Pick<LostWorker, 'row' | 'time'>;

function memoryAdvice(facts: Facts, lost: readonly End[]): string | undefined {
  for (const worker of lost) {
    const { held, limit, results, kept } = lastMemory(facts, worker);
    const { strings, workers } = facts.trace;
    const name = workerName(facts.trace, worker.row);
    const isExhausted = textOf(strings, workers.reason[worker.row]).startsWith(EXHAUSTED);
    const isFull = limit > 0 && held >= MEMORY_SHORT * limit;
    if (kept !== undefined && (isExhausted || isFull))
      return `Worker '${name}' used ${bytesText(held)}, ${bytesText(results)} of it for results, and its memory grew from task to task. Look for what '${kept}' keeps when it ends, e.g. in variables of its module or in a cache. A higher limit only delays the loss.`;
    if (isExhausted)
      return `Raise the memory limit of worker '${name}' (${bytesText(limit)}), or use smaller blocks.`;
    if (isFull)
      return `Worker '${name}' used ${bytesText(held)} of its memory limit of ${bytesText(limit)}: raise the limit, or use smaller blocks.`;
  }
  return reasonsOf(facts, lost).includes(NO_MEMORY)
    ? 'Use smaller blocks or fewer workers, or set a memory limit, above which workers write results to disk.'
    : undefined;
}

/** Memory of a lost worker, in bytes. */
interface LastMemory {
  /** At its last sample; 0 if unknown. */
  readonly held: number;
  /** Part of `held` for results. */
  readonly results: number;
  /** 0 if unknown. */
  readonly limit: number;
  /** Prefix of its tasks, if most of `held` was there before its last task, not at its first sample, and not for results. */
  readonly kept?: string;
}

function lastMemory(facts: Facts, { row: lost, time }: End): LastMemory {
  const { trace, lanes } = facts;
  const { worker, process, managed, time: times } = trace.memory;
  const samples = Array.from(times.keys())
    .filter((row) => worker[row] === lost && times[row]! <= time)
    .sort((a, b) => times[a]! - times[b]!);
  const limit = trace.workers.memoryLimit[lost] || 0;
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return { held: 0, results: 0, limit };
  const memory = { held: process[last]!, results: managed[last]!, limit };
  const ended = lanes.spans.rows.filter((row) => trace.tasks.worker[row] === lost);
  const stop = ended.reduce((latest, row) => Math.max(latest, trace.tasks.stopped[row]!), 0);
  const before = samples.findLast((row) => times[row]! <= stop) ?? first;
  const grown = (row: number): number => process[row]! - managed[row]! - process[first]! + managed[first]!;
  const isKept =
    ended.length >= KEEPING && grown(before) >= KEPT * grown(last) && grown(last) >= KEPT * memory.held;
  return isKept ? { ...memory, kept: facts.prefixName(trace.tasks.prefix[ended.at(-1)!]!) } : memory;
}

/**
 * Returns seconds of the critical path. If the path computes a task, its time counts if the task was a repetition. If
 * the path waits until a lost worker is replaced, all of it counts. If it waits otherwise, the time counts by the share of the
 * threads that repeated a task, ran a task that was lost later, or were missing while tasks were ready.
 */
function lostSeconds(facts: Facts, lost: readonly LostWorker[]): number {
  const { kind, start, stop, worker, behind, length } = facts.path.columns;
  const [compute, recomputed] = [facts.kindNumber('compute'), facts.kindNumber('recomputed')];
  const [waiting, starting] = [facts.kindNumber('waiting for a worker'), facts.kindNumber('worker start')];
  const replaced = replacedWorkers(facts.trace);
  const gone = new Set(replaced);
  const { started } = facts.trace.workers;
  const wastedUntil = wastedSeconds(facts, lost);
  let seconds = 0;
  for (let part = 0; part < length; part++) {
    const isReplacement =
      (kind[part] === waiting && behind[part]! < 0 && worker[part]! >= 0 && gone.has(worker[part]!)) ||
      (kind[part] === starting &&
        (replaced[worker[part]!] ?? -1) >= 0 &&
        start[part]! >= started[worker[part]!]!);
    if (kind[part] === recomputed || isReplacement) seconds += stop[part]! - start[part]!;
    else if (kind[part] !== compute) seconds += wastedUntil(stop[part]!) - wastedUntil(start[part]!);
  }
  return seconds;
}

/** Returns a function from a time to the seconds wasted until then, divided by the number of busy threads. */
function wastedSeconds(facts: Facts, lost: readonly LostWorker[]): (time: number) => number {
  const { started, stopped } = facts.trace.tasks;
  const [again, cut, gone] = [facts.bins(), facts.bins(), facts.bins()];
  for (const worker of lost) {
    for (const row of worker.again) again.add(started[row]!, stopped[row]!);
    for (const from of idleStarts(facts, worker)) {
      cut.add(from, worker.removed);
      gone.add(worker.removed, missingUntil(facts, worker));
    }
  }
  const [repeating, cutOff, missing] = [again.means(), cut.means(), gone.means()];
  const shares = Float64Array.from(repeating, (mean, bin) => {
    // Lost runs have no recorded times, so `running` does not count them.
    const unused = cutOff[bin]! + missing[bin]! * Math.min(1, facts.waiting[bin]!);
    const together = Math.max(1, facts.running[bin]! + unused);
    return Math.min(1, (mean + unused) / together);
  });
  return again.integral(shares);
}

/**
 * Returns the time until which the threads of a lost worker were missing: its removal, or the first task of its replacement,
 * or the end if this ran none.
 */
function missingUntil({ trace, path }: Facts, { row, removed }: LostWorker): number {
  const next = replacedWorkers(trace).indexOf(row);
  const begun = next < 0 ? removed : firstStarts(trace)[next]!;
  return Math.max(removed, Math.min(begun, path.stop));
}

/**
 * Returns for each thread of the worker the time from which it did nothing of use, at most its removal. The
 * times of runs that ended with the worker are estimated: each starts on a thread after that thread's last task, and after
 * the run was sent to the worker. After the loss, all threads are idle.
 */
function idleStarts({ trace, lanes }: Facts, { row: worker, cut, time: lost }: LostWorker): number[] {
  const { dispatched, stopped } = trace.tasks;
  const sent = cut.map((row) => dispatched[row]!).filter((time) => !Number.isNaN(time));
  const free: number[] = [];
  for (let lane = 0; lane < lanes.count; lane++) {
    if (lanes.worker[lane] !== worker) continue;
    free.push(stopped[lanes.spans.latest[lanes.offsets[lane + 1]! - 1]!]!);
  }
  const threads = Math.max(1, trace.workers.threads[worker]! || 0, free.length);
  free.sort((a, b) => a - b);
  // A worker receives more tasks than it runs at the same time.
  sent.sort((a, b) => a - b);
  return Array.from({ length: threads }, (_, thread) => {
    const time = sent[thread] ?? Number.POSITIVE_INFINITY;
    return Math.min(Math.max(time, free[thread] ?? time), lost);
  });
}

/** Returns the finding for these tasks. It costs the time for which they held their threads, divided by the number of threads. */
function timedOut(facts: Facts, died: readonly DiedTask[], exceeded: readonly ExceededTimeout[]): Found {
  const { tasks } = facts.trace;
  const rows = died.flatMap(({ lost }) => lost);
  const ran = new Map(exceeded.map(({ key, seconds }) => [key, seconds]));
  // After it was sent, a task may have waited for its worker.
  const held = sumOf(rows, (row) =>
    Math.max(0, Math.min(tasks.acknowledged[row]! - tasks.dispatched[row]!, ran.get(tasks.keyOf(row)) ?? 0)),
  );
  const name = facts.prefixName(tasks.prefix[rows[0]!]!);
  const timeouts = new Set(exceeded.map((one) => one.timeout));
  const [timeout] = timeouts;
  const limit = timeouts.size === 1 && timeout !== undefined ? ` of ${secondsText(timeout)}` : '';
  const isOne = died.length === 1;
  return {
    code: 'lost-work',
    title: `${countText(died.length, 'task')} exceeded ${isOne ? 'its' : 'their'} timeout${limit} and ${isOne ? 'has' : 'have'} no result: '${name}'`,
    seconds: Math.min(facts.makespan, held / facts.workers),
    confidence: 'high',
    text: `Until the timeout, ${isOne ? 'it' : 'they'} held threads for ${secondsText(held)} in total. These threads were replaced.`,
    numbers: { tasks: died.length, heldSeconds: held, workers: facts.workers },
    tasks: facts.keys(died.map(({ row }) => row)),
    question: 'worker-balance',
    advice: `Give what '${name}' waits for a time limit of its own, e.g. AbortSignal.timeout() for requests. Or raise the timeout, or divide the task.`,
  };
}
