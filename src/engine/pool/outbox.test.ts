import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Outbox } from './outbox.js';

describe('postponed messages', () => {
  let sent: unknown[];
  let outbox: Outbox<string>;

  beforeEach(() => {
    sent = [];
    outbox = new Outbox((message) => {
      if (message === 'no copy' || (typeof message === 'object' && message.messages.includes('no copy')))
        throw new DOMException('no copy', 'DataCloneError');
      sent.push(typeof message === 'string' ? message : message.messages);
    });
  });

  it('travel with the next one, or at the end of the turn of the event loop', async () => {
    outbox.postLater('a');
    outbox.postLater('b');
    outbox.post('c');
    await setImmediate();
    assert.deepEqual(sent, [['a', 'b', 'c']]);
    outbox.postLater('d');
    assert.equal(sent.length, 1);
    await setImmediate();
    assert.deepEqual(sent, [['a', 'b', 'c'], 'd']);
  });

  it('are held until they are sent', () => {
    outbox.postLater('a');
    outbox.postLater('b');
    assert.equal(outbox.isHolding, true);
    outbox.flush();
    assert.equal(outbox.isHolding, false);
    assert.deepEqual(sent, [['a', 'b']]);
  });

  it('stay postponed if the next one cannot be copied', () => {
    outbox.postLater('a');
    assert.throws(() => outbox.post('no copy'), /no copy/);
    assert.equal(outbox.isHolding, true);
    outbox.post('b');
    assert.deepEqual(sent, [['a', 'b']]);
  });
});
