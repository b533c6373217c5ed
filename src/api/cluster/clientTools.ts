// Tools of a client that must be loaded before its synchronous methods need them. They are loaded with the cluster.
import { dumpCluster } from '../../engine/cluster/clusterDump.js';
import type { ClusterEngine } from '../../engine/cluster/clusterEngine.js';
import { TraceWriter, type TraceWriterOptions } from '../../files/traceWriter.js';
import { LiveTrace, type LiveTraceOptions } from '../../trace/live/liveTrace.js';
import { writeStreamPage } from './clientPages.js';

/** @internal */
export interface ClientTools {
  readonly recordCluster: typeof recordCluster;
  readonly writeStreamPage: typeof writeStreamPage;
  readonly dumpCluster: typeof dumpCluster;
  newTrace(options: LiveTraceOptions): LiveTrace;
}

export const clientTools: ClientTools = {
  recordCluster,
  writeStreamPage,
  dumpCluster,
  newTrace: (options) => new LiveTrace(options),
};

// Recording a cluster in a trace directory. Samples and metrics of workers arrive up to a second later than their
// tasks, so the end of a recording waits for them.

/** Milliseconds that the end of a recording waits for workers that do not answer. */
const PATIENCE_MS = 3000;

/** The part of a cluster that is needed here. */
interface RecordedCluster {
  readonly engine: ClusterEngine;
  /** Resolves when observers have received the samples and metrics so far. */
  flushProfiles(patienceMs: number): Promise<void>;
}

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
