// Two peers in one process, each with its own end of a real socket, and their reports of transfers.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext } from 'node:test';
import type { Transfer } from '../../protocol/clusterObserver.js';
import { PeerClient, type PeerClientOptions } from './peerClient.js';
import { PeerServer, type PeerServerOptions } from './peerServer.js';

export const folder = mkdtempSync(join(tmpdir(), 'longpole-test-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;

export interface Peers {
  readonly server: PeerServer;
  readonly client: PeerClient;
  readonly address: string;
  readonly outgoing: Transfer[];
  readonly incoming: Transfer[];
  /** Resolves with the next outgoing transfer. */
  readonly nextOutgoing: () => Promise<Transfer>;
}

export async function peers(
  test: TestContext,
  source: PeerServerOptions['source'],
  options: {
    readonly server?: Partial<PeerServerOptions>;
    readonly client?: Partial<PeerClientOptions>;
  } = {},
): Promise<Peers> {
  const outgoing: Transfer[] = [];
  const waiting: ((transfer: Transfer) => void)[] = [];
  const server = new PeerServer({
    source,
    file: (name) => join(folder, name),
    name: `peer-${++count}`,
    token: 'secret',
    worker: 0,
    now,
    onTransfer: (transfer) => {
      outgoing.push(transfer);
      waiting.shift()?.(transfer);
    },
    ...options.server,
  });
  const address = await server.listen();
  const { client, incoming } = clientOf(options.client);
  test.after(async () => {
    client.close();
    await server.close();
  });
  const nextOutgoing = (): Promise<Transfer> => new Promise((resolve) => waiting.push(resolve));
  return { server, client, address, outgoing, incoming, nextOutgoing };
}

export function clientOf(options: Partial<PeerClientOptions> = {}): {
  client: PeerClient;
  incoming: Transfer[];
} {
  const incoming: Transfer[] = [];
  const client = new PeerClient({
    token: 'secret',
    worker: 1,
    now,
    onTransfer: (transfer) => incoming.push(transfer),
    ...options,
  });
  return { client, incoming };
}

function now(): number {
  return (performance.timeOrigin + performance.now()) / 1000;
}
