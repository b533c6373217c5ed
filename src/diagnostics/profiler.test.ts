import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Graph, Keys } from '../protocol/graph.js';
import type { RunState } from '../protocol/runObserver.js';
import { Callback } from './callback.js';
import { type FakeOptions, fakeGet } from './fakeEngine.test.support.js';
import { Profiler } from './profiler.js';

const add = (a: number, b: number): number => a + b;
const mul = (a: number, b: number): number => a * b;
const div = (a: number, b: number): number => {
  if (b === 0) throw new Error('division by zero');
  return a / b;
};
const graph: Graph = { a: 1, b: 2, c: [add, 'a', 'b'], d: [mul, 'a', 'b'], e: [mul, 'c', 'd'] };
const smaller: Graph = new Map<string, unknown>([
  ['x', [add, 1, 2]],
  ['y', [add, 'x', 'x']],
]);

describe('Profiler', () => {
  it('records key, task, times and worker of every task', () => {
    using prof = new Profiler();
    assert.deepEqual(fakeGet(graph, 'e', { startTime: 100, batch: 2 }), [6]);
    assert.deepEqual(prof.results, [
      { key: 'c', task: [add, 'a', 'b'], startTime: 100, endTime: 101, workerId: 'fake-0' },
      { key: 'd', task: [mul, 'a', 'b'], startTime: 101, endTime: 102, workerId: 'fake-0' },
      { key: 'e', task: [mul, 'c', 'd'], startTime: 102, endTime: 103, workerId: 'fake-1' },
    ]);
    assert.equal(prof.results, prof.results, 'the same array if there are no new results');
    prof.clear();
    assert.deepEqual(prof.results, []);
  });

  it('keeps the tasks that had finished before an error', () => {
    using prof = new Profiler();
    const failing: Graph = { x: [div, 1, 1], y: [div, 'x', 2], z: [div, 'y', 0] };
    assert.throws(() => fakeGet(failing, 'z'), /division by zero/);
    assert.deepEqual(
      prof.results.map(({ key }) => key),
      ['x', 'y'],
    );
  });

  it('accumulates the runs of a block, and clears them in the next block', () => {
    const prof = new Profiler();
    {
      using active = prof;
      void active;
      for (const [dsk, key] of [
        [graph, 'e'],
        [smaller, 'y'],
        [graph, 'e'],
      ] as const)
        fakeGet(dsk, key);
    }
    assert.equal(prof.results.length, 3 + 2 + 3);
    {
      using active = prof;
      assert.equal(active.results.length, 8, 'results are kept until the first run of the block');
      fakeGet(smaller, 'y');
    }
    assert.deepEqual(
      prof.results.map(({ task }) => task),
      [
        [add, 1, 2],
        [add, 'x', 'x'],
      ],
    );
  });

  it('accumulates results while registered', () => {
    const prof = new Profiler();
    prof.register();
    try {
      fakeGet(graph, 'e');
      const first = prof.results;
      fakeGet(graph, 'e');
      assert.equal(prof.results.length, 2 * first.length);
      assert.deepEqual(prof.results.slice(0, 3), first);
    } finally {
      prof.unregister();
    }
  });

  it('shows and clears a run in progress', () => {
    const prof = new Profiler();
    const seen: string[][] = [];
    const look = new Callback({
      pretask: (key) => {
        seen.push(prof.results.map((result) => result.key));
        if (key === 'd') prof.clear();
      },
    });
    fakeGet(graph, 'e', { callbacks: [prof, look], batch: 1 });
    assert.deepEqual(seen, [[], ['c'], ['d']]);
    assert.deepEqual(
      prof.results.map(({ key }) => key),
      ['d', 'e'],
    );
  });

  it('shares one recording with other profilers of the same run', () => {
    const one = new Profiler();
    const two = new Profiler();
    fakeGet(graph, 'e', { callbacks: [one, two] });
    assert.deepEqual(one.results, two.results);
    assert.equal(one.results.length, 3);
  });

  it('may be subclassed with hooks', () => {
    const posttasks: unknown[] = [];
    class Printing extends Profiler {
      protected override _posttask(
        key: string,
        result: unknown,
        dsk: Graph,
        state: RunState,
        id: string,
      ): void {
        super._posttask(key, result, dsk, state, id);
        posttasks.push([key, result]);
      }
    }
    using prof = new Printing();
    fakeGet(graph, 'e');
    assert.deepEqual(posttasks, [
      ['c', 3],
      ['d', 2],
      ['e', 6],
    ]);
    assert.equal(prof.results.length, 3);
  });
});

describe('Profiler made from a scheduler', () => {
  const scheduler = (dsk: Graph, keys: Keys, options?: FakeOptions): unknown[] =>
    fakeGet(dsk, [keys].flat().map(String), options);

  it('runs the scheduler with the options and records the run', () => {
    const started: string[] = [];
    const prof = new Profiler(scheduler);
    const callbacks = [new Callback({ start: () => started.push('start') })];
    assert.deepEqual(prof.get(graph, ['e'], { callbacks, batch: 1, workers: 3 }), [6]);
    assert.deepEqual(started, ['start']);
    assert.deepEqual(
      prof.results.map(({ workerId }) => workerId),
      ['fake-0', 'fake-1', 'fake-2'],
    );
  });

  it('throws an error if the scheduler is missing', () => {
    assert.throws(() => new Profiler().get(graph, 'e'), { code: 'ERR_LONGPOLE_INVALID_ARGUMENT' });
  });
});
