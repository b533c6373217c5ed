// The dashboard of the local schedulers of a program, with the same pages as for a cluster.
import { hostname } from 'node:os';
import { fieldOf } from '../base/json.js';
import { once } from '../base/lookUps.js';
import { threadCpuClock } from '../engine/worker/threadCpuClock.js';
import type { ClusterEvent, WorkerInfo } from '../protocol/clusterObserver.js';
import { WORKER_LOST } from '../protocol/eventTopics.js';
import type { RunInfo, RunObserver, RunWorker } from '../protocol/runObserver.js';
import type { RunningRow } from '../protocol/viewMessages.js';
import { epochSeconds } from '../resources/clock.js';
import type { ClusterStatus, LiveSource } from '../server/source.js';
import { LiveTrace } from '../trace/live/liveTrace.js';
import { startAtFreePort } from './cluster/dashboard.js';
import { config } from './config.js';
import { idOf, prefixOfTask, programFacts, RunningTasks, type TaskOf, workerRow } from './statusRows.js';

/**
 * Serves the dashboard of all runs that the returned observers watch. The server starts with the first run, at the
 * configured port or, if that is in use, another one. The server does not keep the program alive.
 *
 * @param event receives the link of the dashboard, or the reason why it could not start
 */
export function localDashboard(event: (event: ClusterEvent) => void): readonly RunObserver[] {
  const trace = new LiveTrace();
  return [trace, new LocalDashboard(trace, event)];
}

export class LocalDashboard implements RunObserver {
  readonly #trace: LiveTrace;
  readonly #event: (event: ClusterEvent) => void;
  readonly #runs = new Set<RunInfo>();
  readonly #workers = new Map<number, RunWorker>();
  readonly #running = new RunningTasks(epochSeconds);
  #started = false;

  constructor(trace: LiveTrace, event: (event: ClusterEvent) => void) {
    this.#trace = trace;
    this.#event = event;
  }

  runStarted(run: RunInfo): void {
    this.#runs.add(run);
    if (this.#started) return;
    this.#started = true;
    void this.#start();
  }

  workerAdded(worker: RunWorker): void {
    this.#workers.set(worker.index, worker);
  }

  workerRemoved({ index }: WorkerInfo): void {
    this.#workers.delete(index);
  }

  /** A worker that ends by itself is an event only. */
  event({ topic, worker }: ClusterEvent): void {
    if (topic === WORKER_LOST) this.#workers.delete(worker);
  }

  runFinished(run: RunInfo): void {
    this.#runs.delete(run);
  }

  async #start(): Promise<void> {
    const [{ DashboardServer }, { progressOf }, { sameFigures }] = await Promise.all([
      import('../server/dashboardServer.js'),
      import('../server/sums.js'),
      import('../server/prometheus/figures.js'),
    ]);
    const source: LiveSource = {
      kind: 'live',
      title: `Local schedulers on ${hostname()}, process ${process.pid}`,
      facts: programFacts('local schedulers'),
      trace: this.#trace,
      clock: epochSeconds,
      cpuClock: once(threadCpuClock),
      status: () => ({
        ...this.state(),
        ...progressOf(this.#trace.totals, Array.from(this.#runningTasks(), prefixOfTask)),
      }),
      processing: () => new Set(Array.from(this.#runningTasks(), idOf)),
      isComputing: () => this.#runs.size > 0,
      figures: () => ({ ...sameFigures(0), totals: this.#trace.totals }),
    };
    const start = async (port: number): Promise<string> => {
      const server = await DashboardServer.start({ port, source });
      // Pages receive the last rows. A later run, e.g. in another listener, has a new server.
      process.once('beforeExit', () => {
        this.#started = false;
        void server.close('The program has ended.');
      });
      return server.link;
    };
    await startAtFreePort(config.get('dashboard-port'), start, (topic, text) =>
      this.#event({ time: epochSeconds(), worker: -1, topic, text }),
    );
  }

  /** Returns the present workers, and the tasks of the runs in progress. */
  state(): Omit<ClusterStatus, 'progress' | 'graphStart'> {
    const states: Record<string, number> = {};
    const processing = new Map<number, number>();
    const running: RunningRow[] = [];
    for (const run of this.#runs) {
      const { standing, computation } = run;
      for (const [name, count] of Object.entries(standing.states)) states[name] = (states[name] ?? 0) + count;
      for (const [worker, count] of standing.processing)
        processing.set(worker, (processing.get(worker) ?? 0) + count);
      for (const [worker, id] of standing.running)
        running.push(this.#running.row(worker, { info: computation, local: id }));
    }
    // A process that dies while no computation runs has no event.
    const present = [...this.#workers.values()].filter(({ pid }) => exists(pid));
    const workers = present.map((worker) => workerRow(worker, { processing: processing.get(worker.index) }));
    return { time: epochSeconds(), states, workers, running };
  }

  *#runningTasks(): Generator<TaskOf> {
    for (const { standing, computation: info } of this.#runs)
      for (const local of standing.running.values()) yield { info, local };
  }
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return fieldOf(error, 'code') !== 'ESRCH';
  }
}
