// Tests which tasks the scheduler sends together, and which results stay in their isolate.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KIND_PRIVATE, KIND_VALUE } from '../../protocol/resultKinds.js';
import type { Dispatch, Instruction, SchedulerEvent } from './events.js';
import { Scheduler } from './scheduler.js';
import { type Edges, toGraph } from './schedulerGraphs.test.support.js';
import { validateState } from './validate.test.support.js';

for (const seconds of [0, 1])
  test(`the results of a chain of tasks of ${seconds === 0 ? 'unknown length' : '1 s'} stay in their isolate`, () => {
    const graph = toGraph([[], [0], [1], [2], [2]], [3, 4]);
    const scheduler = new Scheduler(graph, { expected: new Float64Array(4).fill(seconds) });
    const published = new Set<number>();
    const run = (instructions: readonly Instruction[]): void => {
      for (const instruction of instructions) {
        if (instruction.type !== 'dispatch') continue;
        for (const [at, id] of instruction.ids.entries())
          if (instruction.publish[at] === 1) published.add(id);
        for (const id of instruction.keep) published.delete(id);
      }
    };
    run(scheduler.handle({ type: 'worker-added', worker: 0 }));
    for (let id = 0; id < 5; id++) {
      const kinds = Uint8Array.of(published.has(id) ? KIND_VALUE : KIND_PRIVATE);
      const ids = Int32Array.of(id);
      run(
        scheduler.handle({
          type: 'tasks-finished',
          worker: 0,
          ids,
          from: 0,
          to: 1,
          kinds,
          seconds: Float64Array.of(seconds),
        }),
      );
    }
    assert.ok(scheduler.isDone);
    assert.deepEqual([...published], [2, 3, 4], 'two tasks need the result of task 2');
  });

test('tasks of unknown length travel in small batches, short tasks in large ones', () => {
  const edges: Edges = Array.from({ length: 30_000 }, () => []);
  const scheduler = new Scheduler(toGraph(edges, [...edges.keys()]));
  const size = (instructions: readonly Instruction[]): number =>
    Math.max(
      0,
      ...instructions.map((instruction) => (instruction.type === 'dispatch' ? instruction.ids.length : 0)),
    );
  const first = scheduler.handle({ type: 'worker-added', worker: 0 });
  assert.ok(size(first) <= 8, `first batch of ${size(first)}`);
  let largest = 0;
  let queue = first.filter((instruction): instruction is Dispatch => instruction.type === 'dispatch');
  for (let round = 0; round < 20 && queue.length > 0; round++) {
    const { ids } = queue.shift()!;
    const seconds = new Float64Array(ids.length).fill(1e-7);
    const next = scheduler.handle({
      type: 'tasks-finished',
      worker: 0,
      ids,
      from: 0,
      to: ids.length,
      kinds: null,
      seconds,
    });
    largest = Math.max(largest, size(next));
    queue = queue.concat(
      next.filter((instruction): instruction is Dispatch => instruction.type === 'dispatch'),
    );
  }
  assert.ok(largest > 1000, `largest batch of ${largest}`);
});

test('tasks of several priorities that may be long are sent one at a time, the highest priority first', () => {
  const sent: number[][] = [];
  const priorities = Float64Array.of(0, 0, 7, 5, 0, 0, 9);
  const edges: Edges = [[], [], [], [0], [], [], [0]];
  const scheduler = new Scheduler({ ...toGraph(edges, [...edges.keys()]), priorities });
  const handle = (event: SchedulerEvent): void => {
    for (const each of scheduler.handle(event)) if (each.type === 'dispatch') sent.push([...each.ids]);
    validateState(scheduler.state);
  };
  const finish = (id: number, seconds: number): void =>
    handle({
      type: 'tasks-finished',
      worker: 0,
      ids: Int32Array.of(id),
      from: 0,
      to: 1,
      kinds: null,
      seconds: Float64Array.of(seconds),
    });
  handle({ type: 'worker-added', worker: 0 });
  assert.deepEqual(sent, [[2]]);
  finish(2, 1);
  assert.deepEqual(sent.splice(0), [[2], [0]]);
  // Tasks 3 and 6 need task 0 and call the same function, which is short. The other functions may be long.
  finish(0, 1e-6);
  assert.deepEqual(sent.splice(0), [[6, 3]]);
});
