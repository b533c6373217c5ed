// Measures the transfer of a large array from one process to another, into shared memory, beside raw sockets, whose
// receiver drops the bytes: `node dist-test/bench/transfer.js [MB]`. Both processes have the settings of a worker process.
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type NetConnectOpts } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PeerClient } from '#internal/engine/transfer/peerClient.js';
import { unpackResult } from '#internal/engine/worker/packResult.js';
import { ALLOCATOR } from '#internal/engine/workerProcess/workerChannel.js';
import { median } from './median.js';

const REPEAT = 15;
/** Rounds without figures: code is compiled, and a virtual machine may get its memory from the host. */
const WARM_UPS = 5;
const READ_BYTES = 256 * 1024;

const bytes = Number(process.argv[2] ?? 100) * 1e6;

/** Returns a function that receives the array over a raw socket. */
async function rawReceiver(options: NetConnectOpts): Promise<() => Promise<void>> {
  let missing = 0;
  let arrived: () => void = () => undefined;
  const callback = (count: number): boolean => {
    missing -= count;
    if (missing === 0) arrived();
    return true;
  };
  const socket = connect({ ...options, onread: { buffer: new Uint8Array(READ_BYTES), callback } });
  await once(socket, 'connect');
  socket.unref();
  return async () => {
    missing = bytes;
    socket.ref();
    await new Promise<void>((resolve) => {
      arrived = resolve;
      socket.write('.');
    });
    socket.unref();
  };
}

async function ownFetch(client: PeerClient, address: string): Promise<void> {
  const { results } = await client.fetch(address, [1]);
  const value = unpackResult(results.get(1)!);
  if (!(value instanceof Float64Array && value.byteLength === bytes))
    throw new Error('The received value is not the array that was sent.');
}

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'longpole-bench-'));
  const peer = fork(fileURLToPath(new URL('./transferPeer.js', import.meta.url)), [folder, String(bytes)]);
  const [{ own, tcp, unix }] = await once(peer, 'message');
  const client = new PeerClient({
    token: 'bench',
    worker: 1,
    now: () => performance.now() / 1000,
  });
  const receivers = {
    Longpole: () => ownFetch(client, String(own)),
    'raw TCP': await rawReceiver({ host: '127.0.0.1', port: Number(tcp.port) }),
    'raw unix socket': await rawReceiver({ path: String(unix) }),
  };
  const times = new Map<string, number[]>(Object.keys(receivers).map((name) => [name, []]));
  for (let round = 0; round < WARM_UPS + REPEAT; round++) {
    for (const [name, receive] of Object.entries(receivers)) {
      const start = performance.now();
      await receive();
      if (round >= WARM_UPS) times.get(name)!.push((performance.now() - start) / 1000);
    }
  }
  client.close();
  peer.disconnect();
  rmSync(folder, { recursive: true, force: true });
  const middle = median(times.get('Longpole')!);
  for (const [name, seconds] of times) {
    console.log(
      `${name}: ${bytes / 1e6} MB in a median of ${(median(seconds) * 1000).toFixed(1)} ms, ` +
        `${(bytes / median(seconds) / 1e9).toFixed(2)} GB/s (${(bytes / Math.max(...seconds) / 1e9).toFixed(2)} to ` +
        `${(bytes / Math.min(...seconds) / 1e9).toFixed(2)}); Longpole has ${(median(seconds) / middle).toFixed(2)} of its rate`,
    );
  }
}

// The allocator reads its settings when a process starts.
if (process.env['GLIBC_TUNABLES'] === undefined) {
  const env = { ...ALLOCATOR, ...process.env };
  const own = [...process.execArgv, ...process.argv.slice(1)];
  process.exitCode = spawnSync(process.execPath, own, { env, stdio: 'inherit' }).status ?? 1;
} else {
  await measure();
}
