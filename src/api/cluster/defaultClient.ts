// The default client of `compute()` and `persist()`: the most recently connected one.
import { setDefaultMemorySource } from '../../diagnostics/memorySampler.js';
import type { Client } from './client.js';

const clients: Client[] = [];

export function setDefaultClient(client: Client): void {
  clients.push(client);
  setDefaultMemorySource(client);
}

export function unsetDefaultClient(client: Client): void {
  const at = clients.indexOf(client);
  if (at >= 0) clients.splice(at, 1);
  setDefaultMemorySource(clients.at(-1));
}

export function defaultClient(): Client | undefined {
  return clients.at(-1);
}
