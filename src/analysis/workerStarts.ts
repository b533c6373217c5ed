// When workers were there, and when they began: a program may start several clusters or pools one after the other, and
// each of them starts anew.
import { oncePer } from '../base/lookUps.js';
import type { Trace } from '../trace/trace.js';
import { lanesOf } from './lanes.js';

/**
 * Workers that were made within this time belong together, seconds: threads are made in milliseconds, processes in tens
 * of them.
 */
const TOGETHER = 0.1;

/**
 * By row of workers: when it, or one that was made with it or later, started its first task. Until then it may still
 * have been starting. Where the trace does not say when a worker was made: when the first task of all started.
 */
export const firstStarts = oncePer((trace: Trace): Float64Array => findStarts(trace));

/** When the first task of all started; Infinity if none did. */
export function firstStart(trace: Trace): number {
  return firstTasks(trace).reduce((first, time) => Math.min(first, time), Number.POSITIVE_INFINITY);
}

function findStarts(trace: Trace): Float64Array {
  const made = trace.workers.started;
  const all = firstStart(trace);
  const own = ownStarts(trace);
  const rows = Int32Array.from({ length: trace.workers.length }, (_, row) => row)
    .filter((row) => !Number.isNaN(made[row]!))
    .sort((a, b) => made[b]! - made[a]!);
  const starts = new Float64Array(trace.workers.length).fill(all);
  let [next, first] = [0, Number.POSITIVE_INFINITY];
  for (const row of rows) {
    for (; next < rows.length && made[rows[next]!]! >= made[row]! - TOGETHER; next++)
      first = Math.min(first, own[rows[next]!]!);
    starts[row] = first;
  }
  return starts;
}

/** By row of workers: when its first task started; Infinity: it ran none. */
function ownStarts(trace: Trace): Float64Array {
  const { worker } = lanesOf(trace);
  const starts = new Float64Array(trace.workers.length).fill(Number.POSITIVE_INFINITY);
  for (const [lane, time] of firstTasks(trace).entries())
    if (worker[lane]! >= 0) starts[worker[lane]!] = Math.min(starts[worker[lane]!]!, time);
  return starts;
}

/** By lane. */
function firstTasks(trace: Trace): Float64Array {
  const { count, spans, offsets } = lanesOf(trace);
  return Float64Array.from({ length: count }, (_, lane) => trace.tasks.started[spans.rows[offsets[lane]!]!]!);
}

/**
 * Threads that were there at the same time, at most: workers come and go, and clusters follow each other. At least 1.
 */
export function threadsTogether(trace: Trace): number {
  const { workers, tasks } = trace;
  const { count, worker, spans, offsets } = lanesOf(trace);
  const used = new Int32Array(workers.length);
  const ended = new Float64Array(workers.length).fill(Number.NaN);
  let unnamed = 0;
  for (let lane = 0; lane < count; lane++) {
    const row = worker[lane]!;
    if (row < 0) unnamed++;
    else {
      used[row]! += 1;
      const last = tasks.stopped[spans.latest[offsets[lane + 1]! - 1]!]!;
      ended[row] = Math.max(last, ended[row]! || last);
    }
  }
  const changes: { time: number; threads: number }[] = [];
  for (let row = 0; row < workers.length; row++) {
    const threads = Math.max(used[row]!, workers.threads[row]! || 0);
    const isPool = workers.address[row]! < 0 || trace.strings.get(workers.address[row]!) === '';
    const [from, to] = presence(
      workers.started[row]!,
      workers.stopped[row]!,
      isPool ? ended[row]! : Number.NaN,
    );
    changes.push({ time: from, threads }, { time: to, threads: -threads });
  }
  // Where one goes as another comes, they were not there together.
  changes.sort((a, b) => a.time - b.time || a.threads - b.threads);
  let [now, most] = [0, 0];
  for (const { threads } of changes) {
    now += threads;
    most = Math.max(most, now);
  }
  return Math.max(1, most + unnamed);
}

/**
 * From when to when a worker was there. Pools of local schedulers do not say when they end: one that follows another is
 * not beside it.
 */
function presence(started: number, stopped: number, lastTask: number): readonly [number, number] {
  const from = Number.isNaN(started) ? Number.NEGATIVE_INFINITY : started;
  if (stopped >= from) return [from, stopped];
  return [from, Number.isNaN(started) || Number.isNaN(lastTask) ? Number.POSITIVE_INFINITY : lastTask];
}
