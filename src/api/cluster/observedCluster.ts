// The part of a cluster that dashboards use.
import type { ClusterEngine } from '../../engine/cluster/clusterEngine.js';
import type { ConnectedClients } from './connectedClients.js';
import type { Measures } from './measures.js';

export interface ObservedCluster {
  readonly engine: ClusterEngine;
  readonly measures: Measures;
  readonly clients: ConnectedClients;
}
