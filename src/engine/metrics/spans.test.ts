import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../base/properties.test.support.js';
import {
  TASK_CANCELLED,
  TASK_ERRED,
  TASK_LOST,
  TASK_MEMORY,
  TASK_SKIPPED,
} from '../../protocol/clusterObserver.js';
import { computationOf, metricOf, runsOf, workerOf } from './observed.test.support.js';
import { Spans } from './spans.js';

const ALICE = ['Alice'];
const LOAD = ['Alice', 'load'];
const BOB = ['Bob'];

function idle(spans: Spans, tags: readonly string[]): number | undefined {
  const metrics = spans.get(tags)?.cumulativeWorkerMetrics ?? new Map();
  return new Map([...metrics].map(([key, value]) => [key.join(), value])).get('execute,N/A,idle,seconds');
}

test('a span counts tasks, states, bytes and times, and its parent includes them', () => {
  const spans = new Spans(() => 200);
  spans.workerAdded(workerOf(2, 90));
  const computation = computationOf([LOAD, LOAD, ALICE, BOB], { submitted: 100, code: 'main.ts:3' });
  spans.computationAdded(computation);
  spans.tasksEnded(runsOf(computation, [0], { start: 101, stop: 102 }));
  spans.tasksEnded(runsOf(computation, [2], { start: 102, stop: 105, state: TASK_ERRED }));
  const alice = spans.get(ALICE);
  assert.deepEqual(alice?.children, ['Alice/load']);
  assert.equal(alice?.tasks, 3);
  assert.deepEqual(alice?.states, { pending: 1, memory: 1, erred: 1, cancelled: 0, skipped: 0 });
  assert.equal(alice?.nbytes, 8);
  assert.deepEqual([alice?.enqueued, alice?.start, alice?.stop, alice?.duration], [100, 101, 105, 4]);
  assert.equal(alice?.done, false);
  assert.deepEqual(alice?.code, ['main.ts:3']);
  assert.deepEqual(spans.get(LOAD)?.states, { pending: 1, memory: 1, erred: 0, cancelled: 0, skipped: 0 });
  assert.equal(spans.get(['Carol']), undefined);
  assert.equal(spans.get()?.tasks, 4);
});

test('time of a span with tasks that no metric accounts for is idle', () => {
  const spans = new Spans(() => 999);
  spans.workerAdded(workerOf(2, 90));
  const computation = computationOf([LOAD, BOB], { submitted: 100 });
  spans.computationAdded(computation);
  spans.workerAdded(workerOf(2, 104, 1));
  spans.tasksEnded(runsOf(computation, [0], { start: 101, stop: 110 }));
  spans.metric(metricOf('Alice/load', 'thread-cpu', 5));
  spans.metric(metricOf('Alice/load', 'bytes read', 1000, 'bytes'));
  // Two threads for ten seconds and two more for six.
  assert.equal(spans.get(LOAD)?.activeCpuSeconds, 32);
  assert.equal(idle(spans, LOAD), 27);
  assert.equal(idle(spans, ALICE), 27);
  // Bob's task has not ended: his time continues.
  assert.equal(spans.get(BOB)?.activeCpuSeconds, 2 * (999 - 100) + 2 * (999 - 104));
});

test('time between two computations of a span does not count', () => {
  const spans = new Spans(() => 999);
  spans.workerAdded(workerOf(1, 0));
  for (const submitted of [100, 200]) {
    const computation = computationOf([LOAD], { submitted });
    spans.computationAdded(computation);
    spans.tasksEnded(runsOf(computation, [0], { start: submitted, stop: submitted + 3 }));
  }
  assert.equal(spans.get(LOAD)?.activeCpuSeconds, 6);
  assert.equal(spans.get(LOAD)?.done, true);
});

test('a task that is lost and runs again is one task', () => {
  const spans = new Spans(() => 200);
  const computation = computationOf([LOAD]);
  spans.computationAdded(computation);
  spans.tasksEnded(runsOf(computation, [0], { start: Number.NaN, stop: Number.NaN, state: TASK_LOST }));
  spans.tasksEnded(runsOf(computation, [0], { start: 1, stop: 2 }));
  spans.tasksEnded(runsOf(computation, [0], { start: 3, stop: 4 }));
  assert.deepEqual(spans.get(LOAD)?.states, { pending: 0, memory: 1, erred: 0, cancelled: 0, skipped: 0 });
  assert.equal(spans.get(LOAD)?.lostRuns, 1);
  assert.deepEqual(spans.get(LOAD)?.prefixes.get('inc'), { count: 2, seconds: 2 });
});

test('tasks of a cancelled computation do not stay pending', () => {
  const spans = new Spans(() => 105);
  spans.workerAdded(workerOf(1, 0));
  const computation = computationOf([LOAD, LOAD]);
  spans.computationAdded(computation);
  spans.tasksEnded(runsOf(computation, [0], { start: 101, stop: 102 }));
  spans.computationForgotten(computation);
  assert.deepEqual(spans.get(LOAD)?.states, { pending: 0, memory: 1, erred: 0, cancelled: 1, skipped: 0 });
  assert.equal(spans.get(LOAD)?.activeCpuSeconds, 5);
});

test('a task that ended too many workers counts as failed, and its dependents as skipped', () => {
  const spans = new Spans(() => 105);
  const computation = computationOf([LOAD, LOAD, LOAD]);
  spans.computationAdded(computation);
  const lost = { start: Number.NaN, stop: Number.NaN, state: TASK_LOST };
  for (let run = 0; run < 3; run++) spans.tasksEnded(runsOf(computation, [0], lost));
  spans.tasksDropped(computation, [0], TASK_ERRED);
  spans.tasksEnded(runsOf(computation, [1], { ...lost, state: TASK_CANCELLED }));
  spans.tasksDropped(computation, [1, 2], TASK_SKIPPED);
  const states = { pending: 0, memory: 0, erred: 1, cancelled: 0, skipped: 2 };
  assert.deepEqual(spans.get(LOAD)?.states, states);
  assert.equal(spans.get(LOAD)?.done, true);
  spans.computationForgotten(computation);
  assert.deepEqual(spans.get(LOAD)?.states, states);
});

test('children sum into parents, and every task has one state', () => {
  const tags = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 });
  const ending = fc.constantFrom(TASK_MEMORY, TASK_ERRED, undefined);
  fc.assert(
    fc.property(fc.array(fc.tuple(tags, ending), { minLength: 1, maxLength: 20 }), (tasks) => {
      const spans = new Spans(() => 200);
      const computation = computationOf(tasks.map(([span]) => span));
      spans.computationAdded(computation);
      for (const [id, [, state]] of tasks.entries())
        if (state !== undefined)
          spans.tasksEnded(runsOf(computation, [id], { start: id, stop: id + 1, state }));
      for (const { id, name } of spans.find([])) {
        const own = tasks.filter(([span]) => name.every((tag, depth) => span[depth] === tag));
        const summary = spans.get(name);
        assert.equal(summary?.tasks, own.length, id);
        const { pending = 0, memory = 0, erred = 0, cancelled = 0 } = summary?.states ?? {};
        assert.equal(pending + memory + erred + cancelled, own.length);
        assert.equal(pending, own.filter(([, state]) => state === undefined).length);
      }
      assert.deepEqual(
        spans.find(['a']).map(({ id }) => id),
        spans.ids.filter((id) => id === 'a' || id.startsWith('a/')),
      );
    }),
  );
});
