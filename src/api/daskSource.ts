// A Dask cluster as the source of a dashboard: the present state of its workers, and its live trace.
import type { ClusterMirror } from '../dask/clusterMirror.js';
import type { MirrorWorker } from '../dask/mirrorWorkers.js';
import type { RunningRow, WorkerRow } from '../protocol/viewRows.js';
import { type ClusterFigures, sameFigures, sameTransfers } from '../server/prometheus/figures.js';
import type { ClusterStatus, LiveSource } from '../server/source.js';
import { progressOf } from '../server/sums.js';
import type { LiveTrace } from '../trace/live/liveTrace.js';
import { type OwnFigures, workerSums } from './cluster/clusterFigures.js';
import { workerRow } from './statusRows.js';

export function daskSource(address: string, mirror: ClusterMirror, trace: LiveTrace): LiveSource {
  return {
    kind: 'live',
    title: `Dask cluster ${address}`,
    facts: mirror.facts,
    trace,
    clock: () => mirror.clock(),
    // This process runs no tasks, so the wall time of the server's work suffices.
    cpuClock: () => undefined,
    status: () => clusterStatus(mirror, trace),
    processing: () => mirror.tasks.processingIds,
    isComputing: () => mirror.tasks.isProcessing,
    figures: () => daskFigures(mirror, trace),
  };
}

function clusterStatus(mirror: ClusterMirror, { totals }: LiveTrace): ClusterStatus {
  return {
    time: mirror.clock(),
    states: Object.fromEntries(mirror.status?.states ?? []),
    workers: Array.from(mirror.workers.all, statusOf),
    running: Array.from(mirror.workers.all, (worker) => runningRows(mirror, worker)).flat(),
    ...progressOf(totals, mirror.tasks.processingPrefixes),
  };
}

function statusOf({ info, status, memory }: MirrorWorker): WorkerRow {
  return workerRow(info, {
    ...memory,
    status: status?.status === 'paused' ? 'paused' : 'running',
    processing: status?.processing,
    occupancy: status?.occupancy,
  });
}

/** Returns the running tasks from the last report of a worker, without those that have ended since. */
function runningRows({ tasks }: ClusterMirror, { info, running }: MirrorWorker): RunningRow[] {
  return running
    .filter(({ id, key }) => tasks.processing(key) === id)
    .map(({ id, key, started }) => ({
      id,
      key,
      prefix: tasks.kindOf(id)?.prefix ?? '',
      worker: info.index,
      started,
    }));
}

/** A figure that an observation does not measure. */
const UNKNOWN = Number.NaN;

/** Returns the figures for Prometheus that an observation measures. Sums begin with the observation. */
function daskFigures(mirror: ClusterMirror, { totals }: LiveTrace): ClusterFigures {
  return {
    ...sameFigures(UNKNOWN),
    totals,
    workers: workerSums(totals, mirror.workers.all, workerFigures),
    tasks: mirror.status?.states ?? new Map(),
    metrics: totals.metrics.map(({ context, prefix, activity, unit, value }) => [
      context === 'execute' ? [context, prefix, activity, unit] : [context, activity, unit],
      value,
    ]),
  };
}

function workerFigures(worker: MirrorWorker): OwnFigures {
  return {
    ...statusOf(worker),
    running: worker.running.length,
    results: worker.memory?.tasks ?? 0,
    open: sameTransfers(UNKNOWN),
    latency: UNKNOWN,
    gcSeconds: UNKNOWN,
    eventLoopDelay: worker.eventLoopDelay,
  };
}
