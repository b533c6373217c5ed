// Creates the parts of a cluster. This module imports more than half of the package, so it is loaded when a cluster
// starts. Modules that only define tasks, which workers import, do not load it.
import { checkPackage } from '../../base/packages.js';
import { ClusterEngine } from '../../engine/cluster/clusterEngine.js';
import { sampleResources } from '../../engine/cluster/clusterResources.js';
import type { ClusterStores } from '../../engine/cluster/clusterStores.js';
import { ProcessCluster, type RemotePlaces } from '../../engine/cluster/processCluster.js';
import { SchedulerPlugins } from '../../engine/cluster/schedulerPlugins.js';
import { StallWatch } from '../../engine/cluster/stallWatch.js';
import { ThreadCluster } from '../../engine/cluster/threadCluster.js';
import { WorkerPlaces } from '../../engine/cluster/workerPlaces.js';
import type { OpenChannel } from '../../engine/workerProcess/workerChannel.js';
import type { ClusterObserver } from '../../protocol/clusterObserver.js';
import { LiveTrace } from '../../trace/live/liveTrace.js';
import { watchCluster } from '../observeProgram.js';
import type { ClusterSettings } from './clusterOptions.js';
import { EventLog } from './eventLog.js';
import { Measures } from './measures.js';
import { ProcessMemory } from './processMemory.js';

/** Largest size in bytes of a result that a worker sends to the scheduler with the report of its task. */
const INLINE_BYTES = 1024;

export interface PartsOptions extends Omit<ClusterSettings, 'workers' | 'serving'> {
  /** Places of workers on other machines. */
  readonly remote?: RemotePlaces;
  /** Opens the channels to worker processes on this machine. */
  readonly open?: OpenChannel | undefined;
}

export interface ClusterParts {
  readonly engine: ClusterEngine;
  /** The live trace; undefined with `record: false`. */
  readonly live: LiveTrace | undefined;
  /** The metrics and samples of workers: `live`, or with `record: false` a trace of nothing else. */
  readonly measured: LiveTrace;
  readonly plugins: SchedulerPlugins;
  readonly places: WorkerPlaces;
  readonly stores: ClusterStores;
  /** Ends the observation of the cluster by observers of the program. */
  readonly stopWatching: () => void;
  /** Ends the sampling of resources. */
  readonly stopResources: () => void;
  readonly measures: Measures;
  readonly memory: ProcessMemory;
  readonly events: EventLog;
  readonly stalls: StallWatch;
}

/** @throws LongpoleError ERR_LONGPOLE_LOCAL_DIRECTORY */
export function makeClusterParts(options: PartsOptions): ClusterParts {
  // Spilling and transfers need this package later. An installation that lacks it fails here, at the start.
  checkPackage('lz4-napi');
  const { threads, allowedFailures, concurrentTasks, settings, localDirectory, record, remote, open } =
    options;
  const runsPython = remote !== undefined;
  const engine = new ClusterEngine({
    threads,
    allowedFailures,
    concurrentTasks,
    inlineBytes: INLINE_BYTES,
    runsPython,
    profileCycle: settings.profile?.cycleInterval,
  });
  const measured = new LiveTrace();
  engine.observe(record ? measured : measurementsFor(measured));
  const stopWatching = watchCluster(engine);
  const stores = threads
    ? new ThreadCluster(engine, settings, localDirectory)
    : new ProcessCluster(engine, settings, localDirectory, remote, open);
  const places = new WorkerPlaces(engine, settings, (worker, events) => stores.makeHost(worker, events));
  const measures = new Measures(engine, settings.profile);
  const memory = new ProcessMemory(engine);
  engine.observe(memory);
  return {
    engine,
    live: record ? measured : undefined,
    measured,
    plugins: new SchedulerPlugins(engine),
    places,
    stores,
    stopWatching,
    stopResources: sampleResources(engine),
    measures,
    memory,
    events: new EventLog(engine),
    stalls: new StallWatch(engine, settings.ttl),
  };
}

/** Returns an observer that adds the workers and their measurements to `trace`, without tasks. */
function measurementsFor(trace: LiveTrace): ClusterObserver {
  return {
    workerAdded: (worker) => trace.workerAdded(worker),
    workerRemoved: (...removed) => trace.workerRemoved(...removed),
    metric: (sample) => trace.metric(sample),
    profile: (...sampled) => trace.profile(...sampled),
  };
}
