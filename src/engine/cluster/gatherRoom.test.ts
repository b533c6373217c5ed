import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LongpoleError } from '../../base/errors.js';
import { GatherRoom } from './gatherRoom.js';

test('results that the machine has no memory for are not gathered, and the error names them', (context) => {
  context.mock.method(process, 'availableMemory', () => 1e9);
  const wanted = [
    { key: 'a', nbytes: 3e8 },
    { key: 'b', nbytes: 7e8 },
  ];
  const room = new GatherRoom();
  assert.throws(
    () => room.checkMemory(wanted, 0),
    (error) => {
      assert.ok(error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_MEMORY_LIMIT');
      assert.match(
        error.message,
        /^2 results of 1000 MB .*: 900 MB of memory are free\. The largest is 'b' with 700 MB\./,
      );
      return true;
    },
  );
  // Threads have a part of them in this very process.
  room.checkMemory(wanted, 2e8);
});
