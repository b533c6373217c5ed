import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LinkSpeed, MEASURED_SPEEDS } from './linkSpeed.js';
import { TransferLog } from './transferLog.js';

function transfer(start: number): Parameters<TransferLog['add']>[0] {
  return { nbytes: 800, compressed: 500, start, stop: start + 1, keys: [`('x', ${start})`] };
}

describe('TransferLog', () => {
  it('has the five facts of every transfer', () => {
    const log = new TransferLog();
    log.add(transfer(5), 'unix:///tmp/a');
    assert.deepEqual(log.toArray(), [
      { total: 800, compressed: 500, start: 5, stop: 6, keys: ["('x', 5)"], peer: 'unix:///tmp/a' },
    ]);
  });

  it('keeps the newest, the oldest first', () => {
    const log = new TransferLog(3);
    for (let start = 0; start < 8; start++) log.add(transfer(start), 'peer');
    assert.deepEqual(
      [...log].map(({ start }) => start),
      [5, 6, 7],
    );
    assert.deepEqual([log.length, log.count], [3, 8]);
    const none = new TransferLog(0);
    none.add(transfer(1), 'peer');
    assert.deepEqual([none.length, none.count], [0, 1]);
  });
});

describe('LinkSpeed', () => {
  it('compresses where the bytes travel slower than they are compressed', () => {
    assert.ok(!new LinkSpeed().couldPay());
    const slow = new LinkSpeed({ ...MEASURED_SPEEDS, link: 50e6 });
    assert.ok(slow.couldPay() && slow.pays(0.5) && !slow.pays(0.8));
    const middle = new LinkSpeed({ ...MEASURED_SPEEDS, link: 250e6 });
    assert.ok(middle.pays(0.1) && !middle.pays(0.6));
  });

  it('follows what is measured, not what is too short to tell', () => {
    const speed = new LinkSpeed();
    for (let i = 0; i < 50; i++) speed.travelled(1000, 1);
    assert.equal(speed.bandwidth, MEASURED_SPEEDS.link);
    for (let i = 0; i < 50; i++) speed.travelled(1e8, 2);
    assert.ok(Math.abs(speed.bandwidth / 50e6 - 1) < 0.01);
    assert.ok(speed.pays(0.5));
    for (let i = 0; i < 50; i++) speed.compressed(1e8, 4);
    assert.ok(!speed.couldPay());
  });
});
