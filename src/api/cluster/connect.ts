// `connect()`: starts or finds a cluster and returns a client.
import { checkOptions, FLAG, invalid, isOptionsObject, type OptionKinds } from '../../base/arguments.js';
import { config } from '../config.js';
import { Client } from './client.js';
import { Cluster } from './cluster.js';
import {
  CLUSTER_OPTIONS,
  DASK_OPTIONS,
  type DaskOptions,
  type LocalClusterOptions,
  sharedOptions,
} from './clusterOptions.js';
import { setDefaultClient } from './defaultClient.js';
import { LocalCluster } from './localCluster.js';

export interface ConnectOptions {
  /** Whether `compute()` and `persist()` use this client from now on. Default true. */
  readonly setAsDefault?: boolean;
}

/** Options of a connection to a Dask cluster. */
export type DaskConnectOptions = ConnectOptions & DaskOptions;

const OPTIONS: OptionKinds<ConnectOptions> = { setAsDefault: FLAG };

/**
 * Connects to a cluster.
 *
 *     await using client = await connect();
 *     await using remote = await connect('tcp://10.0.0.5:8786');
 *
 * @param target one of:
 * - nothing, or options: starts a LocalCluster, by default with one worker per core, which closes with the client. With
 *   the setting `dask`, connects to that Dask cluster instead
 * - a LocalCluster
 * - the address of a Dask scheduler, e.g. `tcp://10.0.0.5:8786`
 * - `'dask'`: starts a Dask cluster on this machine, which closes with the client
 * @returns (resolves) a client
 * @throws (rejects) LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT; ERR_LONGPOLE_CLOSED if the LocalCluster is closed; the
 *   errors of `LocalCluster.start`; for a Dask cluster ERR_LONGPOLE_PYTHON, ERR_LONGPOLE_DASK_CONNECT,
 *   ERR_LONGPOLE_DASK_VERSION, ERR_LONGPOLE_DASK_NODE, ERR_LONGPOLE_DASK_BRIDGE, ERR_LONGPOLE_WORKER_START
 * @source Dask, `distributed.Client`
 */
export function connect(
  target?: LocalCluster | LocalClusterOptions,
  options?: ConnectOptions,
): Promise<Client>;
export function connect(target: string, options?: DaskConnectOptions): Promise<Client>;
export async function connect(target: unknown = {}, options: DaskConnectOptions = {}): Promise<Client> {
  if (typeof target === 'string') checkOptions('connect()', options, { ...OPTIONS, ...DASK_OPTIONS });
  else checkOptions('connect()', options, OPTIONS);
  const { setAsDefault = true, ...more } = options;
  const [cluster, ownsCluster] = await clusterOf(target, more);
  const { clientTools } = await import('./clientTools.js');
  const client = new Client(cluster, ownsCluster, clientTools);
  const { clients } = client.cluster;
  clients.added++;
  client.onClose(() => void clients.removed++);
  if (setAsDefault) setDefaultClient(client);
  return client;
}

/** Returns a cluster, and whether it closes with the client. */
async function clusterOf(target: unknown, options: DaskOptions): Promise<[Cluster, boolean]> {
  if (typeof target === 'string') {
    const { DaskCluster } = await import('./daskCluster.js');
    return [await DaskCluster.connect(target, options), true];
  }
  if (target instanceof Cluster) {
    target.checkOpen();
    return [target, false];
  }
  if (!isOptionsObject(target))
    throw invalid(
      'connect()',
      target,
      "a LocalCluster, options for one, e.g. { workers: 4 }, or the address of a Dask scheduler, e.g. 'tcp://10.0.0.5:8786'",
    );
  const dask = config.get('dask');
  if (dask !== undefined) {
    checkOptions('LocalCluster', target, CLUSTER_OPTIONS);
    const requested = target['workers'];
    const workers = typeof requested === 'number' ? requested : config.get('workers');
    // An existing cluster already has its workers.
    const own = dask === 'dask' && workers !== undefined ? { workers } : {};
    return clusterOf(dask, { ...sharedOptions(target), ...own });
  }
  return [await LocalCluster.start(target), true];
}
