import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LongpoleError } from '../../base/errors.js';
import { GatherRoom } from './gatherRoom.js';

test('a gather that exceeds the free memory fails with an error that names the largest result', (context) => {
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
        /^2 results of 1000 MB .* only 900 MB of memory are free\. The largest is 'b' with 700 MB\./,
      );
      return true;
    },
  );
  // Results of threads already lie in this process.
  room.checkMemory(wanted, 2e8);
});
