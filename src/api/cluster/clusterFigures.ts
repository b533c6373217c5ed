// Figures of a cluster for Prometheus, read at each scrape. Costs some microseconds per worker and prefix.
import { getOrMake } from '../../base/lookUps.js';
import type { ClusterEngine } from '../../engine/cluster/clusterEngine.js';
import type { EngineWorker } from '../../engine/cluster/engineWorker.js';
import type { SchedulerLoad } from '../../engine/metrics/schedulerLoad.js';
import { desiredWorkers } from '../../engine/scheduler/desiredWorkers.js';
import { FORGOTTEN, STATE_NAMES } from '../../engine/scheduler/taskStates.js';
import type { WorkerInfo } from '../../protocol/clusterObserver.js';
import { VITALS, VITALS_INTERVAL } from '../../protocol/isolateMessages.js';
import { readVitals } from '../../resources/vitals.js';
import {
  type ClusterFigures,
  type OpenTransfers,
  sameTransfers,
  type WorkerFigures,
} from '../../server/prometheus/figures.js';
import type { LiveTotals, PairTotals } from '../../trace/totals.js';
import { clusterWorkerRow } from '../statusRows.js';

/** The part of a cluster that dashboards use. */
export interface ObservedCluster {
  readonly engine: ClusterEngine;
  readonly clients: { readonly added: number; readonly removed: number };
}

/** Reads the figures. Resets the longest delay of the event loop. */
export function clusterFigures(
  { engine, clients }: ObservedCluster,
  totals: LiveTotals,
  load: SchedulerLoad,
): ClusterFigures {
  const { state } = engine.scheduler;
  const { max, longest } = load.takeEventLoopDelay();
  const tasks = STATE_NAMES.map((name, index): [string, number] => [name, state.counts[index]!]);
  return {
    totals,
    workers: workerSums(totals, engine.workers.values(), (worker) => workerFigures(engine, worker)),
    clients: clients.added - clients.removed,
    clientsAdded: clients.added,
    clientsRemoved: clients.removed,
    desiredWorkers: desiredWorkers(state),
    tasks: new Map(tasks.filter((_, index) => index !== FORGOTTEN)),
    tasksForgotten: state.counts[FORGOTTEN]! + state.swept,
    stimuli: engine.stimuli,
    thread: { eventLoopDelay: max, longestTick: longest, ticks: load.ticks, gcSeconds: load.gcSeconds },
  };
}

/** Adds the sums that a live trace has to the state of each worker, which `figuresOf` returns. */
export function workerSums<W extends { readonly info: WorkerInfo }>(
  totals: LiveTotals,
  workers: Iterable<W>,
  figuresOf: (worker: W) => OwnFigures,
): WorkerFigures[] {
  const moved = bytesMoved(totals.pairs);
  return Array.from(workers, (worker) => ({
    ...figuresOf(worker),
    ...(moved.get(worker.info.index) ?? NOTHING_MOVED),
    spill: totals.workers.store(worker.info.index),
  }));
}

/** State of a worker, without the sums of a live trace. */
export type OwnFigures = Omit<WorkerFigures, keyof OpenTransfers | 'spill'>;
const NOTHING_MOVED = sameTransfers(0);

/** Returns the transferred bytes by index of the worker. */
function bytesMoved(pairs: readonly PairTotals[]): Map<number, OpenTransfers> {
  const moved = new Map<number, { -readonly [K in keyof OpenTransfers]: number }>();
  for (const { from, to, nbytes, count } of pairs) {
    const into = getOrMake(moved, to, () => ({ ...NOTHING_MOVED }));
    into.incomingBytes += nbytes;
    into.incomingCount += count;
    const out = getOrMake(moved, from, () => ({ ...NOTHING_MOVED }));
    out.outgoingBytes += nbytes;
    out.outgoingCount += count;
  }
  return moved;
}

function workerFigures({ scheduler, clock }: ClusterEngine, worker: EngineWorker): OwnFigures {
  const { memorySample, host } = worker;
  return {
    ...clusterWorkerRow(scheduler.state, worker),
    running: host.running === undefined ? 0 : 1,
    results: memorySample?.tasks ?? 0,
    // A transfer between threads of one process is a lookup in a map, so none is ever open.
    open: host.link ?? NOTHING_MOVED,
    latency: host.link?.latency ?? Number.NaN,
    ...isolateFigures(host.vitals, clock()),
  };
}

function isolateFigures(
  from: Float64Array | string,
  now: number,
): Pick<WorkerFigures, 'gcSeconds' | 'eventLoopDelay'> {
  const vitals = typeof from === 'string' ? readVitals(from) : from;
  if (vitals === null) return { gcSeconds: Number.NaN, eventLoopDelay: Number.NaN };
  const turned = vitals[VITALS.turned]!;
  const late = turned === 0 ? Number.NaN : Math.max(0, now - turned - VITALS_INTERVAL);
  return { gcSeconds: vitals[VITALS.gc]!, eventLoopDelay: Math.max(late, vitals[VITALS.delay]!) };
}
