// Tests the order of messages on two routes, and that none is lost or received twice when the direct one breaks.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, connect as open, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { encodeMessage } from './messageCodec.js';
import { RoutedMessages } from './routedMessages.js';

/** One side. What it sends on the slow route waits in `slow`. */
class Side {
  readonly slow: Uint8Array[] = [];
  readonly received: unknown[] = [];
  readonly routed = new RoutedMessages(
    (packet) => void this.slow.push(packet),
    (message) => {
      if (message === undefined) return;
      this.received.push(message);
      this.#onMessage();
    },
  );
  #onMessage: () => void = () => undefined;

  send(message: string, isSlow?: boolean): void {
    this.routed.send(encodeMessage(message), isSlow);
  }

  /** Resolves when this many messages have been received. */
  async until(count: number): Promise<void> {
    while (this.received.length < count)
      await new Promise<void>((resolve) => {
        this.#onMessage = resolve;
      });
  }
}

/** Passes on what a side has sent on the slow route. */
function passOn(from: Side, to: Side): void {
  for (const bytes of from.slow.splice(0)) to.routed.receive(bytes);
}

/** Returns both ends of a connection. */
async function sockets(context: TestContext): Promise<[Socket, Socket]> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const one = open(address.port, '127.0.0.1');
  const [other]: Socket[] = await once(server, 'connection');
  assert.ok(other !== undefined);
  context.after(() => {
    one.destroy();
    other.destroy();
    server.close();
  });
  return [one, other];
}

/** Connects both sides directly. Returns the sockets when the program uses its one. */
async function connected(context: TestContext, program: Side, worker: Side): Promise<[Socket, Socket]> {
  const [own, theirs] = await sockets(context);
  program.routed.connect(own, () => undefined);
  const first = once(own, 'data');
  worker.routed.accept(theirs);
  await first;
  return [own, theirs];
}

test('messages keep their order when a direct connection becomes available, and behind a slow message', async (context) => {
  const [program, worker] = [new Side(), new Side()];
  program.send('1');
  await connected(context, program, worker);
  program.send('2');
  program.send('3', true);
  program.send('4');
  worker.send('a');
  await program.until(1);
  assert.deepEqual(program.received, ['a']);
  assert.deepEqual([worker.slow.length, program.slow.length, worker.received], [0, 2, []]);
  passOn(program, worker);
  await worker.until(4);
  assert.deepEqual(worker.received, ['1', '2', '3', '4']);
});

test('unconfirmed messages travel again when the connection breaks, and are received once', async (context) => {
  const [program, worker] = [new Side(), new Side()];
  const [own, theirs] = await connected(context, program, worker);
  program.send('1');
  await worker.until(1);
  theirs.pause();
  program.send('lost');
  // Confirms the first message. Its own confirmation does not arrive.
  worker.send('a');
  await program.until(1);
  const closed = [once(own, 'close'), once(theirs, 'close')];
  theirs.destroy();
  await Promise.all(closed);
  program.send('later');
  assert.deepEqual([program.slow.length, worker.slow.length], [2, 1]);
  passOn(program, worker);
  passOn(worker, program);
  assert.deepEqual(worker.received, ['1', 'lost', 'later']);
  assert.deepEqual(program.received, ['a']);
});

test('another connection replaces a broken one that one side still uses', async (context) => {
  const [program, worker] = [new Side(), new Side()];
  const [, theirs] = await connected(context, program, worker);
  worker.send('a');
  await program.until(1);
  await connected(context, program, worker);
  assert.ok(theirs.destroyed);
  program.send('1');
  worker.send('b');
  passOn(worker, program);
  await Promise.all([worker.until(1), program.until(2)]);
  assert.deepEqual([worker.received, program.received], [['1'], ['a', 'b']]);
});

test('a connection that is silent for 10 s counts as broken, and its messages travel again', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const [program, worker] = [new Side(), new Side()];
  const [own, theirs] = await connected(context, program, worker);
  context.mock.timers.tick(7_000);
  worker.send('a');
  program.send('1');
  await Promise.all([program.until(1), worker.until(1)]);
  context.mock.timers.tick(7_000);
  assert.ok(!own.destroyed);
  theirs.pause();
  program.send('lost');
  const closed = once(own, 'close');
  context.mock.timers.tick(3_000);
  await closed;
  passOn(program, worker);
  assert.deepEqual(worker.received, ['1', 'lost']);
});

test('the caller learns whether a connection was used', async (context) => {
  const [program, worker] = [new Side(), new Side()];
  const [own, theirs] = await sockets(context);
  const unused = new Promise((resolve) => program.routed.connect(own, resolve));
  theirs.destroy();
  assert.equal(await unused, false);
  const [next, other] = await sockets(context);
  const used = new Promise((resolve) => program.routed.connect(next, resolve));
  const first = once(next, 'data');
  worker.routed.accept(other);
  await first;
  other.destroy();
  assert.equal(await used, true);
});
