// Observing a Dask cluster that runs ordinary Python: the same trace, dashboard and report as of a cluster of Longpole's own.
import { ANY, CALLABLE, checkOptions, kind, type OptionKinds, TEXT } from '../base/arguments.js';
import { type BridgeEnd, DaskBridge } from '../dask/bridgeProcess.js';
import { ClusterMirror } from '../dask/clusterMirror.js';
import { type DaskSecurity, schedulerAddress } from '../dask/schedulerAddress.js';
import { writeReport } from '../diagnostics/performanceReport.js';
import type { ClusterObserver } from '../protocol/clusterObserver.js';
import type { DashboardServer } from '../server/dashboardServer.js';
import { LiveTrace } from '../trace/live/liveTrace.js';
import type { Trace } from '../trace/trace.js';
import { ClusterCounters } from './cluster/clusterCounters.js';
import { DASHBOARD_OPTIONS, type DashboardOptions } from './cluster/clusterOptions.js';
import { daskSource } from './daskSource.js';
import { packageVersion } from './packageVersion.js';

export interface ObserveDaskOptions {
  /** A Python that has `distributed`. Default: LONGPOLE_PYTHON, `.venv/bin/python`, `python3`, `python`, the first that has it. */
  readonly python?: string | undefined;
  /** Certificates for `tls://`. Default: those of Dask's own configuration. */
  readonly security?: DaskSecurity | undefined;
  /** Seconds for the scheduler to answer, more than 0. Default 10. */
  readonly timeout?: number;
  /** Who is told of everything beside the live trace, e.g. a TraceWriter; made once the cluster has answered. */
  readonly observers?: () => readonly ClusterObserver[];
}

const OPTIONS: OptionKinds<ObserveDaskOptions> = {
  python: TEXT,
  security: ANY,
  timeout: kind(
    'seconds, more than 0 and at most 3600',
    (value) => typeof value === 'number' && value > 0 && value <= 3600,
  ),
  observers: CALLABLE,
};

/** Rows of tasks and intervals that the live trace holds: some 200 MB when full. Totals are exact beyond it. */
const MAX_TASKS = 2_000_000;

/** A Dask cluster that is watched, from `observeDask` until `close()` or until the cluster has gone. */
export class DaskObservation {
  /** Of the scheduler. */
  readonly address: string;
  readonly #bridge: DaskBridge;
  readonly #mirror: ClusterMirror;
  readonly #live: LiveTrace;
  readonly #counters: ClusterCounters;
  readonly #servers: DashboardServer[] = [];

  /** @internal */
  constructor(
    address: string,
    bridge: DaskBridge,
    mirror: ClusterMirror,
    live: LiveTrace,
    counters: ClusterCounters,
  ) {
    this.address = address;
    this.#bridge = bridge;
    this.#mirror = mirror;
    this.#live = live;
    this.#counters = counters;
  }

  /** What the scheduler says of itself, e.g. `distributed` → `2026.8.0`. */
  get facts(): Readonly<Record<string, string>> {
    return { ...this.#mirror.facts };
  }

  /** How many workers the cluster has now. */
  get workers(): number {
    return [...this.#mirror.workers.all].length;
  }

  /** What has happened up to now. */
  get trace(): Trace {
    return this.#live.snapshot();
  }

  /** Resolves when nothing more will be told, with why. Rejects as `close`. */
  get closed(): Promise<string> {
    return this.#bridge.ended.then(reasonOf);
  }

  /**
   * Serves the dashboard of the cluster, until `close()`. It stays when the cluster goes.
   *
   * @returns (resolves) the link
   * @throws (rejects) LongpoleError ERR_LONGPOLE_DASHBOARD, ERR_LONGPOLE_INVALID_ARGUMENT, ERR_LONGPOLE_PAGE_FILE
   */
  async dashboard(options: DashboardOptions = {}): Promise<string> {
    checkOptions('DaskObservation.dashboard', options, DASHBOARD_OPTIONS);
    const { DashboardServer: Server } = await import('../server/dashboardServer.js');
    const source = daskSource(this.address, this.#mirror, this.#live, this.#counters);
    const server = await Server.start({ ...options, source });
    server.keepAlive();
    this.#servers.push(server);
    return server.link;
  }

  /**
   * Writes what has happened up to now as one HTML file that needs no server, and that `openTrace` reads.
   *
   * @returns its absolute path
   * @throws LongpoleError ERR_LONGPOLE_PAGE_FILE if it cannot be written
   */
  report(filename = 'longpole-dask-report.html', options: { readonly title?: string } = {}): string {
    checkOptions('DaskObservation.report', options, { title: TEXT });
    const { title = `Dask cluster ${this.address}` } = options;
    const facts = { Longpole: packageVersion(), ...this.facts };
    return writeReport(this.trace, filename, { title, facts });
  }

  /**
   * Takes all that was installed off the cluster again; further calls do nothing.
   *
   * @returns (resolves) why the observation ended: `asked`, or what happened to the cluster
   * @throws (rejects) LongpoleError ERR_LONGPOLE_DASK_BRIDGE if the bridge had failed; the trace is what came before
   */
  async close(): Promise<string> {
    const end = await this.#bridge.close();
    await Promise.all(this.#servers.splice(0).map((server) => server.close('The observation has ended.')));
    return reasonOf(end);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function reasonOf({ reason, error }: BridgeEnd): string {
  if (error !== undefined) throw error;
  return reason;
}

/**
 * Watches a Dask cluster from now on: its tasks with their lifecycle, transfers, memory, resources, fine performance metrics
 * and profiles, on the scheduler's clock. Nothing has to be installed on the cluster; a process of Python attaches to it as a
 * client does. What ran before is not known.
 *
 *     await using dask = await observeDask('tcp://127.0.0.1:8786');
 *     console.log(criticalPath(dask.trace).toString());
 *
 * @param address of the scheduler, e.g. `tcp://127.0.0.1:8786`, `127.0.0.1:8786` or `tls://127.0.0.1:8786`
 * @throws (rejects) LongpoleError ERR_LONGPOLE_PYTHON without a Python that has distributed, ERR_LONGPOLE_DASK_CONNECT if the
 *   scheduler does not answer, ERR_LONGPOLE_DASK_VERSION if it runs another Python, ERR_LONGPOLE_DASK_BRIDGE,
 *   ERR_LONGPOLE_INVALID_ARGUMENT
 */
export async function observeDask(
  address: string,
  options: ObserveDaskOptions = {},
): Promise<DaskObservation> {
  checkOptions('observeDask()', options, OPTIONS);
  const { python, security, timeout = 10, observers = () => [] } = options;
  const place = schedulerAddress(address, security);
  const live = new LiveTrace({ window: { tasks: MAX_TASKS, intervals: MAX_TASKS } });
  const counters = new ClusterCounters();
  const told: ClusterObserver[] = [live, counters];
  const mirror = new ClusterMirror(told);
  const bridge = await DaskBridge.start({
    address: place,
    security,
    python,
    timeout,
    onRow: (row) => {
      // Not before: a file that nothing can be written to would be left.
      if (row.type === 'hello') told.push(...observers());
      mirror.take(row);
    },
  });
  return new DaskObservation(place, bridge, mirror, live, counters);
}
