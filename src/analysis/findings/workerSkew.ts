import { percentText, secondsText } from '../../base/words.js';
import { profilerSeconds } from '../profilerStarts.js';
import { coveredSeconds } from '../workerBalance.js';
import type { Facts, Rule } from './finding.js';

/** Share of the threads that idle while the path waits for one, from where it counts as skew. */
const MIN_IDLE = 0.2;
/** A thread of the busiest worker has at least this many times the mean. */
const MIN_SKEW = 1.25;

/**
 * Tasks waited for their worker while other workers had nothing to do. Costs the share of that wait that idle threads
 * could have taken.
 */
export const workerSkew: Rule = (facts) => {
  const { workers, trace } = facts;
  const all = busyWorkers(facts);
  const [first] = all;
  if (first === undefined) return undefined;
  const each = ({ seconds, threads }: BusyWorker) => seconds / threads;
  const worst = all.reduce((most, one) => (each(one) > each(most) ? one : most), first);
  // It had all the threads there were: no other worker could have taken its tasks.
  if (worst.threads >= workers) return undefined;
  const most = each(worst);
  const mean = all.reduce((sum, { seconds }) => sum + seconds, 0) / workers;
  if (most < MIN_SKEW * mean) return undefined;
  const seconds = Math.min(avoidableWait(facts), most - mean);
  const name = worst.row < 0 ? '' : trace.strings.get(trace.workers.name[worst.row]!);
  const onEach = worst.threads > 1 ? ` on each of its ${worst.threads} threads` : '';
  return {
    code: 'worker-skew',
    title: `Tasks queued at '${name}' while other workers had nothing to do`,
    seconds,
    confidence: 'medium',
    evidence: {
      text: `'${name}' computed ${secondsText(most)}${onEach}, the mean is ${secondsText(mean)}; ${percentText(behindSeconds(facts) / facts.makespan)} of the critical path waits for a worker that is busy.`,
      numbers: { busiestSeconds: most, meanSeconds: mean, workers },
      tasks: facts.pathTasks('waiting for a worker'),
      question: 'worker-balance',
    },
    advice:
      'Take away what binds tasks to a worker (options, inputs that only it has), or divide the data more evenly.',
  };
};

interface BusyWorker {
  /** Of workers; -1: the trace does not say which. */
  readonly row: number;
  /** Those that it has, or that ran tasks. */
  threads: number;
  /** That they computed together. */
  seconds: number;
}

/** Workers that ran tasks, in the order of their first lane. */
function busyWorkers(facts: Facts): BusyWorker[] {
  const { lanes, trace } = facts;
  const workers = new Map<number, BusyWorker>();
  for (let lane = 0; lane < lanes.count; lane++) {
    const row = lanes.worker[lane]!;
    const worker = workers.get(row) ?? { row, threads: 0, seconds: 0 };
    worker.threads += 1;
    worker.seconds += ownSeconds(facts, lane);
    workers.set(row, worker);
  }
  for (const worker of workers.values())
    worker.threads = Math.max(worker.threads, trace.workers.threads[worker.row] || 0);
  return [...workers.values()];
}

/** Of the path, without what it waits for workers that start. */
function behindSeconds({ path }: Facts): number {
  return path.behind.reduce((sum, { seconds }) => sum + seconds, 0);
}

/** Seconds in which tasks of a lane ran, and its profiler did not start. */
function ownSeconds({ trace, lanes, path }: Facts, lane: number): number {
  const rows = lanes.spans.rows.subarray(lanes.offsets[lane]!, lanes.offsets[lane + 1]!);
  const starting = profilerSeconds(trace, lanes.worker[lane]!, path.start, path.stop);
  return Math.max(0, coveredSeconds(trace, rows) - starting);
}

/** Seconds of waiting for a worker, as far as others idled meanwhile and could have had the task earlier. */
function avoidableWait(facts: Facts): number {
  const { latency, report, transferLatency } = facts.conditions;
  // To learn of a task and to tell of its result.
  const elsewhere = 2 * (latency + report + transferLatency);
  const there = allStarted(facts);
  let seconds = 0;
  for (const part of facts.parts('waiting for a worker')) {
    // Workers that are starting could not have had it.
    const [start, stop] = [Math.max(part.start, there), part.stop];
    if (!(stop > start)) continue;
    const idle = 1 - facts.runningBetween(start, stop) / facts.workers;
    if (idle >= MIN_IDLE) seconds += idle * Math.max(0, stop - start - elsewhere);
  }
  return seconds;
}

/** When the last worker began that had been sent a task before any ran: until then it was starting. */
function allStarted({ trace, lanes, firstStart }: Facts): number {
  const { dispatched, started } = trace.tasks;
  let last = firstStart;
  for (let lane = 0; lane < lanes.count; lane++) {
    const row = lanes.spans.rows[lanes.offsets[lane]!]!;
    if (dispatched[row]! <= firstStart) last = Math.max(last, started[row]!);
  }
  return last;
}
