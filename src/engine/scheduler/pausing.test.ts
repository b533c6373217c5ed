// Tests for workers whose memory is full, and for tasks that no worker can run.
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
import { desiredWorkers } from './desiredWorkers.js';

test('a paused worker is sent nothing, and the tasks that waited for it go to other workers', () => {
  addWorkers('a', 'b');
  const data = scatter(1, 1e9);
  const busy = add([[], [], []], { workers: new Set(['b']) }).segment;
  const user = addUser(data).segment;
  assert.deepEqual(sent(handle({ type: 'worker-paused', worker: 1, paused: true })), [[0, user.base + 1]]);
  handle({ type: 'tasks-stolen', worker: 1, ids: [] });
  assert.deepEqual(sent(finish(1, busy.base)), []);
  // The task without a worker may run on no other worker, and must not hang.
  assert.deepEqual(sent(finish(1, busy.base + 1)), [[1, busy.base + 2]]);
});

test('tasks that a paused worker has not started are taken back', () => {
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
  // One task at a time from here on.
  for (let id = segment.base; id < segment.base + 3; id++)
    assert.deepEqual(sent(finish(0, id)), [[0, id + 1]]);
});

test('a full worker gets nothing, and tasks that only it may run are stuck once nothing runs', () => {
  addWorkers('a', 'b');
  for (const worker of [0, 1]) handle({ type: 'worker-paused', worker, paused: true, full: true });
  const { segment, instructions } = add([[], [], [0]], { workers: new Set(['a']) });
  const { base } = segment;
  assert.deepEqual(sent(instructions), []);
  assert.deepEqual(scheduler.stuckTasks(), [base, base + 1]);
  // A worker with room does not help tasks that it may not run.
  handle({ type: 'worker-paused', worker: 1, paused: false });
  assert.deepEqual(scheduler.stuckTasks(), [base, base + 1]);
  const other = add([[]]);
  assert.deepEqual(sent(other.instructions), [[1, other.segment.base]]);
  assert.deepEqual(scheduler.stuckTasks(), [], 'running tasks may release results');
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

test('a full worker that has room again gets one task, and all tasks once it resumes', () => {
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

test('tasks that wait for a full worker go to a paused one', () => {
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

test('tasks that wait for a worker that leaves go to another one, even if both are paused', () => {
  addWorkers('a', 'b');
  const data = scatter(1, 1e9);
  add([[]], { workers: new Set(['b']) });
  for (const worker of [0, 1]) handle({ type: 'worker-paused', worker, paused: true });
  const waiting = addUser(data);
  assert.deepEqual(sent(waiting.instructions), []);
  assert.deepEqual(sent(handle({ type: 'worker-paused', worker: 1, paused: true, leaving: true })), [
    [0, waiting.segment.base + 1],
  ]);
  const { base } = addUser(data).segment;
  assert.deepEqual(sent(finish(0, waiting.segment.base + 1)), [[0, base + 1]]);
});

test('a task that waits for a worker that leaves counts as work for another worker', () => {
  addWorkers('a');
  const data = scatter(0, 1e9);
  handle({ type: 'worker-paused', worker: 0, paused: true, leaving: true });
  assert.deepEqual(sent(addUser(data).instructions), []);
  assert.equal(desiredWorkers(scheduler.state, { leaving: new Set([0]) }), 1);
});

test('a worker that leaves gets no further task, unless its seceded task may wait for it', () => {
  addWorkers('a');
  const { base } = add([[], [], []]).segment;
  const leaving = handle({ type: 'worker-paused', worker: 0, paused: true, leaving: true });
  for (const { ids } of only(leaving, 'steal'))
    assert.deepEqual(sent(handle({ type: 'tasks-stolen', worker: 0, ids: [...ids] })), []);
  const batch = scheduler.state.batchOf[base]!;
  assert.deepEqual(sent(handle({ type: 'task-seceded', worker: 0, id: base, batch })), [[0, base + 1]]);
  assert.deepEqual(sent(finish(0, base)), []);
  assert.deepEqual(sent(finish(0, base + 1)), []);
});
