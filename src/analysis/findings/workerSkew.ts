import { percentText, secondsText } from '../../base/words.js';
import { profilerSeconds } from '../profilerStarts.js';
import { coveredSeconds } from '../workerBalance.js';
import type { Facts, Rule } from './finding.js';

/** Share of the threads that idle while the path waits for one, from where it counts as skew. */
const MIN_IDLE = 0.2;
/** A thread of the busiest worker has at least this many times the mean. */
const MIN_SKEW = 1.25;
/** Seconds after a worker was made, in which what it is sent first finds it starting. */
const STARTING = 0.1;

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
  const begins = threadBegins(facts);
  const mean = all.reduce((sum, { seconds }) => sum + seconds, 0) / presentThreads(facts, begins);
  if (most < MIN_SKEW * mean) return undefined;
  const seconds = Math.min(avoidableWait(facts, begins), most - mean);
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
function avoidableWait(facts: Facts, begins: Float64Array): number {
  const { latency, report, transferLatency } = facts.conditions;
  // To learn of a task and to tell of its result.
  const elsewhere = 2 * (latency + report + transferLatency);
  let seconds = 0;
  for (const { start, stop } of facts.parts('waiting for a worker')) {
    // Workers that were starting could not have had it: the threads that were there are counted from one to the next.
    for (const [from, to] of stretches(start, stop, begins)) {
      const there = facts.workers - begins.filter((begin) => begin > from).length;
      const idle = 1 - facts.runningBetween(from, to) / there;
      if (idle >= MIN_IDLE) seconds += idle * Math.max(0, to - from - elsewhere);
    }
  }
  return seconds;
}

/** A time span, cut where threads begin. */
function stretches(start: number, stop: number, begins: Float64Array): [from: number, to: number][] {
  const cuts = [...begins.filter((begin) => begin > start && begin < stop)].sort((a, b) => a - b);
  return [start, ...cuts].map((from, i) => [from, cuts[i] ?? stop]);
}

/**
 * By lane: when its thread could run something. A worker that comes late, or that what it was sent first found starting, was not
 * idle before.
 */
function threadBegins({ trace, lanes, firstStart }: Facts): Float64Array {
  const { tasks, workers } = trace;
  return Float64Array.from({ length: lanes.count }, (_, lane) => {
    const row = lanes.spans.rows[lanes.offsets[lane]!]!;
    const worker = lanes.worker[lane]!;
    // NaN where the trace does not say.
    const made = Math.max(firstStart, worker < 0 ? firstStart : workers.started[worker]! || firstStart);
    const wasStarting = tasks.dispatched[row]! <= (made > firstStart ? made + STARTING : firstStart);
    return wasStarting ? Math.max(made, tasks.started[row]!) : made;
  });
}

/** Threads that were there on average since the first task started. */
function presentThreads({ workers, active, path }: Facts, begins: Float64Array): number {
  const missing = begins.reduce((sum, begin) => sum + 1 - (path.stop - begin) / active, 0);
  return Math.max(1, workers - missing);
}
