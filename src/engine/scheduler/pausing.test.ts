// What the scheduler sends to workers whose memory is full, and what becomes of tasks that can run nowhere.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  add,
  addUser,
  addWorkers,
  finish,
  handle,
  newScheduler,
  only,
  scatter,
  scheduler,
  sent,
} from './clusterPolicies.test.support.js';

test('a paused worker is sent nothing, and what waited for it goes elsewhere', () => {
  addWorkers('a', 'b');
  const data = scatter(1, 1e9);
  const busy = add([[], [], []], { workers: new Set(['b']) }).segment;
  const user = addUser(data).segment;
  assert.deepEqual(sent(handle({ type: 'worker-paused', worker: 1, paused: true })), [[0, user.base + 1]]);
  handle({ type: 'tasks-stolen', worker: 1, ids: [] });
  assert.deepEqual(sent(finish(1, busy.base)), []);
  // The one that is with nobody may run on no other worker, and nothing may hang.
  assert.deepEqual(sent(finish(1, busy.base + 1)), [[1, busy.base + 2]]);
});

test('what a paused worker has not begun is taken back', () => {
  newScheduler({ limits: { maxTasks: 3 } });
  addWorkers('a');
  const { segment, instructions } = add([[], [], [], []]);
  const ids = sent(instructions).map(([, id]) => id);
  assert.ok(ids.length > 1);
  const steals = only(handle({ type: 'worker-paused', worker: 0, paused: true }), 'steal');
  assert.deepEqual(
    steals.map((steal) => [...steal.ids]),
    [ids.slice(1).reverse()],
  );
  handle({ type: 'tasks-stolen', worker: 0, ids: ids.slice(1).reverse() });
  // One at a time from here on.
  for (let id = segment.base; id < segment.base + 3; id++)
    assert.deepEqual(sent(finish(0, id)), [[0, id + 1]]);
});

test('a full worker gets nothing, and what nobody else may run is stuck once nothing runs', () => {
  addWorkers('a', 'b');
  for (const worker of [0, 1]) handle({ type: 'worker-paused', worker, paused: true, full: true });
  const { segment, instructions } = add([[], [], [0]], { workers: new Set(['a']) });
  const { base } = segment;
  assert.deepEqual(sent(instructions), []);
  assert.deepEqual(scheduler.stuckTasks(), [base, base + 1]);
  // A worker that has room is no help to tasks that it may not run.
  handle({ type: 'worker-paused', worker: 1, paused: false });
  assert.deepEqual(scheduler.stuckTasks(), [base, base + 1]);
  const other = add([[]]);
  assert.deepEqual(sent(other.instructions), [[1, other.segment.base]]);
  assert.deepEqual(scheduler.stuckTasks(), [], 'what runs may release results');
  finish(1, other.segment.base);
  const failed = only(handle({ type: 'tasks-stuck', ids: scheduler.stuckTasks() }), 'erred');
  assert.deepEqual(
    failed.map(({ ids, because }) => [[...ids], because]),
    [
      [[base, base + 2], base],
      [[base + 1], base + 1],
    ],
  );
  assert.deepEqual(scheduler.stuckTasks(), []);
});

test('a full worker that has room again gets one task, and all once it goes on', () => {
  addWorkers('a');
  handle({ type: 'worker-paused', worker: 0, paused: true, full: true });
  const { segment, instructions } = add([[], [], []]);
  assert.deepEqual(sent(instructions), []);
  const { base } = segment;
  assert.deepEqual(sent(handle({ type: 'worker-paused', worker: 0, paused: true, full: false })), [
    [0, base],
  ]);
  assert.deepEqual(sent(handle({ type: 'worker-paused', worker: 0, paused: false })), [[0, base + 1]]);
});

test('what waits for a full worker goes to one that is only paused', () => {
  addWorkers('a', 'b');
  const data = scatter(1, 1e9);
  for (const worker of [0, 1]) handle({ type: 'worker-paused', worker, paused: true, full: true });
  const { segment, instructions } = addUser(data);
  assert.deepEqual(sent(instructions), []);
  assert.deepEqual(sent(handle({ type: 'worker-paused', worker: 0, paused: true })), [[0, segment.base + 1]]);
});

test('when all workers are paused, each takes one task at a time', () => {
  addWorkers('a', 'b');
  for (const worker of [0, 1]) handle({ type: 'worker-paused', worker, paused: true });
  const { segment, instructions } = add([[], [], [], []]);
  const { base } = segment;
  assert.deepEqual(sent(instructions), [
    [0, base],
    [1, base + 1],
  ]);
  assert.deepEqual(sent(finish(1, base + 1)), [[1, base + 2]]);
  assert.deepEqual(sent(handle({ type: 'worker-paused', worker: 0, paused: false })), [[0, base + 3]]);
});
