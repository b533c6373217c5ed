// What a client does at once, without waiting, with what its cluster has seen. Loaded with the cluster: who has a client has
// waited for that.
import { dumpCluster } from '../../engine/cluster/clusterDump.js';
import { LiveTrace, type LiveTraceOptions } from '../../trace/live/liveTrace.js';
import { writeStreamPage } from './clientPages.js';
import { recordCluster } from './recording.js';

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
