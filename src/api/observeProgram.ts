// Observes a whole program: every local cluster that the program starts, and every run of a local scheduler.
import { checkArgument, objectWith } from '../base/arguments.js';
import { OBSERVERS, ProgramCallback } from '../diagnostics/callback.js';
import type { ClusterEngine } from '../engine/cluster/clusterEngine.js';
import { ThreadProfiler } from '../engine/profiler/threadProfiler.js';
import { epochOffsetMs } from '../engine/worker/isolateClock.js';
import type { ClusterObserver, ResourceSample } from '../protocol/clusterObserver.js';
import type { RunInfo, RunObserver } from '../protocol/runObserver.js';
import { ResourceFeed } from '../resources/resourceFeed.js';
import type { MonitorTarget } from '../resources/usageSampler.js';
import { JoinedSources } from '../trace/joinedSources.js';

/** One call of `observeProgram`. */
interface Watch {
  /** Makes an observer for each cluster. */
  readonly sources: JoinedSources;
  /** Functions that end the observation of the open clusters. */
  readonly stops: Set<() => void>;
}

const OBSERVER = objectWith('an observer, e.g. a TraceWriter');

const watches = new Set<Watch>();

/**
 * Reports to observers all tasks that this program runs from now on, on the local schedulers and on local clusters that
 * start later. Observers see a single cluster; workers of a second cluster are named e.g. `worker-0 (cluster 2)`. Local
 * schedulers record as transfers only what the program's thread copies for 5 ms or more. They record the size of a result
 * if it is a number, a boolean, null, undefined or a typed array, or if its task took 1 ms or more. Samples are of the
 * program's thread only.
 *
 *     const stop = observeProgram(TraceWriter.create('program.trace'));
 *
 * @returns a function that ends the observation; further calls have no effect
 */
export function observeProgram(...observers: readonly ClusterObserver[]): () => void {
  for (const observer of observers) checkArgument('observeProgram(): observer', observer, OBSERVER);
  return observeProgramAnd(observers, []);
}

/** Like `observeProgram`. The observers `ofLocalRuns` are added to the local schedulers only. */
export function observeProgramAnd(
  observers: readonly ClusterObserver[],
  ofLocalRuns: readonly RunObserver[],
): () => void {
  const sources = new JoinedSources(observers);
  const watch: Watch = { sources, stops: new Set() };
  const source = sources.add();
  const samples = observers.some((observer) => observer.profile !== undefined) ? [localSamples(source)] : [];
  const local = new LocalRuns(source, ...ofLocalRuns, ...samples);
  local.register();
  watches.add(watch);
  return () => {
    local.unregister();
    for (const one of samples) one.stop();
    watches.delete(watch);
    for (const stop of watch.stops) stop();
    watch.stops.clear();
  };
}

/**
 * Adds the observers of the program to a cluster that is about to start. Returns a function that removes them when the
 * cluster has closed, so that an observation of the whole program does not hold it.
 */
export function watchCluster(cluster: Pick<ClusterEngine, 'observe'>): () => void {
  const ends = Array.from(watches, ({ sources, stops }) => {
    const stop = cluster.observe(sources.add());
    stops.add(stop);
    return () => {
      stop();
      stops.delete(stop);
    };
  });
  return () => {
    for (const end of ends) end();
  };
}

/** Index of the worker for samples of the scheduler's thread. */
const SCHEDULER = -1;
/** Milliseconds of runs after which the samples so far are reported when no run is left. The program may end then. */
const REPORT_AFTER = 250;

/**
 * Samples the program's thread while runs of local schedulers are in progress, as a cluster samples its scheduler's
 * thread. The samples distinguish the program's own computations from Longpole's work and from the unpacking of results.
 */
function localSamples(observer: ClusterObserver): RunObserver & { stop(): void } {
  let profiler: ThreadProfiler | undefined;
  /** Number of runs in progress. */
  let runs = 0;
  /** Time since which the samples of runs have not been reported, on `performance.now()`. */
  let since = 0;
  return {
    runStarted: () => {
      if (runs++ === 0) since = performance.now();
      profiler ??= new ThreadProfiler({
        epochOffsetMs: epochOffsetMs(),
        onCycle: (cycle) => observer.profile?.(SCHEDULER, cycle, () => undefined),
      });
      profiler.busy();
    },
    runFinished: () => {
      if (--runs > 0) return;
      if (performance.now() - since >= REPORT_AFTER) void profiler?.flush();
      profiler?.idle();
    },
    // The last samples are still reported.
    stop: () => {
      profiler?.close();
      profiler = undefined;
    },
  };
}

/**
 * Reports each run that starts while this callback is active as a computation. From the first run on, also reports the
 * resource usage of the machine and of the workers.
 */
class LocalRuns extends ProgramCallback {
  readonly #observers: readonly RunObserver[];
  readonly #resources: ReturnType<typeof localResources>;

  constructor(...observers: readonly RunObserver[]) {
    super();
    this.#observers = observers;
    this.#resources = localResources((sample) => {
      for (const observer of observers) observer.resources?.(sample);
    });
  }

  override unregister(): void {
    this.#resources.stop();
    super.unregister();
  }

  override [OBSERVERS](): RunObserver[] {
    return [...this.#observers, this.#resources];
  }
}

/** Shortest run, in milliseconds, for which the monitor thread starts. */
const MIN_RUN_MS = 150;

/** Samples resource usage of the machine and the workers, as for a cluster, from the first run on that is long enough. */
function localResources(deliver: (sample: ResourceSample) => void): RunObserver & { stop(): void } {
  const runs = new Set<RunInfo>();
  const feed = new ResourceFeed(() => targetsOf(runs), deliver);
  return {
    // The isolates of the run may start later, because the targets are determined before each sample.
    runStarted: (run) => {
      runs.add(run);
      feed.startWithin(MIN_RUN_MS);
    },
    runFinished: (run) => {
      runs.delete(run);
      if (runs.size === 0) feed.postpone();
      feed.refresh();
    },
    stop: () => feed.stop(),
  };
}

function targetsOf(runs: Iterable<RunInfo>): MonitorTarget[] {
  const targets = new Map<number, MonitorTarget>();
  for (const { workers } of runs) {
    for (const { index: worker, pid, vitals } of workers.values())
      if (vitals !== undefined) targets.set(worker, { worker, pid, thread: vitals !== null, vitals });
  }
  return [...targets.values()];
}
