// The sending process of bench/transfer.ts. It serves result 1, and sends the bytes of the same array over raw sockets
// for each byte that it receives. It sends its parent the three addresses.
import { once } from 'node:events';
import { createServer, type ListenOptions } from 'node:net';
import { PeerServer } from '#internal/engine/transfer/peerServer.js';
import { packResult } from '#internal/engine/worker/packResult.js';

const [folder = '', bytes = ''] = process.argv.slice(2);
const packed = packResult(Float64Array.from({ length: Number(bytes) / 8 }, Math.random));
const server = new PeerServer({
  source: { get: () => packed },
  file: (name) => `${folder}/${name}`,
  name: 'bench',
  token: 'bench',
  worker: 0,
  now: () => performance.now() / 1000,
});

async function listen(options: ListenOptions): Promise<unknown> {
  const raw = createServer({ noDelay: true }, (socket) => {
    socket.on('data', () => socket.write(packed.buffers[0]!));
  });
  raw.listen(options);
  await once(raw, 'listening');
  return raw.address();
}

process.send?.({
  own: await server.listen(),
  tcp: await listen({ host: '127.0.0.1', port: 0 }),
  unix: await listen({ path: `${folder}/raw.sock` }),
});
process.once('disconnect', () => process.exit());
