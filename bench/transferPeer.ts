// The serving process of bench/transfer.ts. It sends its address and serves result 1.
import { PeerServer } from '#internal/engine/transfer/peerServer.js';
import { packResult } from '#internal/engine/worker/packResult.js';

const packed = packResult(Float64Array.from({ length: Number(process.argv[3]) / 8 }, Math.random));
const server = new PeerServer({
  source: { get: () => packed },
  file: (name) => `${process.argv[2]}/${name}`,
  name: 'bench',
  token: 'bench',
  worker: 0,
  now: () => performance.now() / 1000,
  keyOf: String,
});
process.send?.(await server.listen());
process.once('disconnect', () => process.exit());
