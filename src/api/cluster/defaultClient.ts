// The default client of `compute()` and `persist()`: the most recently connected one that is open.
import { setDefaultMemorySource } from '../../diagnostics/memorySampler.js';
import type { Client } from './client.js';

let clients: readonly Client[] = [];

/** Sets the default client until the client or its cluster closes. */
export function setDefaultClient(client: Client): void {
  clients = [...openClients(), client];
  // Otherwise the list would keep the closed client, and the results of its cluster, until the next use.
  const release = (): void => {
    clients = openClients();
  };
  const forget = client.cluster.onClose(release);
  client.onClose(() => {
    forget();
    release();
  });
}

export function defaultClient(): Client | undefined {
  return openClients().at(-1);
}

function openClients(): readonly Client[] {
  return clients.filter(({ isClosed }) => !isClosed);
}

setDefaultMemorySource(defaultClient);
