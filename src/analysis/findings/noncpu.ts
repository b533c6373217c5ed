import type { Trace } from '../../trace/trace.js';
import { coreUseOf } from '../coreUse.js';
import { lanesOf } from '../lanes.js';
import { COLD_SECONDS, firstRuns } from '../stragglers.js';
import { actionOf, workIntervalsOf } from '../workIntervals.js';
import { metricSeconds } from './metricSeconds.js';

/** Of the tasks of a prefix: seconds on a core, and seconds in which the thread held on without one, blocked. */
export interface PrefixCpu {
  readonly prefix: string;
  readonly cpu: number;
  readonly noncpu: number;
  /** Seconds in which the thread was ready to run and all cores of the machine were busy; not in `noncpu`. See CoreUse. */
  readonly crowded: number;
  /** Seconds of garbage collection while they ran; not in the others, so that all together are what the tasks took. */
  readonly gc: number;
  /** Seconds in which asynchronous tasks waited for a promise; not in `noncpu`, as nothing blocked the thread. */
  readonly awaited: number;
  /** `noncpu` of it, `cpu` and garbage collection, 0 to 1. */
  readonly share: number;
}

/**
 * Prefixes with fine performance metrics that take at least a twentieth of the time, those that lose most first. What a
 * machine whose cores were all busy made threads wait is told apart: it is not what their tasks do. Neither is what first calls
 * may wait for: files of modules.
 */
export function cpuByPrefix(trace: Trace): PrefixCpu[] {
  const cpu = metricSeconds(trace, 'thread-cpu');
  const noncpuSeconds = metricSeconds(trace, 'thread-noncpu');
  const gc = metricSeconds(trace, 'gc');
  const crowded = crowdedSeconds(trace);
  const first = firstSeconds(trace);
  const awaiting = awaitedSeconds(trace, cpu.byPrefix, noncpuSeconds.byPrefix);
  const all = cpu.total + noncpuSeconds.total;
  return [...new Set([...cpu.byPrefix.keys(), ...noncpuSeconds.byPrefix.keys()])]
    .map((prefix) => {
      const without = noncpuSeconds.byPrefix.get(prefix) ?? 0;
      // A promise that is kept while the thread waits for a core is not what it waits for.
      const lost = Math.min(without, crowded.get(prefix) ?? 0);
      const awaited = Math.min(without - lost, awaiting.get(prefix) ?? 0);
      const onCore = cpu.byPrefix.get(prefix) ?? 0;
      const collected = gc.byPrefix.get(prefix) ?? 0;
      // The metrics take collections from the CPU time, but in them a thread mostly waits for those that help it collect.
      const helped = Math.min(without - awaited - lost, collected);
      const loading = Math.min(without - awaited - lost - helped, first.get(prefix) ?? 0);
      const noncpu = without - awaited - lost - helped - loading;
      const own = { cpu: onCore + helped, noncpu, crowded: lost, gc: collected, awaited };
      return { prefix, ...own, share: noncpu / (own.cpu + noncpu + own.gc) };
    })
    .filter((row) => row.cpu + row.noncpu + row.crowded + row.awaited >= all / 20)
    .sort((a, b) => b.noncpu - a.noncpu);
}

/** Of all the time in which tasks of the prefix held a thread: the share that so many seconds are, 0 to 1. */
export function shareOfTime({ cpu, noncpu, crowded, gc, awaited }: PrefixCpu, seconds: number): number {
  return seconds / (cpu + noncpu + crowded + gc + awaited);
}

type Seconds = ReadonlyMap<string, number>;

function awaitedSeconds(trace: Trace, cpu: Seconds, noncpu: Seconds): Seconds {
  const seconds = new Map<string, number>();
  for (const [id, share] of awaitedShares(trace)) {
    const prefix = id < 0 ? '' : trace.strings.get(id);
    seconds.set(prefix, share * ((cpu.get(prefix) ?? 0) + (noncpu.get(prefix) ?? 0)));
  }
  return seconds;
}

/** Seconds by prefix that first calls may have taken to load what they need. */
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

/** Seconds by prefix that tasks lost because the machine had no core for their thread. */
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

// What asynchronous tasks waited for: the share of their time in which their thread had nothing to do, by prefix.

const known = new WeakMap<Trace, ReadonlyMap<number, number>>();

/**
 * Prefix (an id of the trace's strings) → share of the time of its tasks, 0 to 1; prefixes that never waited are not there. A
 * live trace keeps its last tasks and intervals only, from which the share is taken. Cost: two walks, once per trace.
 */
function awaitedShares(trace: Trace): ReadonlyMap<number, number> {
  let shares = known.get(trace);
  if (shares === undefined) {
    shares = findShares(trace);
    known.set(trace, shares);
  }
  return shares;
}

function findShares(trace: Trace): Map<number, number> {
  const awaited = new Map<number, number>();
  const work = workIntervalsOf(trace);
  for (const row of work.spans.rows) {
    if (actionOf(work, row) !== 'await') continue;
    const seconds = work.stop[row]! - work.start[row]!;
    awaited.set(work.task[row]!, (awaited.get(work.task[row]!) ?? 0) + seconds);
  }
  const sums = new Map<number, { awaited: number; all: number }>();
  if (awaited.size === 0) return new Map();
  const { id, prefix, duration } = trace.tasks;
  for (const row of lanesOf(trace).spans.rows) {
    const sum = sums.get(prefix[row]!) ?? { awaited: 0, all: 0 };
    sums.set(prefix[row]!, sum);
    sum.all += duration[row]!;
    sum.awaited += Math.min(duration[row]!, awaited.get(id[row]!) ?? 0);
  }
  return new Map(
    [...sums].filter(([, sum]) => sum.awaited > 0).map(([name, sum]) => [name, sum.awaited / sum.all]),
  );
}
