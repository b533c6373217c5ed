// What a client does at once, without waiting, with what its cluster has seen. Loaded with the cluster: who has a client has
// waited for that.
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

// Recording a cluster in a trace directory. What workers sample and measure comes up to a second later than what they do, so
// that the end of a recording waits for it.

/** How long the end of a recording waits for workers that do not answer, in milliseconds. */
const PATIENCE_MS = 3000;

/** What is recorded: a LocalCluster. */
interface RecordedCluster {
  readonly engine: ClusterEngine;
  /** Resolves when observers have what was sampled and measured so far. */
  flushProfiles(patienceMs: number): Promise<void>;
}

/** Begins at once; see Client.record. Returns what ends it; calling that again changes nothing. */
function recordCluster(
  cluster: RecordedCluster,
  directory: string,
  options: TraceWriterOptions,
): () => Promise<void> {
  const writer = TraceWriter.create(directory, options);
  const stopObserving = cluster.engine.observe(writer);
  let stopped: Promise<void> | undefined;
  return () => {
    stopped ??= end(cluster, writer, stopObserving);
    return stopped;
  };
}

async function end(cluster: RecordedCluster, writer: TraceWriter, stopObserving: () => void): Promise<void> {
  // Measures of what has happened; what happens from here on is not recorded.
  const stopLate = cluster.engine.observe({
    profile: (...told) => writer.profile(...told),
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
