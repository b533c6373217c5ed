import { oncePer } from '../../base/lookUps.js';
import type { Trace } from '../../trace/trace.js';
import { coreUseOf } from '../coreUse.js';
import { lanesOf } from '../lanes.js';
import { COLD_SECONDS, firstRuns } from '../stragglers.js';
import { actionOf, workIntervalsOf } from '../workIntervals.js';
import { metricSeconds } from './metricSeconds.js';

/**
 * The time of a prefix's tasks in seconds, divided into five parts without overlap. Waits of seceded tasks are left out,
 * because their threads ran other tasks.
 */
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

/**
 * Returns the prefixes with fine performance metrics that take at least a twentieth of the time, those with most
 * blocked time first. Waits for a busy core are `crowded`, not `noncpu`. Blocked time of first calls is left out,
 * because it may be the loading of modules.
 */
export function cpuByPrefix(trace: Trace): PrefixCpu[] {
  const cpu = metricSeconds(trace, 'thread-cpu');
  const noncpuSeconds = metricSeconds(trace, 'thread-noncpu');
  const gc = metricSeconds(trace, 'gc');
  const crowded = crowdedSeconds(trace);
  const first = firstSeconds(trace);
  const sharesOf = awaitedShares(trace);
  const seconds = (shares: ReadonlyMap<number, number>): Seconds =>
    secondsOf(trace, shares, cpu.byPrefix, noncpuSeconds.byPrefix);
  const awaiting = seconds(sharesOf.inSlot);
  const seceded = seconds(sharesOf.seceded);
  const all = cpu.total + noncpuSeconds.total;
  return [...new Set([...cpu.byPrefix.keys(), ...noncpuSeconds.byPrefix.keys()])]
    .map((prefix) => {
      const without = Math.max(0, (noncpuSeconds.byPrefix.get(prefix) ?? 0) - (seceded.get(prefix) ?? 0));
      // Time without a core counts first as `crowded`, and only the remainder as `awaited`.
      const lost = Math.min(without, crowded.get(prefix) ?? 0);
      const awaited = Math.min(without - lost, awaiting.get(prefix) ?? 0);
      const onCore = cpu.byPrefix.get(prefix) ?? 0;
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
}

/** Returns the ratio of some seconds to all the time in which tasks of the prefix occupied a thread, 0 to 1. */
export function shareOfTime({ cpu, noncpu, crowded, gc, awaited }: PrefixCpu, seconds: number): number {
  return seconds / (cpu + noncpu + crowded + gc + awaited);
}

type Seconds = ReadonlyMap<string, number>;

function secondsOf(
  trace: Trace,
  shares: ReadonlyMap<number, number>,
  cpu: Seconds,
  noncpu: Seconds,
): Seconds {
  const seconds = new Map<string, number>();
  for (const [id, share] of shares) {
    const prefix = id < 0 ? '' : trace.strings.get(id);
    seconds.set(prefix, share * ((cpu.get(prefix) ?? 0) + (noncpu.get(prefix) ?? 0)));
  }
  return seconds;
}

/** Returns the seconds by prefix that first calls may have spent on loading modules. */
function firstSeconds(trace: Trace): Map<string, number> {
  const { prefix, duration } = trace.tasks;
  const seconds = new Map<string, number>();
  for (const [row, isFirst] of firstRuns(trace).entries()) {
    if (isFirst === 0) continue;
    const name = prefix[row]! < 0 ? '' : trace.strings.get(prefix[row]!);
    seconds.set(name, (seconds.get(name) ?? 0) + Math.min(COLD_SECONDS, duration[row]!));
  }
  return seconds;
}

/** Returns the seconds by prefix in which tasks waited for a core. */
function crowdedSeconds(trace: Trace): Map<string, number> {
  const { prefix, duration } = trace.tasks;
  const { aloneSeconds } = coreUseOf(trace);
  const seconds = new Map<number, number>();
  for (const row of lanesOf(trace).spans.rows) {
    const lost = duration[row]! - aloneSeconds(row);
    if (lost > 0) seconds.set(prefix[row]!, (seconds.get(prefix[row]!) ?? 0) + lost);
  }
  return new Map(Array.from(seconds, ([id, lost]) => [id < 0 ? '' : trace.strings.get(id), lost]));
}

/**
 * By prefix (an id of the trace's strings), the shares of the time in which its tasks awaited promises, 0 to 1. Prefixes
 * without such waits are left out.
 */
interface AwaitedShares {
  readonly inSlot: ReadonlyMap<number, number>;
  /** Waits of tasks during which another task started on their thread. */
  readonly seceded: ReadonlyMap<number, number>;
}

/** In a live trace, the shares are those of the rows in its window. Cost: two walks, once per trace. */
const awaitedShares = oncePer((trace: Trace): AwaitedShares => {
  const awaited = new Map<number, number>();
  const work = workIntervalsOf(trace);
  for (const row of work.spans.rows) {
    if (actionOf(work, row) !== 'await') continue;
    const seconds = work.stop[row]! - work.start[row]!;
    awaited.set(work.task[row]!, (awaited.get(work.task[row]!) ?? 0) + seconds);
  }
  const sums = new Map<number, { inSlot: number; seceded: number; all: number }>();
  if (awaited.size === 0) return { inSlot: new Map(), seceded: new Map() };
  const { id, prefix, duration, started, stopped } = trace.tasks;
  const { rows } = lanesOf(trace).spans;
  const { laneOf } = lanesOf(trace);
  for (const [at, row] of rows.entries()) {
    const sum = sums.get(prefix[row]!) ?? { inSlot: 0, seceded: 0, all: 0 };
    sums.set(prefix[row]!, sum);
    sum.all += duration[row]!;
    const next = rows[at + 1];
    const isShared = next !== undefined && laneOf[next] === laneOf[row] && started[next]! < stopped[row]!;
    sum[isShared ? 'seceded' : 'inSlot'] += Math.min(duration[row]!, awaited.get(id[row]!) ?? 0);
  }
  const shares = (part: 'inSlot' | 'seceded'): Map<number, number> =>
    new Map([...sums].filter(([, sum]) => sum[part] > 0).map(([name, sum]) => [name, sum[part] / sum.all]));
  return { inSlot: shares('inSlot'), seceded: shares('seceded') };
});
