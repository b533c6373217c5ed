// Starts the dashboard of a cluster.
import { LongpoleError } from '../../base/errors.js';
import { once } from '../../base/lookUps.js';
import { SchedulerLoad } from '../../engine/metrics/schedulerLoad.js';
import { PROCESSING, STATE_NAMES } from '../../engine/scheduler/taskStates.js';
import { threadCpuClock } from '../../engine/worker/threadCpuClock.js';
import type { RunningRow } from '../../protocol/viewMessages.js';
import type { ClusterStatus, LiveSource } from '../../server/source.js';
import { progressOf } from '../../server/sums.js';
import type { LiveTrace } from '../../trace/live/liveTrace.js';
import type { DashboardOptions } from '../dashboardOptions.js';
import {
  clusterWorkerRow,
  idOf,
  prefixOfTask,
  programFacts,
  RunningTasks,
  type TaskOf,
} from '../statusRows.js';
import type { ClosingStep } from './closingSteps.js';
import { clusterFigures, type ObservedCluster } from './clusterFigures.js';

type OpenCluster = ObservedCluster & { onClose(step: ClosingStep): void };

/**
 * Starts a dashboard that ends with the cluster. Returns its link.
 *
 * @throws (rejects) the errors of `DashboardServer.start`
 */
export async function startDashboard(
  cluster: OpenCluster,
  trace: LiveTrace,
  options: DashboardOptions,
): Promise<string> {
  const load = new SchedulerLoad();
  cluster.onClose(() => load.close());
  const source = dashboardSource(cluster, trace, load);
  const { DashboardServer } = await import('../../server/dashboardServer.js');
  const server = await DashboardServer.start({ ...options, source });
  cluster.onClose(() => server.close('The cluster was closed.'));
  return server.link;
}

/**
 * Starts a dashboard at the configured port, or at a free port if that one is in use. Passes the link or the error to
 * `event`. Returns the link, if any.
 */
export async function startAtFreePort(
  configured: number,
  start: (port: number) => Promise<string>,
  event: (topic: 'dashboard' | 'dashboard-failed', text: string) => void,
): Promise<string | undefined> {
  for (const port of [configured, 0]) {
    try {
      const link = await start(port);
      event('dashboard', link);
      return link;
    } catch (error) {
      if (!(error instanceof LongpoleError)) throw error;
      if (port === 0 || error.code !== 'ERR_LONGPOLE_DASHBOARD') {
        event('dashboard-failed', error.message);
        return undefined;
      }
    }
  }
  return undefined;
}

/** Makes a source, which must exist before the first computation. */
function dashboardSource(cluster: ObservedCluster, trace: LiveTrace, load: SchedulerLoad): LiveSource {
  const { engine } = cluster;
  const running = new RunningTasks(engine.clock);
  return {
    kind: 'live',
    title: `LocalCluster on ${engine.host}, process ${process.pid}`,
    facts: programFacts(engine.options.threads ? 'threads' : 'processes'),
    trace,
    clock: engine.clock,
    // Most dashboards are never opened.
    cpuClock: once(threadCpuClock),
    status: () => clusterStatus(cluster, running, trace),
    processing: () => new Set(Array.from(processingTasks(cluster), idOf)),
    isComputing: () => engine.scheduler.state.counts[PROCESSING]! > 0,
    figures: () => clusterFigures(cluster, trace.totals, load),
  };
}

function clusterStatus(
  cluster: ObservedCluster,
  running: RunningTasks,
  { totals }: LiveTrace,
): ClusterStatus {
  const { engine } = cluster;
  const { counts } = engine.scheduler.state;
  return {
    time: engine.clock(),
    states: Object.fromEntries(STATE_NAMES.map((name, index) => [name, counts[index]!])),
    workers: Array.from(engine.workers.values(), (worker) =>
      clusterWorkerRow(engine.scheduler.state, worker),
    ),
    running: [...runningRows(cluster, running)],
    ...progressOf(totals, Array.from(processingTasks(cluster), prefixOfTask)),
  };
}

function* runningRows({ engine }: ObservedCluster, running: RunningTasks): Generator<RunningRow> {
  for (const { host, info } of engine.workers.values()) {
    const found = host.running && engine.computation(host.running.run);
    if (host.running === undefined || found === undefined) continue;
    const { id, since } = host.running;
    yield running.row(info.index, { info: found.info, local: id }, since);
  }
}

/** Yields the unfinished tasks that workers have. Costs about 50 ns per task, and a worker has few. */
function* processingTasks({ engine }: ObservedCluster): Generator<TaskOf> {
  const { state } = engine.scheduler;
  for (const { batches } of state.workers.values()) {
    for (const { ids } of batches) {
      for (const id of ids) {
        if (state.state[id] !== PROCESSING) continue;
        const found = engine.locate(id);
        if (found !== undefined) yield { info: found.computation.info, local: found.local };
      }
    }
  }
}
