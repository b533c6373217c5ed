import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { syntheticTrace } from './syntheticTrace.test.support.js';

const trace = syntheticTrace({
  workers: [{ name: 'b', host: 'other', threads: 2 }],
  tasks: [
    { key: 'load-1', started: 0, stopped: 1, worker: 'a', nbytes: 80 },
    { key: 'load-2', started: 0.5, stopped: 3, worker: 'b', thread: 1, state: 'erred' },
    { key: 'load-2', started: 3, stopped: 4, worker: 'b', thread: 1, attempt: 2, nbytes: 8 },
    { key: 'add-1', started: 5, stopped: 6, worker: 'a', needs: ['load-1', 'load-2', 'scattered-1'] },
    { key: 'add-2', started: 7, stopped: 9, worker: 'a', needs: ['add-1'], computation: 2, ready: 6.5 },
  ],
  transfers: [
    { worker: 'a', peer: 'b', keys: ['load-2'], nbytes: 8, start: 4, stop: 4.5 },
    { worker: 'b', peer: 'a', direction: 'outgoing', what: 'get-data', nbytes: 8, start: 4, stop: 4.5 },
  ],
  intervals: [{ worker: 'a', action: 'disk-write', start: 1, stop: 2, nbytes: 80, task: 'load-1' }],
  metrics: [
    { time: 1, worker: 'a', activity: 'thread-cpu', prefix: 'load', value: 0.5 },
    { time: 2, worker: 'b', activity: 'thread-cpu', prefix: 'load', value: 0.25 },
  ],
});

describe('a synthetic trace', () => {
  it('defaults to the times of a run without delays', () => {
    const { tasks } = trace;
    assert.deepEqual([...tasks.ready], [0, 0, 0, 4, 6.5]);
    assert.deepEqual([...tasks.started], [0, 0.5, 3, 5, 7]);
    assert.deepEqual([...tasks.acknowledged], [1, 3, 4, 6, 9]);
    assert.deepEqual([...tasks.attempt], [1, 1, 2, 1, 1]);
    assert.equal(tasks.keyOf(3), 'add-1');
    assert.equal(trace.strings.get(tasks.prefix[3] ?? -1), 'add');
    assert.equal(trace.strings.get(tasks.host[1] ?? -1), 'other');
  });

  it('finds the run that made each dependency', () => {
    const { dependencyOffsets, dependencyRows } = trace.tasks;
    const rowsOf = (row: number): number[] => [
      ...dependencyRows.subarray(dependencyOffsets[row], dependencyOffsets[row + 1]),
    ];
    assert.deepEqual(rowsOf(3), [0, 2, -1]);
    assert.deepEqual(rowsOf(4), [3]);
  });

  it('lists its computations, newest last', () => {
    assert.deepEqual(
      trace.computations.map(({ start, stop, keys }) => ({ start, stop, keys })),
      [
        { start: 0, stop: 6, keys: ['load-1', 'load-2', 'add-1'] },
        { start: 7, stop: 9, keys: ['add-2'] },
      ],
    );
  });

  it('has totals', () => {
    const { states, prefixes, actions, busy, pairs, metrics, spilled } = trace.totals;
    assert.deepEqual([...states], [4, 1, 0, 0]);
    const load = prefixes.get('load');
    assert.deepEqual(
      [load?.count, load?.erred, load?.seconds, load?.nbytes, load?.shortest, load?.longest],
      [3, 1, 4.5, 88, 1, 2.5],
    );
    assert.equal(
      load?.durations.reduce((sum, count) => sum + count),
      3,
    );
    assert.deepEqual(actions, [
      { action: 'compute', count: 5, seconds: 7.5, nbytes: 88 },
      { action: 'disk-write', count: 1, seconds: 1, nbytes: 80 },
    ]);
    // `b` was named first.
    assert.deepEqual([...busy], [3.5, 4]);
    assert.deepEqual(pairs, [{ from: 0, to: 1, count: 1, nbytes: 8, compressed: 8, seconds: 0.5 }]);
    assert.equal(metrics.length, 1);
    assert.equal(metrics[0]?.value, 0.75);
    assert.equal(spilled, 80);
  });
});
