// The cluster that a program gets without connecting one: `compute()` with the scheduler `cluster` starts it when it is first
// needed, and it ends with the program.
import type { Client } from './client.js';
import { connect } from './connect.js';
import { defaultClient } from './defaultClient.js';

let own: Promise<Client> | undefined;

/** The client that was connected last, else one of the program's own cluster. */
export async function clusterClient(): Promise<Client> {
  const client = defaultClient();
  if (client !== undefined) return client;
  own ??= startOwn();
  return own;
}

async function startOwn(): Promise<Client> {
  try {
    const client = await connect({}, { setAsDefault: false });
    // The program has nothing left to do: what it still does there starts another one.
    process.once('beforeExit', () => {
      own = undefined;
      void client.close();
    });
    return client;
  } catch (error) {
    own = undefined;
    throw error;
  }
}
