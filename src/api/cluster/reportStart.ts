// Reports how long the program waited for the start of a cluster.
import type { ClusterEngine } from '../../engine/cluster/clusterEngine.js';
import { CLUSTER } from '../../protocol/eventTopics.js';

/** Reports the start of a cluster, whose first workers are up, as two events. `begun` is from `epochSeconds`. */
export function reportStart(engine: ClusterEngine, begun: number): void {
  engine.event(CLUSTER.begin, 'The cluster is starting.', -1, begun);
  engine.event(CLUSTER.end, 'The cluster has started.');
}
