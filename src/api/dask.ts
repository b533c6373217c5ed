// Observes a Dask cluster that runs Python tasks, with the same trace, dashboard and report as for a cluster of
// Longpole.
import { CALLABLE, checkOptions, type OptionKinds, TEXT } from '../base/arguments.js';
import { LongpoleError } from '../base/errors.js';
import { type BridgeEnd, DaskBridge } from '../dask/bridgeProcess.js';
import { ClusterMirror } from '../dask/clusterMirror.js';
import type { MirrorWorker } from '../dask/mirrorWorkers.js';
import { ACCESS, type DaskAccess, schedulerAddress } from '../dask/schedulerAddress.js';
import { writeReport } from '../diagnostics/performanceReport.js';
import type { ClusterObserver } from '../protocol/clusterObserver.js';
import type { RunningRow, WorkerRow } from '../protocol/viewMessages.js';
import type { DashboardServer } from '../server/dashboardServer.js';
import { type ClusterFigures, sameFigures, sameTransfers } from '../server/prometheus/figures.js';
import type { ClusterStatus, LiveSource } from '../server/source.js';
import { progressOf } from '../server/sums.js';
import { LiveTrace } from '../trace/live/liveTrace.js';
import type { Trace } from '../trace/trace.js';
import { type OwnFigures, workerSums } from './cluster/clusterFigures.js';
import { DASHBOARD_OPTIONS, type DashboardOptions } from './dashboardOptions.js';
import { packageVersion } from './packageVersion.js';
import { workerRow } from './statusRows.js';

export interface ObserveDaskOptions extends DaskAccess {
  /** Returns observers in addition to the live trace, e.g. a TraceWriter. Called when the cluster has answered. */
  readonly observers?: () => readonly ClusterObserver[];
}

const OPTIONS: OptionKinds<ObserveDaskOptions> = { ...ACCESS, observers: CALLABLE };

/** Rows of tasks, and of intervals, in the live trace: about 200 MB when full. Totals also count evicted rows. */
const MAX_TASKS = 2_000_000;

/** Observation of a Dask cluster, from `observeDask` until `close()` or until the cluster has ended. */
export class DaskObservation {
  /** Address of the scheduler. */
  readonly address: string;
  readonly #bridge: Pick<DaskBridge, 'ended' | 'close'>;
  readonly #mirror: ClusterMirror;
  readonly #live: LiveTrace;
  readonly #servers: DashboardServer[] = [];
  #hasEnded = false;
  #isClosed = false;
  /** Why the observation ended by itself; undefined before. */
  #reason: string | undefined;

  /** @internal */
  constructor(
    address: string,
    bridge: Pick<DaskBridge, 'ended' | 'close'>,
    mirror: ClusterMirror,
    live: LiveTrace,
  ) {
    this.address = address;
    this.#bridge = bridge;
    this.#mirror = mirror;
    this.#live = live;
    void bridge.ended.then(({ reason }) => {
      this.#endTrace();
      if (reason === 'asked') return;
      this.#reason = reason;
      for (const server of this.#servers) server.over(reason);
    });
  }

  /** Facts about the scheduler, e.g. `distributed` → `2026.8.0`. */
  get facts(): Readonly<Record<string, string>> {
    return { ...this.#mirror.facts };
  }

  /** Number of workers that the cluster has now. */
  get workers(): number {
    return [...this.#mirror.workers.all].length;
  }

  /** Trace of the observation until now. */
  get trace(): Trace {
    return this.#live.snapshot();
  }

  /** Promise of the reason of the end, see `close`. Rejects like `close`. */
  get closed(): Promise<string> {
    return this.#bridge.ended.then(reasonOf);
  }

  /**
   * Serves the dashboard of the cluster until `close()`, also after the cluster has ended.
   *
   * @returns (resolves) the link to open in a browser
   * @throws (rejects) LongpoleError ERR_LONGPOLE_DASHBOARD if the server cannot listen at the host and the port,
   *   ERR_LONGPOLE_INVALID_ARGUMENT, ERR_LONGPOLE_PAGE_FILE if the files of the pages are missing, ERR_LONGPOLE_CLOSED
   *   after `close()`
   */
  async dashboard(options: DashboardOptions = {}): Promise<string> {
    checkOptions('DaskObservation.dashboard', options, DASHBOARD_OPTIONS);
    const { DashboardServer: Server } = await import('../server/dashboardServer.js');
    this.#checkOpen();
    const source = daskSource(this.address, this.#mirror, this.#live);
    const server = await Server.start({ ...options, source });
    // `close()` does not know a server that is about to start.
    if (this.#isClosed) await server.close('The observation has ended.');
    this.#checkOpen();
    server.keepAlive();
    this.#servers.push(server);
    if (this.#reason !== undefined) server.over(this.#reason);
    return server.link;
  }

  /**
   * Writes the trace until now as one HTML file with the pages of the dashboard. The file needs no server. `openTrace`
   * reads it.
   *
   * @param options `title`: heading of the page; default: the address of the cluster
   * @returns the absolute path of the file
   * @throws LongpoleError ERR_LONGPOLE_PAGE_FILE if the file cannot be written
   */
  report(filename = 'longpole-dask-report.html', options: { readonly title?: string } = {}): string {
    checkOptions('DaskObservation.report', options, { title: TEXT });
    const { title = `Dask cluster ${this.address}` } = options;
    const facts = { Longpole: packageVersion(), ...this.facts };
    return writeReport(this.trace, filename, { title, facts });
  }

  /**
   * Ends the observation and removes Longpole's plugins from the cluster. Further calls have no effect.
   *
   * @returns (resolves) the reason of the end: `asked` if the caller closed it, else a sentence about the cluster
   * @throws (rejects) LongpoleError ERR_LONGPOLE_DASK_BRIDGE if the bridge has failed; the trace ends at the failure
   */
  async close(): Promise<string> {
    this.#isClosed = true;
    const end = await this.#bridge.close();
    this.#endTrace();
    await Promise.all(this.#servers.splice(0).map((server) => server.close('The observation has ended.')));
    return reasonOf(end);
  }

  #checkOpen(): void {
    if (!this.#isClosed) return;
    throw new LongpoleError(
      'ERR_LONGPOLE_CLOSED',
      'The observation is closed. Call dashboard() before close(), or write a page with report().',
    );
  }

  /** Reports the tasks that have not ended, once. */
  #endTrace(): void {
    if (!this.#hasEnded) this.#mirror.reportUnfinished();
    this.#hasEnded = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/**
 * @internal Checks options for `DaskObservation.dashboard` before there is an observation, also that the port is free.
 *
 * @throws (rejects) the errors of `DaskObservation.dashboard`
 */
export async function checkDashboard(options: DashboardOptions): Promise<void> {
  checkOptions('DaskObservation.dashboard', options, DASHBOARD_OPTIONS);
  const { DashboardServer: Server } = await import('../server/dashboardServer.js');
  await Server.check(options);
}

function reasonOf({ reason, error }: BridgeEnd): string {
  if (error !== undefined) throw error;
  return reason;
}

/**
 * Observes a Dask cluster from now on: tasks with their lifecycle, transfers, memory, resources, fine performance
 * metrics and profiles. A Python process connects to the cluster as a client; nothing has to be installed on the
 * cluster. Times are seconds of the scheduler's clock. Tasks that ended before the observation are not recorded.
 *
 *     await using dask = await observeDask('tcp://127.0.0.1:8786');
 *     console.log(criticalPath(dask.trace).toString());
 *
 * @param address address of the scheduler, e.g. `tcp://127.0.0.1:8786`, `127.0.0.1:8786` or `tls://127.0.0.1:8786`
 * @returns (resolves) the observation; close it to remove Longpole's plugins from the cluster
 * @throws (rejects) LongpoleError ERR_LONGPOLE_PYTHON if no Python has distributed, ERR_LONGPOLE_DASK_CONNECT if the
 *   scheduler does not answer, ERR_LONGPOLE_DASK_VERSION if it runs another version, ERR_LONGPOLE_DASK_BRIDGE
 *   if the Python process fails, ERR_LONGPOLE_INVALID_ARGUMENT
 */
export async function observeDask(
  address: string,
  options: ObserveDaskOptions = {},
): Promise<DaskObservation> {
  checkOptions('observeDask()', options, OPTIONS);
  const { python, security, timeout = 10, observers = () => [] } = options;
  const place = schedulerAddress(address, security);
  const live = new LiveTrace({ window: { tasks: MAX_TASKS, intervals: MAX_TASKS } });
  const allObservers: ClusterObserver[] = [live];
  const mirror = new ClusterMirror(allObservers);
  const bridge = await DaskBridge.start({
    address: place,
    security,
    python,
    timeout,
    onRow: (row) => {
      // Before this row, an observer could create a file that a failed connection would leave empty.
      if (row.type === 'hello') allObservers.push(...observers());
      mirror.take(row);
    },
  });
  return new DaskObservation(place, bridge, mirror, live);
}

/** Returns the cluster as the source of a dashboard: the present state of its workers, and its live trace. */
function daskSource(address: string, mirror: ClusterMirror, trace: LiveTrace): LiveSource {
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
