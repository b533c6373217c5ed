import { addTo, getOrMake, oncePer, pushTo, sumOf } from '../../base/lookUps.js';
import { TASK_ERRED } from '../../protocol/clusterObserver.js';
import { type Trace, textOf } from '../../trace/trace.js';
import { coreUseOf } from '../coreUse.js';
import { COLD_SECONDS, firstRuns, slowFirstCalls, slowFirstRows } from '../firstCalls.js';
import { lanesOf } from '../lanes.js';
import { profilerSeconds } from '../profilerStarts.js';
import { median } from '../statistics.js';
import { isRemote } from '../workerLives.js';
import { awaitedSeconds } from '../workIntervals.js';
import { metricSeconds } from './metricSeconds.js';
import { type CpuSeconds, sampledCpu } from './sampledCpu.js';

/**
 * If the tasks of a prefix sleep for at least this share of their time, each of them is assumed to sleep at least as long
 * as half of them do. A task may seem to sleep less: a signal, such as that of the profiler, wakes its thread before the
 * sleep ends, and the thread then waits for a core.
 */
const ASLEEP = 0.6;
/** Such a task was woken if it took less than this share of the median of its prefix. Waits for a core do not count. */
const SHORT = 0.9;

/** The time of a prefix's tasks in seconds, divided into five parts without overlap. */
export interface PrefixCpu {
  readonly prefix: string;
  /** Seconds on a core. */
  readonly cpu: number;
  /** Seconds in which the thread was blocked, e.g. by synchronous I/O. */
  readonly noncpu: number;
  /** Seconds in which the thread was ready to run and all cores of the machine were busy. See CoreUse. */
  readonly crowded: number;
  /** Seconds of garbage collection. */
  readonly gc: number;
  /** Seconds in which asynchronous tasks waited for a promise, while nothing blocked the thread. */
  readonly awaited: number;
  /** `noncpu` / (`noncpu` + `cpu` + `gc`), 0 to 1. */
  readonly share: number;
}

/** Returns whether tasks have metrics of their CPU time. Those of local schedulers have none. */
export function hasCpuMetrics(trace: Trace): boolean {
  return trace.totals.metrics.some(
    ({ activity }) => activity === 'thread-cpu' || activity === 'thread-noncpu',
  );
}

/**
 * Returns the prefixes that take at least a twentieth of the time, those with most blocked time first. The times are
 * fine performance metrics, or else estimates from samples of the threads. Waits for a busy core are `crowded`, not
 * `noncpu`. Blocked time of first calls is left out, because modules may load in it. The start of profilers is left out,
 * too.
 */
export const cpuByPrefix = oncePer((trace: Trace): readonly PrefixCpu[] => {
  const { cpu, noncpu: withoutCpu } = cpuSeconds(trace);
  const gc = metricSeconds(trace, 'gc');
  const crowded = crowdedSeconds(trace, cpu);
  const first = firstSeconds(trace);
  const awaiting = awaitedByPrefix(trace, cpu, withoutCpu);
  const all = [...cpu.values(), ...withoutCpu.values()].reduce((total, seconds) => total + seconds, 0);
  return [...new Set([...cpu.keys(), ...withoutCpu.keys()])]
    .map((prefix) => {
      const without = withoutCpu.get(prefix) ?? 0;
      // Time without a core counts first as `crowded`, and only the remainder as `awaited`.
      const lost = Math.min(without, crowded.get(prefix) ?? 0);
      const awaited = Math.min(without - lost, awaiting.get(prefix) ?? 0);
      const onCore = cpu.get(prefix) ?? 0;
      const collected = gc.byPrefix.get(prefix) ?? 0;
      // The metrics subtract collections from CPU time, but during a collection the thread mostly waits for helper
      // threads.
      const helped = Math.min(without - awaited - lost, collected);
      const loading = Math.min(without - awaited - lost - helped, first.get(prefix) ?? 0);
      const noncpu = without - awaited - lost - helped - loading;
      const own = { cpu: onCore + helped, noncpu, crowded: lost, gc: collected, awaited };
      return { prefix, ...own, share: noncpu / (own.cpu + noncpu + own.gc) };
    })
    .filter((row) => row.cpu + row.noncpu + row.crowded + row.awaited >= all / 20)
    .sort((a, b) => b.noncpu - a.noncpu);
});

/** Returns whether most of the CPU time of tasks is measured or sampled. Otherwise tasks are assumed to compute. */
export function isCpuKnown(trace: Trace): boolean {
  return cpuSeconds(trace).isKnown;
}

const cpuSeconds = oncePer((trace: Trace): CpuSeconds => {
  if (!hasCpuMetrics(trace)) return sampledCpu(trace);
  const noncpu = new Map(withinSlots(trace, metricSeconds(trace, 'thread-noncpu').byPrefix));
  for (const [name, seconds] of failedAwaits(trace)) addTo(noncpu, name, seconds);
  return { cpu: metricSeconds(trace, 'thread-cpu').byPrefix, noncpu, isKnown: true };
});

/** Returns the seconds by prefix in which failed runs awaited promises. The metrics count all seconds of these runs as failed. */
const failedAwaits = oncePer((trace: Trace): Seconds => {
  const seconds = new Map<string, number>();
  const { prefix, state } = trace.tasks;
  for (const [row, awaited] of hasCpuMetrics(trace) ? awaitedSeconds(trace) : []) {
    if (state[row] !== TASK_ERRED) continue;
    addTo(seconds, textOf(trace.strings, prefix[row]), awaited);
  }
  return seconds;
});

/** Returns the seconds without those in which seceded tasks of Dask had left their slots, which Dask's metrics contain. */
function withinSlots(trace: Trace, seconds: Seconds): Seconds {
  const { prefix, waited } = trace.tasks;
  if (!isRemote(trace)) return seconds;
  const within = new Map(seconds);
  for (const row of lanesOf(trace).spans.rows) {
    if (Number.isNaN(waited[row]!)) continue;
    const name = textOf(trace.strings, prefix[row]);
    within.set(name, Math.max(0, (within.get(name) ?? 0) - waited[row]!));
  }
  return within;
}

/** Returns the share of its time in which a thread has a core if it computes without a pause, 0 to 1. */
export function coreShare(trace: Trace): number {
  const { aloneSeconds, lost } = coreUseOf(trace);
  const cores = metricSeconds(trace, 'thread-cpu').total + metricSeconds(trace, 'gc').total;
  const { duration } = trace.tasks;
  const waited = sumOf(lanesOf(trace).spans.rows, (row) => duration[row]! - aloneSeconds(row));
  return cores > 0 ? cores / (cores + waited) : 1 - lost;
}

/** Returns the ratio of some seconds to all the time in which tasks of the prefix occupied a thread, 0 to 1. */
export function shareOfTime({ cpu, noncpu, crowded, gc, awaited }: PrefixCpu, seconds: number): number {
  return seconds / (cpu + noncpu + crowded + gc + awaited);
}

type Seconds = ReadonlyMap<string, number>;

/** Returns the seconds by prefix in which tasks awaited promises. */
function awaitedByPrefix(trace: Trace, cpu: Seconds, noncpu: Seconds): Seconds {
  const failed = failedAwaits(trace);
  const seconds = new Map(failed);
  for (const [id, share] of awaitedShares(trace)) {
    const prefix = textOf(trace.strings, id);
    const ofFailed = failed.get(prefix) ?? 0;
    const ofOthers = share * ((cpu.get(prefix) ?? 0) + (noncpu.get(prefix) ?? 0) - ofFailed);
    seconds.set(prefix, ofFailed + ofOthers);
  }
  return seconds;
}

/**
 * Returns the seconds by prefix that first calls may have spent on loading modules, and in which the start of a profiler
 * blocked the thread.
 */
function firstSeconds(trace: Trace): Map<string, number> {
  const { prefix, duration, worker, started, stopped, coreWait } = trace.tasks;
  const isFirst = firstRuns(trace);
  const slowRows = slowFirstRows(trace);
  const loading = (row: number): number =>
    slowRows.has(row)
      ? duration[row]! - (coreWait[row]! || 0) - slowFirstCalls(trace).get(prefix[row]!)!.later
      : isFirst[row] === 1
        ? COLD_SECONDS
        : 0;
  const seconds = new Map<string, number>();
  for (const row of lanesOf(trace).spans.rows) {
    const starting = profilerSeconds(trace, worker[row]!, started[row]!, stopped[row]!);
    const blocked = Math.max(0, starting - (coreWait[row]! || 0)) + loading(row);
    if (blocked === 0) continue;
    addTo(seconds, textOf(trace.strings, prefix[row]), Math.min(blocked, duration[row]!));
  }
  return seconds;
}

/** Returns the seconds by prefix in which tasks waited for a core. */
function crowdedSeconds(trace: Trace, cpu: Seconds): Map<string, number> {
  const { prefix, duration } = trace.tasks;
  const { aloneSeconds, isMeasured } = coreUseOf(trace);
  const rowsOf = new Map<number, number[]>();
  for (const row of lanesOf(trace).spans.rows) pushTo(rowsOf, prefix[row]!, row);
  return new Map(
    Array.from(rowsOf, ([id, rows]) => {
      const name = textOf(trace.strings, id);
      const alone = Float64Array.from(rows, aloneSeconds);
      const isAsleep = isMeasured && (cpu.get(name) ?? Number.NaN) <= (1 - ASLEEP) * sum(alone);
      const usual = isAsleep ? median(alone) : 0;
      const lost = alone.map((seconds, at) => {
        const all = duration[rows[at]!]!;
        return Math.max(0, all - (seconds < SHORT * usual ? Math.min(usual, all) : seconds));
      });
      return [name, sum(lost)];
    }),
  );
}

const sum = (values: Float64Array): number => values.reduce((all, value) => all + value, 0);

/**
 * Returns, by prefix (an id of the trace's strings), the share of the time in which its tasks awaited promises, 0 to 1.
 * Prefixes without such waits are left out. In a live trace, the shares are those of the rows in its window. Cost: two
 * walks, once per trace.
 */
const awaitedShares = oncePer((trace: Trace): ReadonlyMap<number, number> => {
  const awaited = awaitedSeconds(trace);
  if (awaited.size === 0) return new Map();
  const sums = new Map<number, { awaited: number; all: number }>();
  const { prefix, duration, state } = trace.tasks;
  const isMeasured = hasCpuMetrics(trace);
  for (const row of lanesOf(trace).spans.rows) {
    // The metrics count all seconds of a failed run as such.
    if (isMeasured && state[row] === TASK_ERRED) continue;
    const sum = getOrMake(sums, prefix[row]!, () => ({ awaited: 0, all: 0 }));
    sum.all += duration[row]!;
    sum.awaited += Math.min(duration[row]!, awaited.get(row) ?? 0);
  }
  return new Map(
    [...sums].filter(([, sum]) => sum.awaited > 0).map(([name, sum]) => [name, sum.awaited / sum.all]),
  );
});
