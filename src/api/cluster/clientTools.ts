// The part of a client that works on the engine. It is loaded with the cluster, because isolates that import the package
// have no use for it, and synchronous methods of the client cannot wait for it.
import { dumpCluster } from '../../engine/cluster/clusterDump.js';
import { retryResults } from '../../engine/cluster/retryResults.js';
import { TraceWriter, type TraceWriterOptions } from '../../files/traceWriter.js';
import { LiveTrace, type LiveTraceOptions } from '../../trace/live/liveTrace.js';
import type { Cluster } from './cluster.js';
import { collectResults, fetchResults } from './collectResults.js';
import { scatterValues } from './scatter.js';
import { taskStream } from './taskStream.js';
import { watched } from './watchedComputation.js';
import { callStacks, hasWhat, nbytesOf, processing, whoHas } from './whereThingsAre.js';

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
