// Cancelled results, and the tasks that use them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  add,
  addUser,
  addWorkers,
  finish,
  handle,
  only,
  scheduler,
  sent,
} from './clusterPolicies.test.support.js';

test('cancelling a finished result fails the waiting and the running tasks of other graphs that use it', () => {
  addWorkers('a');
  const source = add([[]]).segment;
  finish(0, source.base);
  const other = add([[]]).segment;
  const imports = new Map([
    [0, source.base],
    [1, other.base],
  ]);
  const waiting = add([[], [], [0, 1]], {}, { imports }).segment;
  const running = addUser(source);
  assert.deepEqual(sent(running.instructions), [[0, running.segment.base + 1]]);
  const ids = [source.base];
  const instructions = handle({ type: 'tasks-cancelled', ids });
  handle({ type: 'results-unwanted', ids });
  for (const id of [waiting.base + 2, running.segment.base + 1])
    assert.equal(scheduler.stateName(id), 'erred');
  assert.deepEqual([...only(instructions, 'cancel')[0]!.ids], [running.segment.base + 1]);
  assert.deepEqual(sent(finish(0, other.base)), []);
});
