// Waits, transfers and starts of workers on the critical path.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { partsText, pathOf } from './pathTexts.test.support.js';

describe('the critical path', () => {
  it('names the task behind which another one waited for a busy worker', () => {
    const path = pathOf([
      { key: 'load-1', started: 0, stopped: 1 },
      { key: 'fit-1', started: 1, stopped: 4 },
      { key: 'add-1', started: 4.5, stopped: 5, needs: ['load-1'] },
    ]);
    assert.deepEqual(partsText(path), [
      'compute load-1 0..1',
      'waiting for a worker add-1 1..4.5',
      'compute add-1 4.5..5',
    ]);
    // The time between two tasks that the worker has received belongs to the first.
    assert.deepEqual(path.behind, [{ prefix: 'fit', seconds: 3.5 }]);
  });

  it('charges a wait to the prefix that ran on the worker, and the start of workers to no prefix', () => {
    const path = pathOf(
      [
        { key: 'slow-1', started: 1, stopped: 6, received: 0, dispatched: 0 },
        { key: 'big-1', started: 9, stopped: 9.5, submitted: 0, received: 0 },
      ],
      {
        intervals: [
          { worker: 'w0', action: 'gc', start: 2, stop: 3 },
          { worker: 'w0', action: 'await', start: 4, stop: 4.5, task: 'slow-1' },
          { worker: 'w0', action: 'serialize', start: 6, stop: 8, task: 'slow-1' },
          { worker: 'w0', action: 'deserialize', start: 8.5, stop: 9, task: 'big-1' },
        ],
      },
    );
    assert.deepEqual(path.byPrefix, [
      {
        prefix: 'slow',
        seconds: 7.5,
        parts: [
          { kind: 'compute', seconds: 3.5 },
          { kind: 'serialization', seconds: 2 },
          { kind: 'gc', seconds: 1 },
          { kind: 'waiting for a worker', seconds: 0.5 },
          { kind: 'awaiting', seconds: 0.5 },
        ],
      },
      {
        prefix: 'big',
        seconds: 1,
        parts: [
          { kind: 'compute', seconds: 0.5 },
          { kind: 'serialization', seconds: 0.5 },
        ],
      },
    ]);
    assert.equal(path.byKind.find(({ kind }) => kind === 'worker start')?.seconds, 1);
    assert.equal(path.makespan, 9.5);
  });

  it('shows pauses of a worker without memory, also up to the end of the run', () => {
    const paused = (events: readonly [number, string, string][]) =>
      pathOf(
        [
          { key: 'a-1', started: 0, stopped: 2, worker: 'w0' },
          { key: 'b-1', started: 8, stopped: 9, worker: 'w0', needs: ['a-1'], received: 7.5 },
        ],
        { events: events.map(([time, worker, topic]) => ({ time, worker, topic, text: worker })) },
      );
    assert.deepEqual(
      partsText(
        paused([
          [3, 'w0', 'worker-paused'],
          [4, 'w0', 'worker-full'],
          [5, 'w0', 'worker-has-room'],
          [6, 'w1', 'worker-paused'],
          [7, 'w0', 'worker-unpaused'],
        ]),
      ),
      [
        'compute a-1 0..2',
        'waiting for the scheduler b-1 2..3',
        'paused b-1 3..7',
        'waiting for the scheduler b-1 7..7.5',
        'waiting for a worker b-1 7.5..8',
        'compute b-1 8..9',
      ],
    );
    const open = paused([[7, 'w0', 'worker-paused']]);
    assert.equal(open.byKind.find(({ kind }) => kind === 'paused')?.seconds, 1);
    assert.deepEqual(
      open.byPrefix.map(({ prefix }) => prefix),
      ['b', 'a'],
    );
  });

  it('separates the disk access and garbage collection of a sender from the transfer', () => {
    const path = pathOf(
      [
        { key: 'a-1', started: 0, stopped: 2, worker: 'w0' },
        { key: 'b-1', started: 8, stopped: 9, worker: 'w1', needs: ['a-1'], received: 2 },
      ],
      {
        transfers: [{ worker: 'w1', peer: 'w0', keys: ['a-1'], nbytes: 1e9, start: 2, stop: 8 }],
        intervals: [
          { worker: 'w1', action: 'transfer', start: 2, stop: 8, task: 'b-1' },
          { worker: 'w0', action: 'disk-read', start: 2.5, stop: 5 },
          { worker: 'w0', action: 'gc', start: 4, stop: 6 },
          // The first is on a worker that sends nothing, the second is other work of the sender.
          { worker: 'w2', action: 'disk-read', start: 2, stop: 8 },
          { worker: 'w0', action: 'gc', start: 8.2, stop: 9 },
        ],
      },
    );
    assert.deepEqual(partsText(path), [
      'compute a-1 0..2',
      'transfer b-1 2..2.5',
      'disk b-1 2.5..4',
      'gc b-1 4..6',
      'transfer b-1 6..8',
      'compute b-1 8..9',
    ]);
  });

  it('contains transfers, disk access, serialization and garbage collection', () => {
    const path = pathOf(
      [
        { key: 'a-1', started: 0, stopped: 2, worker: 'w0' },
        { key: 'b-1', started: 5, stopped: 9, worker: 'w1', needs: ['a-1'], received: 2.5 },
      ],
      {
        intervals: [
          { worker: 'w0', action: 'serialize', start: 1.5, stop: 2, task: 'a-1' },
          { worker: 'w1', action: 'transfer', start: 2.5, stop: 4, task: 'b-1' },
          { worker: 'w1', action: 'disk-read', start: 4, stop: 5, task: 'b-1' },
          { worker: 'w1', action: 'gc', start: 6, stop: 6.5 },
          // An interval of another task, which delayed no task of the path.
          { worker: 'w1', action: 'transfer', start: 7, stop: 8, task: 'a-1' },
        ],
      },
    );
    assert.deepEqual(partsText(path), [
      'compute a-1 0..1.5',
      'serialization a-1 1.5..2',
      'waiting for the scheduler b-1 2..2.5',
      'transfer b-1 2.5..4',
      'disk b-1 4..5',
      'compute b-1 5..6',
      'gc b-1 6..6.5',
      'compute b-1 6.5..9',
    ]);
    assert.equal(path.byKind.find(({ kind }) => kind === 'transfer')?.seconds, 1.5);
  });

  it('contains awaited promises and profiler starts; a garbage collection before the first task is worker start', () => {
    const path = pathOf([{ key: 'a-1', started: 5, stopped: 9, submitted: 0, received: 0, worker: 'w0' }], {
      intervals: [
        { worker: 'w0', action: 'gc', start: 1, stop: 2 },
        { worker: 'w0', action: 'await', start: 5, stop: 6, task: 'a-1' },
        { worker: 'w0', action: 'profiler', start: 7, stop: 8 },
      ],
    });
    assert.deepEqual(partsText(path), [
      'worker start a-1 0..5',
      'awaiting a-1 5..6',
      'compute a-1 6..7',
      'profiler a-1 7..8',
      'compute a-1 8..9',
    ]);
  });

  it('has a transfer while the arguments of a task are on the way from the program', () => {
    const path = pathOf(
      [
        { key: 'load-1', started: 0, stopped: 1 },
        { key: 'fit-1', started: 6, stopped: 7, submitted: 2, dispatched: 2.5, received: 6, computation: 2 },
      ],
      {
        transfers: [{ worker: 'w0', what: 'scatter', keys: ['fit-1'], nbytes: 48e6, start: 3, stop: 5.5 }],
      },
    );
    assert.deepEqual(partsText(path), [
      'compute load-1 0..1',
      'client time 1..2',
      'waiting for the scheduler fit-1 2..3',
      'transfer fit-1 3..5.5',
      'waiting for the scheduler fit-1 5.5..6',
      'compute fit-1 6..7',
    ]);
  });

  it('has a transfer, and no start of the worker, while the first task of a worker waits for its arguments', () => {
    const late = { submitted: 0, dispatched: 1, received: 4, started: 4.5, stopped: 5 };
    const partsWith = (stop: number): string[] =>
      partsText(
        pathOf([{ key: 'fit-1', ...late }], {
          workers: [{ name: 'w0', started: 0.5, address: '' }],
          transfers: [{ worker: 'w0', what: 'scatter', keys: ['fit-1'], nbytes: 48e6, start: 1, stop }],
        }),
      );
    const before = ['waiting for the scheduler fit-1 0..0.5'];
    assert.deepEqual(partsWith(4), [
      ...before,
      'worker start fit-1 0.5..1',
      'transfer fit-1 1..4',
      'worker start fit-1 4..4.5',
      'compute fit-1 4.5..5',
    ]);
    // The worker started more slowly than its arguments were packed.
    assert.deepEqual(partsWith(2), [...before, 'worker start fit-1 0.5..4.5', 'compute fit-1 4.5..5']);
  });

  it('assigns the time between two tasks to the worker if it has received the second one, else to the scheduler', () => {
    const told3 = (received: number) =>
      partsText(
        pathOf([
          { key: 'a-1', submitted: 0, started: 0, stopped: 2, received: 0 },
          { key: 'b-1', submitted: 0, started: 3, stopped: 4, received },
          { key: 'c-1', submitted: 0, started: 4, stopped: 5, received: 4 },
        ]),
      );
    const last = ['waiting for a worker c-1 3..4', 'compute c-1 4..5'];
    assert.deepEqual(told3(1), ['waiting for a worker c-1 0..3', ...last]);
    assert.deepEqual(told3(3), [
      'waiting for a worker c-1 0..2',
      'waiting for the scheduler c-1 2..3',
      ...last,
    ]);
  });

  it('a thread that starts late is starting until it receives the task that was sent at the beginning', () => {
    const path = pathOf([
      { key: 'a-1', submitted: 0, started: 1, stopped: 2, received: 1, dispatched: 0, worker: 'w0' },
      { key: 'b-1', submitted: 0, started: 4, stopped: 5, received: 4, dispatched: 0, worker: 'w1' },
    ]);
    assert.deepEqual(partsText(path), ['worker start b-1 0..4', 'compute b-1 4..5']);
  });

  it('workers of a second cluster are starting until the first of them runs a task', () => {
    const path = pathOf(
      [
        { key: 'a-1', started: 1, stopped: 2, worker: 'w0' },
        { key: 'b-1', submitted: 2, started: 5, stopped: 6, received: 5, worker: 'x0' },
        { key: 'b-2', submitted: 2, dispatched: 2, started: 7, stopped: 8, received: 7, worker: 'x1' },
      ],
      {
        workers: [
          { name: 'w0', stopped: 2 },
          { name: 'x0', started: 2 },
          { name: 'x1', started: 2.05 },
        ],
      },
    );
    assert.deepEqual(partsText(path).slice(-2), ['worker start b-2 2..7', 'compute b-2 7..8']);
  });

  it('a task waits for the scheduler while a local scheduler prepares tasks before it creates its workers', () => {
    const task = { key: 'a-1', submitted: 0, started: 4, stopped: 5, dispatched: 3, received: 4 };
    const partsWith = (address: string): string[] =>
      partsText(pathOf([task], { workers: [{ name: 'w0', started: 2, address }] }));
    const last = ['worker start a-1 2..4', 'compute a-1 4..5'];
    assert.deepEqual(partsWith(''), ['waiting for the scheduler a-1 0..2', ...last]);
    // A cluster may have had no worker.
    assert.deepEqual(partsWith('thread://w0'), ['worker start a-1 0..4', 'compute a-1 4..5']);
  });

  it('a task on a late worker waited for the other workers until the late worker was created', () => {
    const path = pathOf(
      [
        { key: 'a-1', submitted: 0, started: 1, stopped: 5, worker: 'w0' },
        { key: 'b-1', submitted: 0, started: 4, stopped: 6, received: 4, worker: 'w1' },
      ],
      { workers: [{ name: 'w0' }, { name: 'w1', started: 3 }] },
    );
    assert.deepEqual(partsText(path), [
      'worker start b-1 0..1',
      'waiting for a worker b-1 1..3',
      'worker start b-1 3..4',
      'compute b-1 4..6',
    ]);
    assert.deepEqual(
      path.byPrefix.map(({ prefix, seconds }) => [prefix, seconds]),
      [['b', 2]],
    );
  });

  it('uses rows of transfers if there are no intervals of transfers', () => {
    const path = pathOf(
      [
        { key: 'a-1', started: 0, stopped: 2, worker: 'w0' },
        { key: 'b-1', started: 4, stopped: 5, worker: 'w1', needs: ['a-1'], received: 2 },
      ],
      { transfers: [{ worker: 'w1', peer: 'w0', nbytes: 8, start: 2, stop: 4 }] },
    );
    assert.deepEqual(partsText(path), ['compute a-1 0..2', 'transfer b-1 2..4', 'compute b-1 4..5']);
  });
});

describe('the critical path of a Dask cluster', () => {
  const workers = [
    { name: 'w0', address: 'tcp://10.0.0.1:4000', started: 0 },
    { name: 'w1', address: 'tcp://10.0.0.1:4001', started: 4 },
  ];

  it('has no start of a worker that had joined the cluster before', () => {
    const task = {
      key: 'a-1',
      submitted: 1,
      ready: 1,
      dispatched: 1.5,
      received: 3,
      started: 3.5,
      stopped: 4,
    };
    assert.deepEqual(partsText(pathOf([task], { workers: workers.slice(0, 1) })), [
      'waiting for the scheduler a-1 1..3',
      'waiting for a worker a-1 3..3.5',
      'compute a-1 3.5..4',
    ]);
  });

  it('waits for the start of workers until one joins', () => {
    const task = {
      key: 'a-1',
      worker: 'w1',
      submitted: 1,
      ready: 1,
      dispatched: 4,
      received: 4.5,
      started: 4.5,
      stopped: 5,
    };
    assert.deepEqual(partsText(pathOf([task], { workers: workers.slice(1) })), [
      'worker start a-1 1..4',
      'waiting for the scheduler a-1 4..4.5',
      'compute a-1 4.5..5',
    ]);
  });

  it('names no task for the time between two tasks of a thread', () => {
    const tasks = [
      { key: 'a-1', submitted: 0, started: 0, stopped: 1 },
      { key: 'b-1', submitted: 0, received: 0.5, started: 4, stopped: 5 },
    ];
    const path = pathOf(tasks, { workers: workers.slice(0, 1) });
    assert.deepEqual(partsText(path), [
      'waiting for a worker b-1 0..1',
      'waiting for a worker b-1 1..4',
      'compute b-1 4..5',
    ]);
    assert.deepEqual(path.behind, [{ prefix: 'a', seconds: 1 }]);
  });
});
