import { addTo, largestOf } from '../../base/lookUps.js';
import { bytesText, percentText, secondsText } from '../../base/words.js';
import type { Trace } from '../../trace/trace.js';
import { recordsTransfers } from '../programTransfers.js';
import { merged, secondsOf } from '../spans.js';
import { clientSpans, clientTransfers, MIN_BYTES } from './clientTransfers.js';
import { manyLines } from './consoleOutput.js';
import { type Facts, type Found, MIN_COST, type Rule } from './finding.js';
import { schedulingSeconds } from './schedulerThread.js';
import { BUFFER_TYPE } from './serializationBound.js';
import { tasksTooSmall, unmeasuredObjects } from './tasksTooSmall.js';

const MIN_SHARE = 0.1;
/** Seconds between the end of a task and its report from which a local scheduler is busy with results, not with tasks. */
const LATE_REPORT = 0.02;

/**
 * Tasks of the critical path were ready and a worker was idle, but the scheduler had not sent them yet. The cost is
 * these waits without the start of the workers, without the time in which the program computed on the scheduler's
 * thread, and without the waits for a core. The scheduler's thread waits for a core as long as the threads of tasks do.
 */
export const schedulerBound: Rule = (facts) => {
  const returned = returnedResults(facts);
  if (returned !== undefined) return returned;
  const { all, usual: seconds } = schedulingSeconds(facts);
  const copied = facts.conditions.report < LATE_REPORT ? undefined : unmeasuredObjects(facts);
  if (copied !== undefined) return copies(facts, all, copied);
  if (seconds < MIN_SHARE * facts.makespan || manyLines(facts) > 0) return undefined;
  const { latency, taskOverhead } = facts.conditions;
  return {
    code: 'scheduler-bound',
    title: `Idle workers waited ${secondsText(seconds)} of the critical path for the scheduler`,
    seconds,
    confidence: 'medium',
    text: `These waits are ${percentText(seconds / facts.makespan)} of the critical path. An idle thread starts a task ${secondsText(latency)} after the task is ready.`,
    numbers: { latencySeconds: latency, taskOverheadSeconds: taskOverhead, tasks: facts.tasks },
    tasks: facts.pathTasks('waiting for the scheduler'),
    question: 'queueing',
    advice:
      'Make fewer and larger tasks, join each chain of tasks into one task, and submit the whole graph at once.',
  };
};

/** The thread of the program, which is that of a local scheduler, copies results before it sends the next tasks. */
function copies(facts: Facts, seconds: number, copied: string): Found | undefined {
  if (seconds < MIN_SHARE * facts.makespan || tasksTooSmall(facts)?.code === 'serialization-bound')
    return undefined;
  const { report } = facts.conditions;
  return {
    code: 'serialization-bound',
    title: `Idle workers waited ${secondsText(seconds)} of the critical path for the program's thread, probably while it copied results`,
    seconds,
    confidence: 'medium',
    text: `The program's thread receives a result ${secondsText(report)} after its task has ended. ${copied}`,
    numbers: { reportSeconds: report, tasks: facts.tasks, workers: facts.workers },
    tasks: facts.pathTasks('waiting for the scheduler'),
    question: 'queueing',
    advice:
      'Return less data, e.g. reduce results in tasks, or return typed arrays, which threads share. A cluster, await connect(), keeps results on its workers and measures what they cost.',
  };
}

/**
 * The thread of the program received and unpacked results of a local run, and the run waited for it. The cost is the part of
 * the critical path with nothing but these copies.
 */
function returnedResults(facts: Facts): Found | undefined {
  const { rows, nbytes, onPath } = clientTransfers(facts, 'gather');
  if (nbytes < MIN_BYTES || recordsTransfers(facts.trace) || onPath < MIN_COST * facts.makespan)
    return undefined;
  const spans = merged(clientSpans(facts, 'gather'));
  const all = secondsOf(spans);
  const { largest, areBuffers, tasks } = returned(facts.trace, rows);
  return {
    code: 'serialization-bound',
    title: `The run waited ${secondsText(onPath)} while the program's thread received ${bytesText(nbytes)} of results`,
    seconds: onPath,
    confidence: 'high',
    text: `This thread received and unpacked results for ${secondsText(all)} (${bytesText(nbytes / all)}/s)${largest === undefined ? '' : `, most of them of '${largest}'`}. Meanwhile it sent no tasks to the workers.`,
    numbers: { nbytes, transfers: rows.length, copySeconds: all, workers: facts.workers },
    tasks,
    question: 'transfers-by-type',
    advice: `Return less: reduce results in tasks, or write them to files there. ${areBuffers ? 'Worker threads do not copy arrays on a SharedArrayBuffer.' : 'Typed arrays are unpacked faster than objects and strings.'} A cluster, await connect(), keeps results on its workers until the program fetches them.`,
  };
}

/** Returns the prefix of the tasks with most of the bytes in these transfers, and the keys of at most five tasks. */
function returned({ transfers, tasks, keys, strings }: Trace, rows: readonly number[]) {
  const bytes = new Map<number, number>();
  for (const row of rows) {
    const [from, to] = [transfers.keyOffsets[row]!, transfers.keyOffsets[row + 1]!];
    for (const key of transfers.keys.subarray(from, to))
      addTo(bytes, key, transfers.nbytes[row]! / (to - from));
  }
  const prefixes = new Map<number, number>();
  let [all, buffers] = [0, 0];
  for (let row = 0; row < tasks.length; row++) {
    const nbytes = bytes.get(tasks.key[row]!);
    if (nbytes === undefined) continue;
    addTo(prefixes, tasks.prefix[row]!, nbytes);
    all += nbytes;
    const type = tasks.resultType[row]!;
    if (type >= 0 && BUFFER_TYPE.test(strings.get(type))) buffers += nbytes;
  }
  const [largest] = largestOf(prefixes) ?? [];
  return {
    largest: largest === undefined ? undefined : strings.get(largest),
    areBuffers: 2 * buffers > all,
    tasks: [...bytes.keys()].slice(0, 5).map((key) => keys.get(key)),
  };
}
