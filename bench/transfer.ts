// Measures the transfer of a large array from one process to another, into shared memory: `node
// dist-test/bench/transfer.js [MB]`.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PeerClient } from '#internal/engine/transfer/peerClient.js';
import { unpackResult } from '#internal/engine/worker/packResult.js';
import { median } from './median.js';

const REPEAT = 9;

const bytes = Number(process.argv[2] ?? 100) * 1e6;
const folder = mkdtempSync(join(tmpdir(), 'longpole-bench-'));
const peer = fork(fileURLToPath(new URL('./transferPeer.js', import.meta.url)), [folder, String(bytes)]);
const [address] = await once(peer, 'message');
const client = new PeerClient({
  token: 'bench',
  worker: 1,
  now: () => performance.now() / 1000,
  keyOf: String,
});
const times: number[] = [];
for (let i = 0; i < REPEAT; i++) {
  const start = performance.now();
  const { results } = await client.fetch(String(address), [1]);
  const value = unpackResult(results.get(1)!);
  times.push((performance.now() - start) / 1000);
  if (!(value instanceof Float64Array && value.byteLength === bytes))
    throw new Error('The received value is not the array that was sent.');
}
client.close();
peer.disconnect();
rmSync(folder, { recursive: true, force: true });
const middle = median(times);
console.log(
  `${bytes / 1e6} MB: median ${(middle * 1000).toFixed(1)} ms, ${(bytes / middle / 1e9).toFixed(2)} GB/s ` +
    `(${(bytes / Math.max(...times) / 1e9).toFixed(2)} to ${(bytes / Math.min(...times) / 1e9).toFixed(2)})`,
);
