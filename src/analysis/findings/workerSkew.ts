import { addTo, oncePer, sumOf } from '../../base/lookUps.js';
import { countText, percentText, secondsText } from '../../base/words.js';
import { TASK_LOST } from '../../protocol/clusterObserver.js';
import { sourceOf } from '../../trace/joinedSources.js';
import { type Trace, workerName } from '../../trace/trace.js';
import { lostWorkers, replacedWorkers } from '../lostWork.js';
import { profilerSeconds } from '../profilerStarts.js';
import { merged, overlapSeconds, type Span } from '../spans.js';
import { type UnfinishedRun, unfinishedRuns } from '../unfinishedRuns.js';
import { coveredSeconds } from '../workerBalance.js';
import { isOfPool, workerEnds } from '../workerLives.js';
import { blockedByProgram } from './eventLoopStarvation.js';
import type { Facts, Rule } from './finding.js';

/** Share of idle threads, while the path waits for a busy one, from which the wait counts as skew. */
const MIN_IDLE = 0.2;
/** Smallest ratio of the busiest worker's seconds per thread to the mean. */
const MIN_SKEW = 1.25;
/** Multiples of the time that the first worker needed to start, within which a worker without tasks may still have been starting. */
const START_TIMES = 2;
/** Seconds after its creation in which a worker may still be starting when its first task is sent. */
const STARTING = 0.1;

/**
 * Tasks waited for their worker while other workers were idle. The cost is the part of this wait that idle threads
 * could have saved.
 */
export const workerSkew: Rule = (facts) => {
  const { workers, trace } = facts;
  if (overlapOnPool(facts)) return undefined;
  const all = busyWorkers(facts);
  const [first] = all;
  if (first === undefined) return undefined;
  const each = ({ seconds, threads }: BusyWorker) => seconds / threads;
  const worst = all.reduce((most, one) => (each(one) > each(most) ? one : most), first);
  // Without threads on other workers, no other worker could have taken the tasks.
  if (worst.threads >= workers) return undefined;
  const most = each(worst);
  const begins = threadBegins(facts);
  const mates = all.filter(({ source }) => source === worst.source);
  const isOne = mates.length === all.length;
  const ofMates = evenSeconds(facts, mates, worst, begins, isOne);
  // Workers of another cluster, or of local schedulers, cannot take these tasks.
  const isElsewhere = !isOne && most < MIN_SKEW * ofMates;
  const mean = isElsewhere ? evenSeconds(facts, all, worst, begins, isOne) : ofMates;
  if (most < MIN_SKEW * mean) return undefined;
  const seconds = Math.min(avoidableWait(facts, begins), most - mean);
  const unused = unusedWorkers(facts, facts.path.start, facts.path.stop).filter(
    ({ computed }) => computed === 0,
  ).length;
  const without = unused > 0 ? ` ${countText(unused, 'worker')} ran no task.` : '';
  const name = worst.row < 0 ? '' : workerName(trace, worst.row);
  const onEach = worst.threads > 1 ? ` on each of its ${worst.threads} threads` : '';
  return {
    code: 'worker-skew',
    title: `Tasks queued at worker '${name}' while ${isElsewhere ? 'workers of another cluster or scheduler of the program' : 'other workers'} were idle`,
    seconds,
    confidence: 'medium',
    text: `'${name}' computed for ${secondsText(most)}${onEach}; an even share is ${secondsText(mean)}. Waits for busy workers take ${percentText(behindSeconds(facts) / facts.makespan)} of the critical path.${without}`,
    numbers: { busiestSeconds: most, meanSeconds: mean, workers },
    tasks: facts.pathTasks('waiting for a worker'),
    question: 'worker-balance',
    advice: isElsewhere
      ? `Run these tasks where workers are idle, e.g. all tasks on one cluster, or give the cluster or scheduler of '${name}' more workers.`
      : `Do not bind tasks to worker '${name}' (by options, or by inputs that only this worker holds), or divide the data more evenly.`,
  };
};

/** Returns whether tasks of a local scheduler overlapped, which does not measure for how long each of them used its thread. */
function overlapOnPool({ trace, lanes }: Facts): boolean {
  const { seceded, worker } = trace.tasks;
  return lanes.spans.rows.some((row) => !Number.isNaN(seceded[row]!) && isOfPool(trace, worker[row]!));
}

interface BusyWorker {
  /** Row of workers; -1 if the trace does not name the worker. */
  readonly row: number;
  /** Number of its cluster, or of the local schedulers, in the program. */
  readonly source: number;
  readonly lanes: number[];
  /** Recorded number of threads, or the number of threads that ran tasks if that is larger. */
  threads: number;
  /** Seconds in which tasks ran on these threads, in total. */
  seconds: number;
}

/** Returns the workers that ran tasks, in the order of their first lane. */
function busyWorkers(facts: Facts): BusyWorker[] {
  const { lanes, trace } = facts;
  const workers = new Map<number, BusyWorker>();
  for (let lane = 0; lane < lanes.count; lane++) {
    const row = lanes.worker[lane]!;
    const source = sourceOf(trace.tasks.id[lanes.spans.rows[lanes.offsets[lane]!]!]!);
    const worker = workers.get(row) ?? { row, source, lanes: [], threads: 0, seconds: 0 };
    worker.lanes.push(lane);
    worker.threads += 1;
    worker.seconds += ownSeconds(facts, lane);
    workers.set(row, worker);
  }
  for (const worker of workers.values())
    worker.threads = Math.max(worker.threads, trace.workers.threads[worker.row] || 0);
  return [...workers.values()];
}

/** Returns the seconds of the path in which tasks waited behind other tasks, without the start of workers. */
function behindSeconds({ path }: Facts): number {
  return path.behind.reduce((sum, { seconds }) => sum + seconds, 0);
}

/**
 * Returns the seconds of the tasks of a lane that ran between two times, at least in part, without the start of its
 * profiler.
 */
function ownSeconds({ trace, lanes, path }: Facts, lane: number, from = path.start, to = path.stop): number {
  const rows = lanes.spans.rows
    .subarray(lanes.offsets[lane]!, lanes.offsets[lane + 1]!)
    .filter((row) => trace.tasks.started[row]! < to && lanes.stop[row]! > from);
  const starting = profilerSeconds(trace, lanes.worker[lane]!, from, to);
  return Math.max(0, coveredSeconds(trace, rows) - starting);
}

/**
 * Returns the seconds of waits for a worker that idle threads could have avoided. While the program blocks the event loop,
 * the scheduler cannot give tasks to idle threads.
 */
function avoidableWait(facts: Facts, begins: Float64Array): number {
  const blocked = blockedByProgram(facts);
  const { latency, report, transferLatency } = facts.conditions;
  // Seconds to send a task to another worker and to receive its result.
  const elsewhere = 2 * (latency + report + transferLatency);
  const { lanes } = facts;
  const ends = begins.map((_, lane) => lastStop(facts, lane));
  const gone = threadEnds(facts);
  const unused = Math.max(0, facts.workers - lanes.count);
  // Workers of which no run has times have no lane.
  const others = new Set(lostRuns(facts.trace).map(({ row }) => facts.trace.tasks.worker[row]!));
  for (const worker of lanes.worker) others.delete(worker);
  const held = [
    ...Array.from(begins, (_, lane) => heldSpans(facts, lane)),
    ...Array.from(others, (worker) => merged(lostSpans(facts.trace, worker))),
  ];
  const waits = new Map<number, number>();
  for (const { start, stop, row } of facts.parts('waiting for a worker')) {
    // A task that has left its slot continues only there.
    if (start >= facts.trace.tasks.seceded[row]!) continue;
    // Only threads that have started count, so divide the wait at the starts of threads, and at their ends.
    for (const [from, to] of stretches(start, stop, begins, ends, gone)) {
      const here = begins.filter((begin, lane) => begin <= from && gone[lane]! > from).length;
      // A new worker has threads of its own, so there may be more of them in total than at the same time.
      const there = Math.min(facts.workers, here + unused);
      const stretch = [{ start: from, stop: to }];
      const holding = sumOf(held, (spans) => overlapSeconds(spans, stretch)) / (to - from);
      const idle = 1 - (facts.runningBetween(from, to) + holding) / there;
      const seconds = to - from - overlapSeconds(stretch, blocked);
      if (idle >= MIN_IDLE) addTo(waits, row, idle * seconds);
    }
  }
  return sumOf(waits.values(), (wait) => Math.max(0, wait - elsewhere));
}

/**
 * Returns the spans in which a thread had its next task and did not run it, e.g. because it waited for a core, or ran a task that
 * then ended with the thread, e.g. at its timeout. The times of such a run are not recorded.
 */
function heldSpans({ trace, lanes }: Facts, lane: number): readonly Span[] {
  const { tasks } = trace;
  const { rows, latest } = lanes.spans;
  const spans = lostSpans(trace, lanes.worker[lane]!);
  for (let at = lanes.offsets[lane]! + 1; at < lanes.offsets[lane + 1]!; at++) {
    const [start, stop] = [lanes.stop[latest[at - 1]!]!, tasks.started[rows[at]!]!];
    if (tasks.dispatched[rows[at]!]! <= start && stop > start) spans.push({ start, stop });
  }
  return merged(spans);
}

/** The runs that ended with their worker or thread. */
const lostRuns = oncePer((trace: Trace): readonly UnfinishedRun[] =>
  unfinishedRuns(trace).filter(({ row }) => trace.tasks.state[row] === TASK_LOST),
);

/** Returns the spans from the sending of these runs to their end. */
function lostSpans(trace: Trace, worker: number): Span[] {
  return lostRuns(trace).filter(({ row }) => trace.tasks.worker[row] === worker);
}

/** Divides a time span at the given times. */
function stretches(start: number, stop: number, ...times: Float64Array[]): [from: number, to: number][] {
  const cuts = times.flatMap((some) => [...some.filter((time) => time > start && time < stop)]);
  cuts.sort((a, b) => a - b);
  return [start, ...cuts].map((from, i) => [from, cuts[i] ?? stop]);
}

/**
 * Returns for each lane the time from which its thread could run tasks. A worker that joined late, or that was still
 * starting when its first task was sent, was not idle before that time. A worker that replaces a lost one is recorded
 * before its process starts.
 */
function threadBegins({ trace, lanes, firstStart }: Facts): Float64Array {
  const { tasks, workers } = trace;
  const replaced = replacedWorkers(trace);
  return Float64Array.from({ length: lanes.count }, (_, lane) => {
    const row = lanes.spans.rows[lanes.offsets[lane]!]!;
    const worker = lanes.worker[lane]!;
    // The start of a worker is NaN if it is not recorded.
    const made = Math.max(firstStart, worker < 0 ? firstStart : workers.started[worker]! || firstStart);
    const wasStarting =
      (replaced[worker] ?? -1) >= 0 ||
      tasks.dispatched[row]! <= (made > firstStart ? made + STARTING : firstStart);
    return wasStarting ? Math.max(made, tasks.started[row]!) : made;
  });
}

/** Returns for each lane the time at which its worker was lost or left; Infinity for a worker that stayed. */
function threadEnds({ trace, lanes }: Facts): Float64Array {
  const lost = new Map(lostWorkers(trace).map(({ row, time }) => [row, time]));
  const ends = workerEnds(trace);
  return Float64Array.from({ length: lanes.count }, (_, lane) => {
    const worker = lanes.worker[lane]!;
    return lost.get(worker) ?? (ends[worker] || Number.POSITIVE_INFINITY);
  });
}

/**
 * Returns the seconds per thread that the busiest worker would have computed if all threads that could share its work had
 * stopped at the same time. A worker that began later or was lost earlier shares only the time in which both lived.
 */
function evenSeconds(
  facts: Facts,
  all: readonly BusyWorker[],
  busiest: BusyWorker,
  begins: Float64Array,
  withUnused: boolean,
): number {
  const gone = threadEnds(facts);
  const life = ({ lanes }: BusyWorker): Span => ({
    start: Math.min(...lanes.map((lane) => begins[lane]!)),
    stop: Math.max(...lanes.map((lane) => gone[lane]!)),
  });
  const { start } = life(busiest);
  const stop = Math.max(...busiest.lanes.map((lane) => lastStop(facts, lane)));
  const others = all
    .filter((one) => one !== busiest)
    .map((one) => {
      const other = life(one);
      const [from, to] = [Math.max(start, other.start), Math.min(stop, other.stop)];
      const together = Math.max(0, to - from);
      const ended = overlapSeconds([{ start: from, stop: to }], lostSpans(facts.trace, one.row));
      const computed = one.lanes.reduce((sum, lane) => sum + ownSeconds(facts, lane, from, to), ended);
      const { threads } = one;
      return { threads, computed: Math.min(computed, threads * together), absent: stop - start - together };
    });
  if (withUnused) others.push(...unusedWorkers(facts, start, stop));
  others.sort((a, b) => a.absent - b.absent);
  let [seconds, threads] = [busiest.seconds, busiest.threads];
  for (const other of others) {
    if (other.absent >= seconds / threads) break;
    seconds += other.computed + other.threads * other.absent;
    threads += other.threads;
  }
  return seconds / threads;
}

/**
 * Returns the workers that could have shared work between two times, but ran no task to its end. Such a worker may have needed several
 * times as long as the first one to start. A process of a foreign trace, of which neither threads nor start are recorded, may be
 * no worker.
 */
function unusedWorkers(
  { trace, lanes, path, firstStart }: Facts,
  start: number,
  stop: number,
): { readonly threads: number; readonly computed: number; readonly absent: number }[] {
  const { workers } = trace;
  const used = new Set(lanes.worker);
  const ends = workerEnds(trace);
  // A worker may have been up for long before the first submission.
  const created = lanes.worker.map((row) => Math.max(path.start, workers.started[row] || firstStart));
  const starting = START_TIMES * Math.max(0, firstStart - Math.min(firstStart, ...created));
  return Array.from(workers.threads, (threads, row) => {
    const made = workers.started[row]! || 0;
    const from = Math.max(start, firstStart, made + starting);
    const to = Math.min(stop, ends[row]! || Number.POSITIVE_INFINITY);
    const computed = overlapSeconds([{ start: from, stop: Math.max(from, to) }], lostSpans(trace, row));
    return { threads: threads || 1, computed, absent: stop - start - Math.max(0, to - from) };
  }).filter(({ absent }, row) => {
    const isWorker = workers.threads[row]! > 0 || workers.started[row]! >= 0;
    return isWorker && !used.has(row) && absent < stop - start;
  });
}

/** Returns the end of the last task of a lane. */
function lastStop({ lanes }: Facts, lane: number): number {
  return lanes.stop[lanes.spans.latest[lanes.offsets[lane + 1]! - 1]!]!;
}
