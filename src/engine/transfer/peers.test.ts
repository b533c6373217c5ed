import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, truncateSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { noise } from '../../base/randomNumbers.test.support.js';
import type { PackedResult } from '../../protocol/packedResult.js';
import { Store } from '../store/store.js';
import { packResult, unpackResult } from '../worker/packResult.js';
import { clientOf, folder, peers } from './peers.test.support.js';

function results(values: Record<number, unknown>): Map<number, PackedResult> {
  return new Map(Object.entries(values).map(([id, value]) => [Number(id), packResult(value)]));
}

function valueIn(results: ReadonlyMap<number, PackedResult>, id: number): unknown {
  const found = results.get(id);
  assert.ok(found !== undefined, `result ${id} has not come`);
  return unpackResult(found);
}

const ENCRYPTED = { host: '127.0.0.1', isEncrypted: true };

describe('PeerClient and PeerServer', () => {
  for (const [where, network, addresses] of [
    ['on one machine', undefined, /^(unix|pipe):/],
    ['over TCP', { host: '127.0.0.1', isEncrypted: false }, /^tcp:\/\/127\.0\.0\.1:\d+$/],
    ['over TLS', ENCRYPTED, /^tls:\/\/127\.0\.0\.1:\d+$/],
  ] as const)
    it(`bring results from one to the other ${where}, and report missing results`, async (test) => {
      const values = {
        1: { a: [1, 2], b: noise(3) },
        2: 'text',
        3: noise(3_000_000),
        4: new Map([[1, noise(20_000)]]),
      };
      const { client, address } = await peers(test, results(values), { server: { network } });
      assert.match(address, addresses);
      const fetched = await client.fetch(address, [1, 2, 9, 3, 4, 8, 3]);
      assert.deepEqual(fetched.missing, [9, 8]);
      for (const [id, value] of Object.entries(values))
        assert.deepEqual(valueIn(fetched.results, Number(id)), value);
      assert.ok(fetched.results.get(3)?.buffers[0]?.buffer instanceof SharedArrayBuffer);
      assert.equal((await client.fetch(address, [])).results.size, 0);
    });

  it('exchange nothing that can be read on the way if they use TLS', async (test) => {
    const text = 'a result that only peers may read';
    const { address } = await peers(test, results({ 1: text }), { server: { network: ENCRYPTED } });
    const seen: Buffer[] = [];
    const relay = createServer((socket) => {
      const server = connect(Number(new URL(address).port), '127.0.0.1');
      for (const [from, to] of [
        [socket, server],
        [server, socket],
      ] as const) {
        from.on('data', (bytes: Buffer) => void seen.push(bytes)).pipe(to);
        from.on('close', () => to.destroy());
      }
    });
    await once(relay.listen(0, '127.0.0.1'), 'listening');
    const bound = relay.address();
    assert.ok(typeof bound === 'object' && bound !== null);
    const { client } = clientOf();
    const { results: fetched } = await client.fetch(`tls://127.0.0.1:${bound.port}`, [1]);
    assert.equal(valueIn(fetched, 1), text);
    client.close();
    relay.close();
    const bytes = Buffer.concat(seen).toString('latin1');
    assert.ok(bytes.length > 0 && !bytes.includes(text) && !bytes.includes('secret'));
  });

  it('refuse a client with another secret, one that does not encrypt, and one that sends nothing', async (test) => {
    const { address, server } = await peers(test, results({ 1: 'x' }), { server: { network: ENCRYPTED } });
    const other = clientOf({ token: 'another' }).client;
    const refused = { code: 'ERR_LONGPOLE_UNREACHABLE' };
    await assert.rejects(other.fetch(address, [1]), refused);
    const plain = clientOf().client;
    await assert.rejects(plain.fetch(address.replace('tls:', 'tcp:'), [1]), refused);
    const silent = connect(Number(new URL(address).port), '127.0.0.1');
    await once(silent, 'connect');
    const closed = once(silent.resume(), 'close');
    await server.close();
    await closed;
  });

  it('report every transfer from both sides', async (test) => {
    const { client, address, incoming, nextOutgoing } = await peers(
      test,
      results({ 1: noise(50_000), 2: 'x' }),
    );
    const next = nextOutgoing();
    const { nbytes } = await client.fetch(address, [1, 2, 3], { peer: 0 });
    const outgoing = await next;
    const [one] = incoming;
    assert.ok(one !== undefined && incoming.length === 1);
    assert.ok(nbytes > 400_000);
    const { start, stop, ...rest } = one;
    assert.ok(start <= stop && start <= outgoing.start && outgoing.start <= outgoing.stop);
    const keys = ['1', '2'];
    assert.deepEqual(rest, {
      worker: 1,
      peer: 0,
      direction: 'incoming',
      what: 'gather-dep',
      keys,
      nbytes,
      compressed: nbytes,
      ahead: 0,
    });
    assert.deepEqual(
      { ...outgoing, start: 0, stop: 0 },
      {
        worker: 0,
        peer: 1,
        direction: 'outgoing',
        what: 'get-data',
        keys,
        nbytes,
        compressed: nbytes,
        start: 0,
        stop: 0,
      },
    );
    await client.fetch(address, [7]);
    assert.equal(incoming.length, 1);
  });

  it('bring many small results at once', async (test) => {
    const source = { get: (id: number) => packResult({ id, text: `result ${id}` }) };
    const { client, address } = await peers(test, source);
    const ids = Array.from({ length: 70_000 }, (_, id) => id);
    const { results } = await client.fetch(address, ids);
    assert.equal(results.size, ids.length);
    for (const id of [0, 1, 40_000, 69_999])
      assert.deepEqual(valueIn(results, id), { id, text: `result ${id}` });
  });

  it('serve many requests at once, over few connections', async (test) => {
    const source = results(
      Object.fromEntries(Array.from({ length: 40 }, (_, id) => [id, noise(id * 5_000)])),
    );
    const { client, address } = await peers(test, source, { client: { connections: 2 } });
    const fetches = Array.from({ length: 100 }, (_, i) => [i % 40, (i * 7) % 40, 100 + i]);
    const all = await Promise.all(fetches.map((ids) => client.fetch(address, ids)));
    all.forEach(({ results, missing }, i) => {
      assert.deepEqual(missing, [100 + i]);
      for (const id of [i % 40, (i * 7) % 40]) assert.deepEqual(results.get(id), source.get(id));
    });
  });

  it('serve spilled results; results that cannot be read back are missing', async (test) => {
    const store = new Store({ file: (name) => join(folder, name), name: 'spilled', now: () => 0 });
    const value = noise(100_000);
    store.put(1, packResult(value));
    store.put(2, packResult(noise(10)));
    await store.spill(0);
    const { client, address } = await peers(test, store);
    assert.deepEqual(valueIn((await client.fetch(address, [1])).results, 1), value);
    for (const name of readdirSync(folder)) if (name.endsWith('.spill')) truncateSync(join(folder, name), 10);
    const { missing } = await client.fetch(address, [1, 2]);
    assert.deepEqual(missing, [2]);
    await store.close();
  });

  it('a result that is read back from disk does not delay a later request', async (test) => {
    let release = (_: PackedResult): void => undefined;
    const late = new Promise<PackedResult>((resolve) => {
      release = resolve;
    });
    const source = { get: (id: number) => (id === 1 ? late : packResult(id)) };
    const { client, address } = await peers(test, source, { client: { connections: 1 } });
    const waiting = client.fetch(address, [2, 1, 3]);
    assert.equal(valueIn((await client.fetch(address, [4])).results, 4), 4);
    release(packResult('late'));
    const { results } = await waiting;
    assert.deepEqual([...results.keys()], [2, 1, 3]);
    assert.equal(valueIn(results, 1), 'late');
  });

  it('listen at a short path if the path of the directory is long', async (test) => {
    const long = join(folder, 'l'.repeat(100));
    mkdirSync(long);
    const { client, address, server } = await peers(test, results({ 1: 'x' }), {
      server: { file: (name) => join(long, name) },
    });
    assert.ok(process.platform === 'win32' || address.length < 115);
    assert.equal((await client.fetch(address, [1])).results.size, 1);
    await server.close();
    assert.ok(!existsSync(address.replace('unix://', '')));
  });

  it('serve nothing to a peer without the secret', async (test) => {
    const { address } = await peers(test, results({ 1: 'x' }));
    const { client } = await peers(test, results({}), { client: { token: 'guessed' } });
    await assert.rejects(client.fetch(address, [1]), { code: 'ERR_LONGPOLE_PEER' });
    const socket = connect(address.replace('unix://', ''));
    socket.write('GET / HTTP/1.1\r\n\r\n');
    const data: unknown[] = [];
    await new Promise((resolve) =>
      socket
        .on('data', (bytes) => data.push(bytes))
        .on('close', resolve)
        .on('error', () => undefined),
    );
    assert.deepEqual(data, []);
  });
});
