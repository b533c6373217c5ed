// Figures of a Dask cluster for Prometheus, as far as an observation measures them. Sums begin with the observation.
import type { ClusterMirror } from '../dask/clusterMirror.js';
import type { MirrorWorker } from '../dask/mirrorWorkers.js';
import type { ClusterFigures } from '../server/prometheus/figures.js';
import type { LiveTrace } from '../trace/live/liveTrace.js';
import type { ClusterCounters } from './cluster/clusterCounters.js';
import { type OwnFigures, observedFigures } from './cluster/clusterFigures.js';

/** A figure that an observation does not measure. */
const UNKNOWN = Number.NaN;
const UNKNOWN_OPEN = {
  incomingBytes: UNKNOWN,
  incomingCount: UNKNOWN,
  outgoingBytes: UNKNOWN,
  outgoingCount: UNKNOWN,
};

export function daskFigures(
  mirror: ClusterMirror,
  { totals }: LiveTrace,
  counters: ClusterCounters,
): ClusterFigures {
  return {
    ...observedFigures(totals, counters, mirror.workers.all, workerFigures),
    clients: UNKNOWN,
    clientsAdded: UNKNOWN,
    clientsRemoved: UNKNOWN,
    desiredWorkers: UNKNOWN,
    tasks: mirror.status?.states ?? new Map(),
    tasksForgotten: UNKNOWN,
    metrics: totals.metrics.map(({ context, prefix, activity, unit, value }) => [
      context === 'execute' ? [context, prefix, activity, unit] : [context, activity, unit],
      value,
    ]),
    stimuli: new Map(),
    thread: { eventLoopDelay: UNKNOWN, longestTick: UNKNOWN, ticks: UNKNOWN, gcSeconds: UNKNOWN },
  };
}

function workerFigures({ info, status, memory, running, eventLoopDelay }: MirrorWorker): OwnFigures {
  const processing = status?.processing ?? 0;
  const { managed = 0, unmanaged = 0, spilled = 0, tasks = 0 } = memory ?? {};
  const busy = processing === 0 ? 'idle' : processing <= info.threads ? 'partially_saturated' : 'saturated';
  return {
    name: info.name,
    state: status?.status === 'paused' ? 'paused' : busy,
    threads: info.threads,
    managed,
    unmanaged,
    spilled,
    tasks: new Map([
      ['executing', running.length],
      ['ready', Math.max(0, processing - running.length)],
      ['memory', tasks],
    ]),
    open: UNKNOWN_OPEN,
    latency: UNKNOWN,
    gcSeconds: UNKNOWN,
    eventLoopDelay,
  };
}
