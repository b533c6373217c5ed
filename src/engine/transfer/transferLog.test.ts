import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TransferLog } from './transferLog.js';

function transfer(start: number): Parameters<TransferLog['add']>[0] {
  return { nbytes: 800, compressed: 500, start, stop: start + 1, keys: [`('x', ${start})`] };
}

describe('TransferLog', () => {
  it('has the five fields of every transfer', () => {
    const log = new TransferLog();
    log.add(transfer(5), 'unix:///tmp/a');
    assert.deepEqual(log.toArray(), [
      { total: 800, compressed: 500, start: 5, stop: 6, keys: ["('x', 5)"], peer: 'unix:///tmp/a' },
    ]);
  });

  it('keeps the newest entries, oldest first', () => {
    const log = new TransferLog(3);
    for (let start = 0; start < 8; start++) log.add(transfer(start), 'peer');
    assert.deepEqual(
      log.toArray().map(({ start }) => start),
      [5, 6, 7],
    );
    const none = new TransferLog(0);
    none.add(transfer(1), 'peer');
    assert.deepEqual(none.toArray(), []);
  });
});
