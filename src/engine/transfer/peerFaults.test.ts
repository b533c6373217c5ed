import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ListenOptions, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { LongpoleError } from '../../base/errors.js';
import type { PackedResult } from '../../protocol/packedResult.js';
import { clientOf, folder, peers } from './peers.test.support.js';
import { DONE, encodeHello, encodeIds, encodeResult, REQUEST } from './transferMessages.js';

function isPeerError(address: string, what = '', code = 'ERR_LONGPOLE_PEER'): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof LongpoleError && error.code === code, String(error));
    assert.ok(error.message.includes(address) && error.message.includes(what), error.message);
    return true;
  };
}

/** Starts a peer that calls `say` at the first request of each connection. Returns its address. */
async function strange(test: TestContext, name: string, say: (socket: Socket) => void): Promise<string> {
  const path = join(folder, `${name}.sock`);
  await listening(test, say, { path });
  return `unix://${path}`;
}

async function listening(
  test: TestContext,
  say: (socket: Socket) => void,
  where: ListenOptions,
): Promise<Server> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    let asked = false;
    socket.on('data', () => {
      if (!asked) say(socket);
      asked = true;
    });
  });
  server.listen(where);
  await once(server, 'listening');
  test.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return server;
}

/**
 * Starts a process that serves result 1 (small) and 2 (large), and never answers for 3. It sends its address, and the
 * id of each result before it serves the result.
 */
async function otherProcess(
  test: TestContext,
  name: string,
): Promise<{ child: ChildProcess; address: string }> {
  const child = fork(fileURLToPath(new URL('./servingProcess.test.support.js', import.meta.url)), [
    folder,
    name,
  ]);
  test.after(() => child.kill('SIGKILL'));
  const [address] = await once(child, 'message');
  return { child, address: String(address) };
}

function asked(child: ChildProcess, id: number): Promise<void> {
  return new Promise((resolve) => {
    child.on('message', (message) => {
      if (message === id) resolve();
    });
  });
}

/** Program that answers each request of one connection, and sets the word when the last answer is written. */
const ANSWERING = `
  const { createServer } = require('node:net');
  const { parentPort, workerData: { path, words, answers, first, each } } = require('node:worker_threads');
  createServer((socket) => {
    let received = 0;
    let answered = 0;
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      received += bytes.length;
      for (; answered < answers.length && received >= first + each * (answered + 1); answered++) {
        const last = answered + 1 === answers.length;
        socket.write(answers[answered], () => {
          if (last) Atomics.store(words, 0, 1), Atomics.notify(words, 0);
        });
      }
    });
  }).listen(path, () => parentPort.postMessage('up'));
`;

describe('a peer that fails', () => {
  it('is named when it does not exist', async () => {
    const { client } = clientOf();
    const address = `unix://${join(folder, 'missing.sock')}`;
    await assert.rejects(client.fetch(address, [1]), isPeerError(address));
    await assert.rejects(client.fetch(address, [1]), isPeerError(address));
    await assert.rejects(client.fetch('http://example.org', [1]), { code: 'ERR_LONGPOLE_INVALID_ARGUMENT' });
    client.close();
    await assert.rejects(client.fetch(address, [1]), isPeerError(address, 'closing'));
  });

  it('is named when it is killed during a transfer', async (test) => {
    const { child, address } = await otherProcess(test, 'killed');
    const { client, incoming } = clientOf();
    assert.equal((await client.fetch(address, [1])).results.size, 1);
    const begun = asked(child, 2);
    const fetches = [client.fetch(address, [1, 2, 3]), client.fetch(address, [3])];
    const rejected = fetches.map((fetching) => assert.rejects(fetching, isPeerError(address)));
    await begun;
    child.kill('SIGKILL');
    await Promise.all(rejected);
    assert.equal(incoming.length, 1);
    await assert.rejects(client.fetch(address, [1]), isPeerError(address));
    client.close();
  });

  it('is given up when it is stopped', { skip: process.platform === 'win32' }, async (test) => {
    const { child, address } = await otherProcess(test, 'stopped');
    test.mock.timers.enable({ apis: ['setInterval'] });
    const { client } = clientOf();
    const begun = asked(child, 2);
    await client.fetch(address, [1]);
    let isOver = false;
    const rejected = assert
      .rejects(client.fetch(address, [2, 3]), isPeerError(address, 'nothing for 30 s'))
      .finally(() => {
        isOver = true;
      });
    await begun;
    child.kill('SIGSTOP');
    // The bytes that the peer has sent arrive first.
    for (; !isOver; await new Promise(setImmediate)) test.mock.timers.tick(30_000);
    await rejected;
    client.close();
  });

  it('is given up when it never answers', async (test) => {
    const { client } = clientOf({ timeout: 0.05 });
    const silent = await strange(test, 'silent', () => undefined);
    await assert.rejects(client.fetch(silent, [1]), isPeerError(silent, 'nothing'));
    client.close();
  });

  it('cannot be reached if a proxy accepts the connection, and closes it or says nothing', async (test) => {
    for (const [say, why, timeout] of [
      // On a slow machine, the end of the connection may arrive late.
      [(socket: Socket) => socket.destroy(), 'closed', 300],
      [() => undefined, 'nothing for 0.05 s', 0.05],
    ] as const) {
      const server = await listening(test, say, { port: 0, host: '127.0.0.1' });
      const to = server.address();
      assert.ok(typeof to === 'object' && to !== null);
      const address = `tcp://127.0.0.1:${to.port}`;
      const isError = isPeerError(address, why, 'ERR_LONGPOLE_UNREACHABLE');
      const { client } = clientOf({ timeout });
      await assert.rejects(client.fetch(address, [1]), isError);
      client.close();
    }
  });

  it('is not given up because of a pause of this process', async (test) => {
    // Another thread answers while this thread is blocked.
    const words = new Int32Array(new SharedArrayBuffer(4));
    const [hello, request] = [
      encodeHello({ worker: 1, token: 'secret' }),
      encodeIds(REQUEST, { request: 1, ids: [7] }),
    ];
    const answers = [1, 2].map((number) => encodeIds(DONE, { request: number, ids: [7] }));
    const path = join(folder, 'thread.sock');
    const server = new Worker(ANSWERING, {
      eval: true,
      workerData: { path, words, answers, first: hello.byteLength, each: request.byteLength },
    });
    test.after(() => server.terminate());
    await once(server, 'message');
    const { client } = clientOf();
    const address = `unix://${path}`;
    assert.deepEqual((await client.fetch(address, [7])).missing, [7]);
    test.mock.timers.enable({ apis: ['setInterval'] });
    // The loop runs timers that are due before it reads from sockets, so the rest of this test runs in a timer.
    await new Promise((resolve) => setTimeout(resolve, 0));
    const fetching = client.fetch(address, [7]);
    assert.notEqual(Atomics.wait(words, 0, 0, 300_000), 'timed-out', 'The peer has not answered.');
    // The last poll within the time limit comes before the answer is read.
    test.mock.timers.tick(30_000);
    assert.deepEqual((await fetching).missing, [7]);
    client.close();
  });

  it('is named when it sends invalid messages', async (test) => {
    const result = (id: number, length = 5): Buffer =>
      Buffer.concat([encodeResult({ request: 1, id, lengths: [length] }), new Uint8Array(length)]);
    const end = (...ids: number[]): Uint8Array => encodeIds(DONE, { request: 1, ids });
    const nonsense: Record<string, Uint8Array> = {
      http: Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'),
      'another result': result(8),
      'twice the same': Buffer.concat([result(7), result(7)]),
      'a result left out': end(),
      'another missing': end(8),
      'another request': encodeIds(DONE, { request: 9, ids: [7] }),
      'too large': encodeResult({ request: 1, id: 7, lengths: [2 ** 50] }),
    };
    const { client } = clientOf();
    for (const [name, bytes] of Object.entries(nonsense)) {
      const address = await strange(test, name.replaceAll(' ', '-'), (socket) => socket.write(bytes));
      await assert.rejects(client.fetch(address, [7]), isPeerError(address), name);
    }
    client.close();
  });

  it('is named when it closes the connection during a transfer', async (test) => {
    const { client, address, server } = await peers(test, {
      get: () => new Promise<PackedResult>(() => undefined),
    });
    const fetching = client.fetch(address, [1]);
    const rejected = assert.rejects(fetching, isPeerError(address));
    await server.close();
    await rejected;
  });

  it('is dropped at once when another part of the engine reports its death', async (test) => {
    let seen = (): void => undefined;
    const reached = new Promise<void>((resolve) => {
      seen = resolve;
    });
    const source = {
      get(): Promise<PackedResult> {
        seen();
        return new Promise(() => undefined);
      },
    };
    const { client, address } = await peers(test, source);
    const fetching = client.fetch(address, [1]);
    await reached;
    client.forget(address);
    await assert.rejects(fetching, isPeerError(address, 'gone'));
    client.forget('unix:///never/seen');
  });
});
