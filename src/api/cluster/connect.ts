// connect(): the way to a cluster.
import { checkOptions, FLAG, invalid, isOptionsObject, type OptionKinds } from '../../base/arguments.js';
import { Client } from './client.js';
import type { LocalClusterOptions } from './clusterOptions.js';
import { setDefaultClient, unsetDefaultClient } from './defaultClient.js';
import { LocalCluster } from './localCluster.js';

export interface ConnectOptions {
  /** `compute()` and `persist()` use this client from now on. Default true. */
  readonly setAsDefault?: boolean;
}

const OPTIONS: OptionKinds<ConnectOptions> = { setAsDefault: FLAG };

/**
 * A client of a cluster: of a new LocalCluster on all cores, or with the given options, which ends with the client; or of
 * a LocalCluster that is there.
 *
 *     await using client = await connect();
 *
 * @throws (rejects) LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT, ERR_LONGPOLE_CLOSED and what `LocalCluster.start` throws
 */
export function connect(
  target?: LocalCluster | LocalClusterOptions,
  options?: ConnectOptions,
): Promise<Client>;
export async function connect(target: unknown = {}, options: ConnectOptions = {}): Promise<Client> {
  checkOptions('connect()', options, OPTIONS);
  const { setAsDefault = true } = options;
  const client = await clientOf(target);
  const { clients } = client.cluster;
  client.onClose(clients.add(client.name));
  if (setAsDefault) {
    setDefaultClient(client);
    client.onClose(() => unsetDefaultClient(client));
  }
  return client;
}

async function clientOf(target: unknown): Promise<Client> {
  if (target instanceof LocalCluster) {
    target.checkOpen();
    return new Client(target, false);
  }
  if (isOptionsObject(target)) return new Client(await LocalCluster.start(target), true);
  throw invalid('connect()', target, 'a LocalCluster or options for one, e.g. { workers: 4 }');
}
