// Estimates the CPU time of tasks from samples of their threads. Local schedulers record no metrics of tasks, but the CPU
// time of each thread, about ten times per second.
import { getOrMake, pushTo } from '../../base/lookUps.js';
import { type Trace, textOf } from '../../trace/trace.js';
import { eachStretch } from '../coreUse.js';
import { eachUse, lanesOf } from '../lanes.js';

/** Seconds on a core and without one, by prefix. */
export interface CpuSeconds {
  readonly cpu: ReadonlyMap<string, number>;
  readonly noncpu: ReadonlyMap<string, number>;
  /** Whether most of the time is measured or sampled. Otherwise the tasks are assumed to compute. */
  readonly isKnown: boolean;
}

/** Smallest share of a prefix's time that samples must cover. Below it, its tasks are assumed to compute. */
const MIN_COVERED = 0.5;
/** Largest number of samples and tasks. */
const MAX_ROWS = 5_000_000;

/** Samples of a thread, by time. Each covers the time since the previous one; the first one covers nothing. */
export interface ThreadSamples {
  readonly times: Float64Array;
  /** CPU seconds of the thread by sample. */
  readonly used: Float64Array;
  /** Seconds in which tasks ran, by sample. */
  readonly held: Float64Array;
}

/**
 * Returns the CPU time of the tasks of each prefix. Tasks in the same sample have the same share of its CPU time, which
 * includes that of all other work of the thread. Samples that are longer than tasks therefore blur the prefixes. Cost: a
 * binary search per task, and a step per sample that it overlaps.
 */
export function sampledCpu(trace: Trace): CpuSeconds {
  const rows = lanesOf(trace).spans.rows;
  const threads = trace.resources.length + rows.length > MAX_ROWS ? new Map() : threadSamples(trace);
  const cpu = new Map<string, number>();
  const noncpu = new Map<string, number>();
  if (threads.size === 0) return { cpu, noncpu, isKnown: false };
  for (const row of rows)
    eachPart(trace, row, threads, (thread, at, seconds) => {
      thread.held[at]! += seconds;
    });
  const sums = new Map<number, { all: number; covered: number; computed: number }>();
  for (const row of rows) {
    const id = trace.tasks.prefix[row]!;
    const sum = getOrMake(sums, id, () => ({ all: 0, covered: 0, computed: 0 }));
    eachUse(trace, row, (start, stop, share) => {
      sum.all += share * (stop - start);
    });
    eachPart(trace, row, threads, ({ used, held }, at, seconds) => {
      sum.covered += seconds;
      sum.computed += seconds * Math.min(1, used[at]! / held[at]!);
    });
  }
  let [total, known] = [0, 0];
  for (const [id, { all, covered, computed }] of sums) {
    const name = textOf(trace.strings, id);
    const isCovered = covered > 0 && covered >= MIN_COVERED * all;
    const seconds = isCovered ? (all * computed) / covered : all;
    cpu.set(name, seconds);
    noncpu.set(name, all - seconds);
    total += all;
    if (isCovered) known += all;
  }
  return { cpu, noncpu, isKnown: known > total / 2 };
}

/** Returns the seconds in which the thread of a task neither computed nor waited for a core, by samples; 0 if they cover too little. */
export function idleSeconds(trace: Trace, row: number): number {
  const thread = threadSamples(trace).get(trace.tasks.worker[row]!);
  let [covered, computed] = [0, 0];
  if (thread === undefined) return 0;
  const { times, used } = thread;
  eachStretch(trace, row, times, (at, seconds) => {
    covered += seconds;
    computed += Math.min(seconds, (seconds * used[at]!) / (times[at]! - times[at - 1]!));
  });
  if (covered < MIN_COVERED * trace.tasks.duration[row]!) return 0;
  return Math.max(0, covered - computed - (trace.tasks.coreWait[row]! || 0));
}

/** Returns the samples of each worker with one thread, by row of workers. */
export function threadSamples({ resources, workers }: Trace): Map<number, ThreadSamples> {
  const percent = resources.figures.get('cpu');
  const rowsOf = new Map<number, number[]>();
  if (percent === undefined) return new Map();
  for (let row = 0; row < resources.length; row++) {
    const worker = resources.worker[row]!;
    if (worker >= 0 && !Number.isNaN(percent[row]!) && (workers.threads[worker]! || 1) === 1)
      pushTo(rowsOf, worker, row);
  }
  return new Map(
    Array.from(rowsOf, ([worker, rows]) => {
      rows.sort((a, b) => resources.time[a]! - resources.time[b]!);
      const times = Float64Array.from(rows, (row) => resources.time[row]!);
      const used = Float64Array.from(rows, (row, at) =>
        at === 0 ? 0 : (percent[row]! / 100) * (times[at]! - times[at - 1]!),
      );
      return [worker, { times, used, held: new Float64Array(rows.length) }];
    }),
  );
}

/** Calls `visit` with each part of a task's time on its thread that a sample covers. */
function eachPart(
  trace: Trace,
  row: number,
  threads: ReadonlyMap<number, ThreadSamples>,
  visit: (thread: ThreadSamples, at: number, seconds: number) => void,
): void {
  const thread = threads.get(trace.tasks.worker[row]!);
  if (thread !== undefined)
    eachStretch(trace, row, thread.times, (at, seconds) => visit(thread, at, seconds));
}
