// Tests when the channel requests leases, when batches wait for one, and which messages travel directly.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { NO_IDS, NO_VALUES } from '../../protocol/isolateMessages.js';
import type { RemoteProcessEvents } from '../../protocol/remoteProcess.js';
import type { FromWorker } from '../../protocol/workerMessages.js';
import { peers } from '../transfer/peers.test.support.js';
import { encodeMessage } from './messageCodec.js';
import { remoteChannel } from './remoteChannel.js';

/** Opens a channel to a process that records what it is asked for. */
function openChannel(onMessage = (): void => undefined) {
  const sent = { files: 0 };
  const log: string[] = [];
  const own: RemoteProcessEvents[] = [];
  const note = (what: string) => (): void => void log.push(what);
  const channel = remoteChannel({
    start: (events) => {
      own.push(events);
      return {
        get files() {
          return sent.files;
        },
        send: note('batch'),
        kill: note('kill'),
        lease: note('lease'),
        release: note('release'),
        ref: () => undefined,
        unref: () => undefined,
      };
    },
    bundle: () => undefined,
    locate: (fn) => fn,
    isLocal: false,
  })({ message: onMessage, ended: () => undefined }, 'secret');
  const [events] = own;
  assert.ok(events !== undefined);
  const sendBatch = (batch: number): void =>
    channel.send({
      type: 'batch',
      run: 1,
      batch,
      ids: Int32Array.of(batch),
      publish: Uint8Array.of(1),
      keep: NO_IDS,
      inputs: NO_VALUES,
      constants: NO_VALUES,
      gather: [],
    });
  const heartbeat = (occupied: boolean): void => {
    const link = { latency: 0, incomingBytes: 0, incomingCount: 0, outgoingBytes: 0, outgoingCount: 0 };
    const message: FromWorker = { type: 'heartbeat', sent: 0, answers: 0, link, occupied };
    events.data(encodeMessage(message));
  };
  /** Returns what the process was asked for since the last call. */
  const asked = (): string[] => log.splice(0);
  return { channel, events, sent, sendBatch, heartbeat, asked };
}

test('the next lease is requested before the end of the present one, so that batches do not wait', () => {
  const { events, sendBatch, asked } = openChannel();
  sendBatch(1);
  assert.deepEqual(asked(), ['lease']);
  events.leased();
  assert.deepEqual(asked(), ['batch']);
  events.leaseEnds();
  sendBatch(2);
  assert.deepEqual(asked(), ['lease', 'batch']);
  events.leaseOver();
  sendBatch(3);
  assert.deepEqual(asked(), []);
  events.leased();
  assert.deepEqual(asked(), ['batch']);
  // On another thread, the next lease may begin before this one ends. Then the cluster does not report the end.
  events.leaseEnds();
  events.leased();
  sendBatch(4);
  assert.deepEqual(asked(), ['lease', 'batch']);
  events.leaseOver();
  assert.deepEqual(asked(), ['lease']);
  events.ended(new Error('The test is over.'));
});

test('an idle process returns its lease and requests no other', () => {
  const { events, sendBatch, heartbeat, asked } = openChannel();
  sendBatch(1);
  events.leased();
  heartbeat(false);
  events.leaseEnds();
  assert.deepEqual(asked(), ['lease', 'batch']);
  heartbeat(false);
  assert.deepEqual(asked(), ['release']);
  events.leaseOver();
  assert.deepEqual(asked(), []);
  sendBatch(2);
  assert.deepEqual(asked(), ['lease']);
  events.ended(new Error('The test is over.'));
});

test('messages travel over a direct connection, but not ahead of a file that was sent before', async (context) => {
  const happened = new EventEmitter();
  const { address } = await peers(context, new Map(), {
    server: { onMessages: (socket) => happened.emit('connection', socket) },
  });
  const opened = once(happened, 'connection');
  const { channel, events, sent, asked } = openChannel(() => happened.emit('message'));
  const send = (): void => channel.send({ type: 'clock', sent: 0, remote: 0 });
  events.data(encodeMessage({ type: 'ready', address, pid: 1 } satisfies FromWorker));
  const [connection]: Socket[] = await opened;
  assert.ok(connection !== undefined);
  send();
  assert.deepEqual(asked(), ['batch'], 'the process has not confirmed the connection');
  const received = once(happened, 'message');
  connection.write(encodeMessage({ type: 'call-taken', call: 1 } satisfies FromWorker));
  await received;
  const direct = once(connection, 'data');
  send();
  await direct;
  assert.deepEqual(asked(), []);
  sent.files++;
  send();
  assert.deepEqual(asked(), ['batch'], 'the file travels through the cluster');
  send();
  assert.deepEqual(asked(), []);
  events.ended(new Error('The test is over.'));
});

test('the channel waits for 20 heartbeats before it tries again to connect', async (context) => {
  const server = createServer((socket) => socket.destroy());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  context.after(() => server.close());
  const bound = server.address();
  assert.ok(typeof bound === 'object' && bound !== null);
  const { events, heartbeat } = openChannel();
  let attempts = 0;
  server.on('connection', () => attempts++);
  const address = `tcp://127.0.0.1:${bound.port}`;
  events.data(encodeMessage({ type: 'ready', address, pid: 1 } satisfies FromWorker));
  let heartbeats = 0;
  for (; attempts < 2; heartbeats++) {
    heartbeat(true);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(heartbeats > 20, `${heartbeats} heartbeats`);
  events.ended(new Error('The test is over.'));
});
