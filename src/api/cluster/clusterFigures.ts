// Figures of a cluster for Prometheus, read at each scrape. Costs some microseconds per worker and prefix.
import type { EngineWorker } from '../../engine/cluster/engineWorker.js';
import type { SchedulerLoad } from '../../engine/metrics/schedulerLoad.js';
import { desiredWorkers } from '../../engine/scheduler/desiredWorkers.js';
import { FORGOTTEN, STATE_NAMES } from '../../engine/scheduler/taskStates.js';
import type { MemorySample, WorkerInfo } from '../../protocol/clusterObserver.js';
import { VITALS_DELAY, VITALS_GC, VITALS_INTERVAL, VITALS_TURNED } from '../../protocol/isolateMessages.js';
import { readVitals } from '../../resources/vitals.js';
import type {
  ClusterFigures,
  DurationFigures,
  OpenTransfers,
  PrefixFigures,
  WorkerFigures,
} from '../../server/prometheus/figures.js';
import { progressRows } from '../../server/sums.js';
import type { LiveTrace } from '../../trace/live/liveTrace.js';
import { DURATION_BOUNDS, durationHistogram, type LiveTotals, type PairTotals } from '../../trace/totals.js';
import type { ClusterCounters } from './clusterCounters.js';
import type { ObservedCluster } from './observedCluster.js';

/** Counters since the start of the dashboard. */
export interface Counted {
  readonly counters: ClusterCounters;
  readonly load: SchedulerLoad;
}

/** Reads the figures. Resets the longest delay of the event loop. */
export function clusterFigures(
  cluster: ObservedCluster,
  { totals }: LiveTrace,
  { counters, load }: Counted,
): ClusterFigures {
  const { engine, measures, clients } = cluster;
  const { state } = engine.scheduler;
  const { max, longest } = load.takeEventLoopDelay();
  const tasks = STATE_NAMES.map((name, index): [string, number] => [name, state.counts[index]!]);
  return {
    ...observedFigures(totals, counters, engine.workers.values(), (worker) => workerFigures(cluster, worker)),
    clients: clients.size,
    clientsAdded: clients.added,
    clientsRemoved: clients.removed,
    desiredWorkers: desiredWorkers(state),
    tasks: new Map(tasks.filter((_, index) => index !== FORGOTTEN)),
    tasksForgotten: state.counts[FORGOTTEN]! + state.swept,
    metrics: measures.cumulativeWorkerMetrics,
    stimuli: engine.stimuli,
    thread: { eventLoopDelay: max, longestTick: longest, ticks: load.ticks, gcSeconds: load.gcSeconds },
  };
}

/** Returns the figures that an observer of any cluster can measure. `figuresOf` returns the state of a worker. */
export function observedFigures<W extends { readonly info: WorkerInfo }>(
  totals: LiveTotals,
  counters: ClusterCounters,
  workers: Iterable<W>,
  figuresOf: (worker: W) => OwnFigures,
): Pick<
  ClusterFigures,
  'workersAdded' | 'workersRemoved' | 'workers' | 'prefixes' | 'transfers' | 'durations' | 'durationBounds'
> {
  const moved = bytesMoved(totals.pairs);
  return {
    workersAdded: counters.workersAddedTotal,
    workersRemoved: counters.workersRemovedTotal,
    workers: Array.from(workers, (worker) => ({
      ...figuresOf(worker),
      ...(moved.get(worker.info.index) ?? NOTHING_MOVED),
      spill: Array.from(
        counters.store(worker.info.index),
        ({ activity, unit, value }) => [activity, unit, value] as const,
      ),
    })),
    prefixes: prefixFigures(totals, counters),
    transfers: totals.pairs.map(({ from, to, nbytes, seconds }) => ({
      from: counters.nameOf(from),
      to: counters.nameOf(to),
      nbytes,
      seconds,
    })),
    durations: durationFigures(totals),
    durationBounds: DURATION_BOUNDS,
  };
}

function durationFigures({ prefixes }: LiveTotals): DurationFigures[] {
  return Array.from(prefixes.values(), ({ prefix, seconds, durations }) => {
    const buckets = durationHistogram(durations);
    return { prefix, count: buckets.reduce((sum, runs) => sum + runs, 0), sum: seconds, buckets };
  }).filter(({ count }) => count > 0);
}

function prefixFigures(totals: LiveTotals, { transferSeconds }: ClusterCounters): PrefixFigures[] {
  return progressRows(totals, new Map()).map(
    ({ prefix, finished, erred, cancelled, lost, seconds, nbytes }) => ({
      prefix,
      states: new Map([
        ['memory', finished],
        ['erred', erred],
        ['cancelled', cancelled],
      ]),
      computeSeconds: seconds,
      transferSeconds: transferSeconds.get(prefix) ?? 0,
      outputBytes: nbytes,
      suspicious: lost,
    }),
  );
}

type Moved = Pick<WorkerFigures, 'incomingBytes' | 'incomingCount' | 'outgoingBytes' | 'outgoingCount'>;
/** State of a worker, without the sums that observers measure. */
export type OwnFigures = Omit<WorkerFigures, keyof Moved | 'spill'>;
const NOTHING_MOVED: Moved = {
  incomingBytes: 0,
  incomingCount: 0,
  outgoingBytes: 0,
  outgoingCount: 0,
};

/** Returns the transferred bytes by index of the worker. */
function bytesMoved(pairs: readonly PairTotals[]): Map<number, Moved> {
  const moved = new Map<number, Moved>();
  for (const { from, to, nbytes, count } of pairs) {
    const into = moved.get(to) ?? NOTHING_MOVED;
    moved.set(to, {
      ...into,
      incomingBytes: into.incomingBytes + nbytes,
      incomingCount: into.incomingCount + count,
    });
    const out = moved.get(from) ?? NOTHING_MOVED;
    moved.set(from, {
      ...out,
      outgoingBytes: out.outgoingBytes + nbytes,
      outgoingCount: out.outgoingCount + count,
    });
  }
  return moved;
}

/** A transfer between threads of one process is a lookup in a map, so none is ever open. */
const NOTHING_OPEN: OpenTransfers = NOTHING_MOVED;

/**
 * Returns the state of a worker and its tasks.
 *
 * @param processing tasks that the worker has not finished; `running` of them run
 */
export function stateFigures(
  { name, threads }: WorkerInfo,
  isPaused: boolean,
  processing: number,
  running: number,
  memory: Pick<MemorySample, 'managed' | 'unmanaged' | 'spilled' | 'tasks'> | undefined,
): Omit<OwnFigures, 'open' | 'latency' | 'gcSeconds' | 'eventLoopDelay'> {
  const { managed = 0, unmanaged = 0, spilled = 0, tasks = 0 } = memory ?? {};
  const busy = processing === 0 ? 'idle' : processing <= threads ? 'partially_saturated' : 'saturated';
  return {
    name,
    state: isPaused ? 'paused' : busy,
    threads,
    managed,
    unmanaged,
    spilled,
    tasks: new Map([
      ['executing', running],
      ['ready', Math.max(0, processing - running)],
      ['memory', tasks],
    ]),
  };
}

function workerFigures(
  { engine }: ObservedCluster,
  { info, isPaused, memorySample, current, host }: EngineWorker,
): OwnFigures {
  const processing = engine.scheduler.state.workers.get(info.index)?.outstanding ?? 0;
  const running = current === undefined ? 0 : 1;
  return {
    ...stateFigures(info, isPaused, processing, running, memorySample),
    open: host.link ?? NOTHING_OPEN,
    latency: host.link?.latency ?? Number.NaN,
    ...isolateFigures(host.vitals, engine.clock()),
  };
}

function isolateFigures(
  from: Float64Array | string,
  now: number,
): Pick<WorkerFigures, 'gcSeconds' | 'eventLoopDelay'> {
  const vitals = typeof from === 'string' ? readVitals(from) : from;
  if (vitals === null) return { gcSeconds: Number.NaN, eventLoopDelay: Number.NaN };
  const turned = vitals[VITALS_TURNED]!;
  const late = turned === 0 ? Number.NaN : Math.max(0, now - turned - VITALS_INTERVAL);
  return { gcSeconds: vitals[VITALS_GC]!, eventLoopDelay: Math.max(late, vitals[VITALS_DELAY]!) };
}
