// Tests which tasks the scheduler sends together, and which results stay in their isolate.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KIND_PRIVATE, KIND_VALUE } from '../../protocol/resultKinds.js';
import type { Dispatch, Instruction, SchedulerEvent } from './events.js';
import { Scheduler } from './scheduler.js';
import { type Edges, finished, requestedOf, toGraph } from './schedulerGraphs.test.support.js';
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
      const kind = published.has(id) ? KIND_VALUE : KIND_PRIVATE;
      run(scheduler.handle(finished(0, id, kind, seconds)));
    }
    assert.ok(scheduler.isDone);
    assert.deepEqual([...published], [2, 3, 4], 'two tasks need the result of task 2');
  });

/** A local run of which each task is expected to take 10 ms. Results are private unless a dispatch publishes them. */
class LocalRun {
  readonly scheduler: Scheduler;
  readonly published = new Set<number>();
  /** Worker and inputs of each task that was sent. */
  readonly sent = new Map<number, { readonly worker: number; readonly inputs: readonly number[] }>();
  readonly fetched: number[] = [];

  constructor(edges: Edges) {
    const expected = new Float64Array(4).fill(10e-3);
    this.scheduler = new Scheduler(toGraph(edges, requestedOf(edges, [])), { expected });
  }

  handle(event: SchedulerEvent): void {
    const instructions = this.scheduler.handle(event);
    validateState(this.scheduler.state);
    for (const instruction of instructions) {
      if (instruction.type === 'fetch') this.fetched.push(...instruction.ids);
      if (instruction.type !== 'dispatch') continue;
      const { worker, ids, publish, keep, inputs } = instruction;
      for (const [at, id] of ids.entries()) {
        this.sent.set(id, { worker, inputs: [...inputs] });
        if (publish[at] === 1) this.published.add(id);
      }
      for (const id of keep) this.published.delete(id);
    }
  }

  finish(id: number): void {
    const { worker = -1 } = this.sent.get(id) ?? {};
    this.handle(finished(worker, id, this.published.has(id) ? KIND_VALUE : KIND_PRIVATE, 10e-3));
  }
}

test('results that a task of the same worker joins stay in their isolate', () => {
  // The first worker has tasks 0 and 1 when the second one comes.
  const run = new LocalRun([[], [], [], [], [], [2, 3, 4], [], [], [], [6, 7, 8], [5, 9]]);
  run.handle({ type: 'worker-added', worker: 0 });
  run.handle({ type: 'worker-added', worker: 1 });
  for (const id of [0, 1, 2, 6, 3, 7, 4, 8, 5, 9, 10]) run.finish(id);
  assert.ok(run.scheduler.isDone);
  assert.equal(run.sent.get(5)?.worker, 1);
  assert.equal(run.sent.get(9)?.worker, 0);
  assert.deepEqual([...run.published], [0, 1, 5, 9, 10]);
  assert.deepEqual(run.fetched, []);
});

test('a result that waited in its isolate is fetched if another worker has computed what it is joined with', () => {
  const run = new LocalRun([[], [], [], [], [0, 1, 2, 3]]);
  run.handle({ type: 'worker-added', worker: 0 });
  run.finish(0);
  run.handle({ type: 'worker-added', worker: 1 });
  assert.equal(run.sent.get(3)?.worker, 1);
  for (const id of [3, 1, 2]) run.finish(id);
  assert.deepEqual(run.fetched, [1, 2], 'the tasks that were sent before');
  run.handle({ type: 'results-fetched', worker: 0, ids: [1, 2], missing: [] });
  assert.deepEqual(run.fetched, [1, 2, 0]);
  assert.ok(!run.sent.has(4));
  run.handle({ type: 'results-fetched', worker: 0, ids: [0], missing: [] });
  assert.ok(run.sent.has(4));
  run.finish(4);
  assert.ok(run.scheduler.isDone);
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
  const finish = (id: number, seconds: number): void => handle(finished(0, id, KIND_VALUE, seconds));
  handle({ type: 'worker-added', worker: 0 });
  assert.deepEqual(sent, [[2]]);
  finish(2, 1);
  assert.deepEqual(sent.splice(0), [[2], [0]]);
  // Tasks 3 and 6 need task 0 and call the same function, which is short. The other functions may be long.
  finish(0, 1e-6);
  assert.deepEqual(sent.splice(0), [[6, 3]]);
});
