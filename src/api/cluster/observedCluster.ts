// The part of a cluster that dashboards use.
import type { ClusterEngine } from '../../engine/cluster/clusterEngine.js';
import type { ConnectedClients } from './connectedClients.js';

export interface ObservedCluster {
  readonly engine: ClusterEngine;
  readonly clients: ConnectedClients;
}
