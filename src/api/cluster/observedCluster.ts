// What dashboards see of a LocalCluster.
import type { ClusterEngine } from '../../engine/cluster/clusterEngine.js';
import type { ConnectedClients } from './connectedClients.js';
import type { Measures } from './measures.js';

/** What of a LocalCluster is looked at. */
export interface ObservedCluster {
  readonly engine: ClusterEngine;
  readonly measures: Measures;
  readonly clients: ConnectedClients;
}
