// Finds when workers started, existed, were paused and were restarted. A program may start several clusters or pools one
// after another.
import { rowsWhere } from '../base/groups.js';
import { oncePer, pushTo } from '../base/lookUps.js';
import { TASK_LOST } from '../protocol/clusterObserver.js';
import { WORKER_FULL, WORKER_PAUSED, WORKER_RESTARTED } from '../protocol/eventTopics.js';
import { eventsOf, type Trace, textOf } from '../trace/trace.js';
import { lanesOf } from './lanes.js';
import { merged, type Span } from './spans.js';
import { unfinishedRuns } from './unfinishedRuns.js';

/** Seconds within which workers are created together. A thread takes milliseconds, a process tens of milliseconds. */
const TOGETHER = 0.1;

/**
 * Returns, by row of workers, the first start of a task on the worker or on workers created with it or later. Until
 * that time, the worker may have been starting. If its creation is not recorded, the first start of any task is used.
 * A Dask worker is recorded when it joins the cluster, and it has started by then.
 */
export const firstStarts = oncePer((trace: Trace): Float64Array => {
  const made = trace.workers.started;
  if (isRemote(trace)) return made;
  const all = firstStart(trace);
  const own = ownStarts(trace);
  const rows = rowsWhere(made.length, (row) => !Number.isNaN(made[row]!)).sort((a, b) => made[b]! - made[a]!);
  const starts = new Float64Array(trace.workers.length).fill(all);
  let [next, first] = [0, Number.POSITIVE_INFINITY];
  for (const row of rows) {
    for (; next < rows.length && made[rows[next]!]! >= made[row]! - TOGETHER; next++)
      first = Math.min(first, own[rows[next]!]!);
    starts[row] = first;
  }
  return starts;
});

/** Returns the first start of a task; Infinity if no task started. */
export function firstStart(trace: Trace): number {
  return firstTasks(trace).reduce((first, time) => Math.min(first, time), Number.POSITIVE_INFINITY);
}

/** Returns true for a worker of a local scheduler. */
export function isOfPool({ workers, strings }: Trace, row: number): boolean {
  return textOf(strings, workers.address[row]) === '';
}

/**
 * Returns the time at which a local scheduler created its first worker: it prepares the tasks before. Returns -Infinity for
 * a worker of a cluster, and if the creation of a worker is not recorded.
 */
export function poolStart(trace: Trace, row: number): number {
  if (row < 0 || !isOfPool(trace, row)) return Number.NEGATIVE_INFINITY;
  const first = trace.workers.started.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);
  return Number.isNaN(first) ? Number.NEGATIVE_INFINITY : first;
}

/** Returns the start of the first task by row of workers; Infinity without tasks. */
function ownStarts(trace: Trace): Float64Array {
  const { worker } = lanesOf(trace);
  const starts = new Float64Array(trace.workers.length).fill(Number.POSITIVE_INFINITY);
  for (const [lane, time] of firstTasks(trace).entries())
    if (worker[lane]! >= 0) starts[worker[lane]!] = Math.min(starts[worker[lane]!]!, time);
  return starts;
}

/** Returns the start of the first task of each lane. */
export function firstTasks(trace: Trace): Float64Array {
  const { count, spans, offsets } = lanesOf(trace);
  return Float64Array.from({ length: count }, (_, lane) => trace.tasks.started[spans.rows[offsets[lane]!]!]!);
}

/**
 * Returns the largest number of threads at any time, at least 1. Workers join and leave, and clusters follow one
 * another.
 */
export function threadsTogether(trace: Trace): number {
  const threads = threadsOf(trace);
  const unnamed = lanesOf(trace).worker.filter((row) => row < 0).length;
  return Math.max(1, mostTogether(trace, (row) => threads[row]!) + unnamed);
}

/** Returns the largest sum of a value over the workers that existed at the same time. */
export function mostTogether(trace: Trace, amountOf: (row: number) => number): number {
  const { workers } = trace;
  const ended = lastEnds(trace);
  const ends = workerEnds(trace);
  const changes: { time: number; change: number }[] = [];
  for (let row = 0; row < workers.length; row++) {
    const change = amountOf(row);
    const [started, stopped] = [workers.started[row]!, workers.stopped[row]!];
    const from = Number.isNaN(started) ? Number.NEGATIVE_INFINITY : started;
    // The end of a local scheduler's pool is not recorded, so its last task ends the span.
    const last = Math.max(ended[row] || ends[row]!, ends[row] || ended[row]!);
    const isEnded = started === from && isOfPool(trace, row) && !Number.isNaN(last);
    const to = stopped >= from ? stopped : isEnded ? last : Number.POSITIVE_INFINITY;
    changes.push({ time: from, change }, { time: to, change: -change });
  }
  // At equal times, a worker that leaves is subtracted before one that joins.
  changes.sort((a, b) => a.time - b.time || a.change - b.change);
  let [now, most] = [0, 0];
  for (const { change } of changes) {
    now += change;
    most = Math.max(most, now);
  }
  return most;
}

/** Returns the threads of each worker: the recorded number, but at least the threads that ran tasks. */
export const threadsOf = oncePer((trace: Trace): Float64Array => {
  const used = new Float64Array(trace.workers.length);
  for (const row of lanesOf(trace).worker) if (row >= 0) used[row]! += 1;
  return used.map((count, row) => Math.max(count, trace.workers.threads[row]! || 0));
});

/**
 * Returns the end of each worker by row; NaN for a worker that stayed. The thread of a local scheduler ends with the task
 * run that it lost, or whose cancellation was the last that it had to do, and its end is not recorded. Computed once per trace.
 */
export const workerEnds = oncePer((trace: Trace): Float64Array => {
  const { tasks, workers } = trace;
  const ends = workers.stopped.slice();
  const last = lastEnds(trace);
  for (const { row, stop } of unfinishedRuns(trace)) {
    const worker = tasks.worker[row]!;
    const isEnd = tasks.state[row] === TASK_LOST || !(last[worker]! > stop);
    if (worker >= 0 && Number.isNaN(ends[worker]!) && isEnd && isOfPool(trace, worker)) ends[worker] = stop;
  }
  return ends;
});

/** Returns the end of the last task by row of workers; NaN without tasks. Computed once per trace. */
export const lastEnds = oncePer((trace: Trace): Float64Array => {
  const { worker, stopped } = trace.tasks;
  const ended = new Float64Array(trace.workers.length).fill(Number.NaN);
  for (const row of lanesOf(trace).spans.rows) {
    const own = worker[row]!;
    if (own >= 0 && !(stopped[row]! <= ended[own]!)) ended[own] = stopped[row]!;
  }
  return ended;
});

/**
 * Returns since when each worker existed; NaN if the trace does not record it. The workers that a Dask cluster has when its
 * observation begins are recorded then, and may run tasks that began before. Computed once per trace.
 */
export const existsSince = oncePer((trace: Trace): Float64Array => {
  if (!isRemote(trace)) return trace.workers.started;
  const own = ownStarts(trace);
  return trace.workers.started.map((time, row) => Math.min(time, own[row]!));
});

/**
 * Returns the part of a window in which a worker existed: all of it if the trace does not record its times. Its end is on the
 * scheduler's clock, and its last task may end later on the clock of the worker.
 */
export function lifeOf(trace: Trace, row: number, { start, stop }: Span): Span {
  const from = Math.max(start, existsSince(trace)[row] || start);
  const end = Math.max(trace.workers.stopped[row] || stop, lastEnds(trace)[row] || from);
  return { start: from, stop: Math.max(from, Math.min(stop, end)) };
}

/** Returns the sum of the times in which threads existed in a window. */
export function threadSeconds(trace: Trace, window: Span): number {
  const unnamed = lanesOf(trace).worker.filter((row) => row < 0).length;
  return threadsOf(trace).reduce(
    (sum, threads, row) => {
      const { start, stop } = lifeOf(trace, row, window);
      return sum + Math.max(1, threads) * (stop - start);
    },
    unnamed * (window.stop - window.start),
  );
}

/** Returns the pauses by row of workers, in order and without overlaps. Computed once per trace. */
export const pausesOf = oncePer((trace: Trace): ReadonlyMap<number, readonly Span[]> => {
  const { workers } = trace;
  const found = new Map<number, Span[]>();
  for (const { begin, end } of [WORKER_PAUSED, WORKER_FULL]) {
    const open = new Map<number, number>();
    for (const { worker, topic, time } of eventsOf(trace, begin, end)) {
      if (worker < 0) continue;
      const start = open.get(worker);
      if (topic === begin && start === undefined) open.set(worker, time);
      if (topic !== end || start === undefined) continue;
      open.delete(worker);
      pushTo(found, worker, { start, stop: time });
    }
    // The worker was paused until it ended.
    for (const [worker, start] of open) {
      const stop = workers.stopped[worker]! >= start ? workers.stopped[worker]! : Number.POSITIVE_INFINITY;
      pushTo(found, worker, { start, stop });
    }
  }
  return new Map(Array.from(found, ([worker, pauses]) => [worker, merged(pauses)]));
});

/** Returns the times of restarts by row of workers, in order. Computed once per trace. */
export const restartsOf = oncePer((trace: Trace): ReadonlyMap<number, readonly number[]> => {
  const restarts = new Map<number, number[]>();
  for (const { worker, time } of eventsOf(trace, WORKER_RESTARTED))
    if (worker >= 0) pushTo(restarts, worker, time);
  for (const times of restarts.values()) times.sort((a, b) => a - b);
  return restarts;
});

/** Matches addresses of Dask workers. Longpole's have `thread://`, `process://` or, on Dask, `longpole+tcp://` etc. */
const DASK_ADDRESS = /^(tcp|tls|ucx|ucxx|ws|wss|inproc):\/\//;

/**
 * Returns true if the workers are Dask's: Python processes without helper threads, with a scheduler in another process.
 */
export function isRemote({ workers, strings }: Trace): boolean {
  return workers.address.some((id) => id >= 0 && DASK_ADDRESS.test(strings.get(id)));
}
