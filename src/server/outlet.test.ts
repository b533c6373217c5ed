import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { HeldSocket } from './dashboard.test.support.js';
import { DEFAULT_LIMITS, Outlet } from './outlet.js';

function* pieces(count: number, size: number): Generator<string[], void> {
  for (let i = 0; i < count; i++) yield ['x'.repeat(size)];
}

describe('an outlet', () => {
  it('reads a stream only while the buffer has room', async () => {
    const socket = new HeldSocket();
    const outlet = new Outlet(socket, { ...DEFAULT_LIMITS, maxBuffered: 1000 });
    let done = 0;
    outlet.stream(pieces(50, 100), () => done++);
    // A slow machine needs several turns.
    while (!outlet.isFull) await setImmediate();
    assert.equal(socket.sent.length, 11);
    assert.ok(outlet.isFull && outlet.isStreaming);
    outlet.pump();
    assert.equal(socket.sent.length, 11);
    while (outlet.isStreaming) {
      socket.bufferedAmount = 0;
      outlet.pump();
      await setImmediate();
      assert.ok(socket.bufferedAmount <= 1100);
    }
    assert.deepEqual([socket.sent.length, done], [50, 1]);
    assert.equal(socket.ended, '');
  });

  it('ends the connection of a page that reads nothing, but not of a slow page', () => {
    const socket = new HeldSocket();
    const outlet = new Outlet(socket, { ...DEFAULT_LIMITS, stuckMs: 0 });
    assert.equal(outlet.dropIfStuck(), false);
    outlet.send('abc');
    socket.bufferedAmount = 2;
    outlet.dropIfStuck();
    assert.equal(socket.ended, 'terminated');

    const slow = new HeldSocket();
    const patient = new Outlet(slow, { ...DEFAULT_LIMITS, stuckMs: 1e9 });
    for (let left = 100; left > 0; left--) {
      slow.bufferedAmount = left;
      assert.equal(patient.dropIfStuck(), false);
    }
    assert.equal(slow.ended, '');
  });

  it('notifies the page if the stream fails, and ends the connection', async () => {
    const socket = new HeldSocket();
    const outlet = new Outlet(socket, DEFAULT_LIMITS);
    const failing = function* (): Generator<string[], void> {
      yield ['first'];
      throw new Error('the file is gone');
    };
    outlet.stream(failing(), () => assert.fail('it has not ended well'));
    // A stream that takes longer than a slice continues in the next turn.
    while (outlet.isStreaming) await setImmediate();
    assert.deepEqual(socket.sent, [
      'first',
      '{"type":"closed","reason":"the file is gone","complete":false}',
    ]);
    assert.equal(socket.ended, 'closed 1011');
    assert.ok(!outlet.isStreaming);
  });
});
