// The part of a client that works on the engine. It is loaded with the cluster, because isolates that import the package
// have no use for it, and synchronous methods of the client cannot wait for it.

import { keySplit } from '../../base/keySplit.js';
import { addTo } from '../../base/lookUps.js';
import { dumpCluster } from '../../engine/cluster/clusterDump.js';
import type { ClusterEngine } from '../../engine/cluster/clusterEngine.js';
import type { EngineWorker } from '../../engine/cluster/engineWorker.js';
import { retryResults } from '../../engine/cluster/retryResults.js';
import { isHostDump } from '../../engine/host/hostTypes.js';
import { MEMORY, PROCESSING } from '../../engine/scheduler/taskStates.js';
import { TraceWriter, type TraceWriterOptions } from '../../files/traceWriter.js';
import { LiveTrace, type LiveTraceOptions } from '../../trace/live/liveTrace.js';
import type { Cluster } from './cluster.js';
import { collectResults, fetchResults } from './collectResults.js';
import { scatterValues } from './scatter.js';
import { taskStream } from './taskStream.js';
import { watched } from './watchedComputation.js';

export const clientTools = {
  recordCluster,
  dumpCluster,
  newTrace: (options: LiveTraceOptions) => new LiveTrace(options),
  retryResults,
  collectResults,
  fetchResults,
  scatterValues,
  taskStream,
  watched,
  callStacks,
  hasWhat,
  nbytesOf,
  processing,
  whoHas,
};

/** @internal */
export type ClientTools = typeof clientTools;

// Recording a cluster in a trace directory. Samples and metrics of workers arrive up to a second later than their
// tasks, so the end of a recording waits for them.

/** Milliseconds that the end of a recording waits for workers that do not answer. */
const PATIENCE_MS = 3000;

type RecordedCluster = Pick<Cluster, 'engine' | 'flushProfiles'>;

/** Starts the recording of `Client.record`. Returns a function that ends it; further calls have no effect. */
function recordCluster(
  cluster: RecordedCluster,
  directory: string,
  options: TraceWriterOptions,
): () => Promise<void> {
  const writer = TraceWriter.create(directory, options);
  // The first report of a thread also has samples from before the recording.
  writer.samplesFrom = cluster.engine.clock();
  const stopObserving = cluster.engine.observe(writer);
  let stopped: Promise<void> | undefined;
  return () => {
    stopped ??= end(cluster, writer, stopObserving);
    return stopped;
  };
}

async function end(cluster: RecordedCluster, writer: TraceWriter, stopObserving: () => void): Promise<void> {
  // Receives late measurements of recorded tasks only.
  const stopLate = cluster.engine.observe({
    profile: (...sampled) => writer.profile(...sampled),
    metric: (sample) => writer.metric(sample),
  });
  stopObserving();
  try {
    writer.settle();
    await cluster.flushProfiles(PATIENCE_MS);
  } finally {
    stopLate();
    writer.close();
  }
}

/** Yields the tasks in a state. `id` is the scheduler's id. */
function* tasksIn(engine: ClusterEngine, state: number) {
  const { state: states } = engine.scheduler.state;
  for (const computation of engine.computations) {
    const { base, size } = computation.segment;
    for (let local = 0; local < size; local++)
      if (states[base + local] === state && !computation.imports.has(local))
        yield { computation, local, key: computation.info.keys[local]!, id: base + local };
  }
}

/** Returns the names of the workers that store each result; none for small results, which the scheduler has. */
function whoHas(engine: ClusterEngine, keys?: ReadonlySet<string>): Record<string, string[]> {
  const found = new Map(Array.from(keys ?? [], (key): [string, string[]] => [key, []]));
  for (const { computation, local, key } of tasksIn(engine, MEMORY)) {
    if (keys !== undefined && !keys.has(key)) continue;
    const holders = [...engine.stored.holders(computation.resultId(local))];
    found.set(
      key,
      holders.flatMap((index) => engine.workers.get(index)?.info.name ?? []),
    );
  }
  return Object.fromEntries(found);
}

/** Returns the keys of the results in the store of each worker. */
function hasWhat(engine: ClusterEngine, workers: readonly EngineWorker[]): Record<string, string[]> {
  const keys = new Map(workers.map(({ info }) => [info.index, [] as string[]]));
  for (const { computation, local, key } of tasksIn(engine, MEMORY))
    for (const index of engine.stored.holders(computation.resultId(local))) keys.get(index)?.push(key);
  return Object.fromEntries(workers.map(({ info }) => [info.name, keys.get(info.index)!]));
}

/** Returns the keys of the tasks that each worker has received and not finished. */
function processing(engine: ClusterEngine, workers: readonly EngineWorker[]): Record<string, string[]> {
  const { location } = engine.scheduler.state;
  const keys = new Map(workers.map(({ info }) => [info.index, [] as string[]]));
  for (const { id, key } of tasksIn(engine, PROCESSING)) keys.get(location[id]!)?.push(key);
  return Object.fromEntries(workers.map(({ info }) => [info.name, keys.get(info.index)!]));
}

/** Returns the bytes of the results in the cluster, by prefix or by key. */
function nbytesOf(
  engine: ClusterEngine,
  { keys, summary }: { readonly keys: ReadonlySet<string> | undefined; readonly summary: boolean },
): Record<string, number> {
  const { nbytes } = engine.scheduler.state;
  const sums = new Map<string, number>();
  for (const { id, key } of tasksIn(engine, MEMORY)) {
    if (keys !== undefined && !keys.has(key)) continue;
    const name = summary ? keySplit(key) : key;
    addTo(sums, name, nbytes[id]!);
  }
  return Object.fromEntries(sums);
}

/** Returns the stack frames of running tasks, innermost first, by worker and key. Idle workers are missing. */
async function callStacks(
  engine: ClusterEngine,
  workers: readonly EngineWorker[],
  keys?: ReadonlySet<string>,
): Promise<Record<string, Record<string, string[]>>> {
  const stacks = await Promise.all(
    workers.map(async (worker): Promise<[string, Record<string, string[]>][]> => {
      const dump = await worker.host.dump();
      const host = isHostDump(dump) ? dump : dump.inside;
      if (typeof host === 'string' || host.task === undefined) return [];
      const key = engine.computation(host.task.run)?.info.keys[host.task.id];
      if (key === undefined || keys?.has(key) === false) return [];
      const { inside } = host.isolate;
      return [[worker.info.name, { [key]: typeof inside === 'string' ? [inside] : [...inside.stack] }]];
    }),
  );
  return Object.fromEntries(stacks.flat());
}
