import assert from 'node:assert/strict';
import { test } from 'node:test';
import { criticalPath } from '../../analysis/criticalPath.js';
import { workerBalance, workerShares } from '../../analysis/workerBalance.js';
import { threadSeconds } from '../../analysis/workerLives.js';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { samePrefixes } from './profileModel.js';
import { rangeSums } from './rangeSums.js';
import { findTasks } from './search.js';
import { livedSeconds, usedSeconds } from './streamDetail.js';
import { laterRow, traceModel } from './traceModel.js';
import { shownTime } from './workersAt.js';

test('a running task is on the thread of its worker that became free before it started', () => {
  const task = (key: string, thread: number, started: number, stopped: number) => ({
    ...{ key, worker: 'w', thread, started, stopped },
  });
  const trace = syntheticTrace({
    workers: [{ name: 'w', threads: 3 }],
    tasks: [task('a-0', 0, 0, 5), task('b-0', 1, 0, 3), task('c-0', 2, 0, 1), task('b-1', 1, 3, 4)],
  });
  const running = [
    { id: 103, key: 'late', prefix: 'late', worker: 0, started: 5 },
    { id: 101, key: 'early', prefix: 'early', worker: 0, started: 1 },
    { id: 102, key: 'middle', prefix: 'middle', worker: 0, started: 4 },
    { id: 104, key: 'too many', prefix: 'many', worker: 0, started: 6 },
  ];
  const { stream, tasks, workers } = traceModel(trace, { title: '', origin: 0, running, now: 7 }).page;
  const threads = Array.from(stream.task, (row, entry) => [
    tasks.keys.at(row),
    workers[stream.worker[entry]!]!.name,
  ]);
  assert.deepEqual(threads.slice(4), [
    ['early', 'w · 2'],
    ['middle', 'w · 1'],
    ['late', 'w · 0'],
    ['too many', 'w · 0'],
  ]);
});

test('garbage collections of idle workers do not belong to the run', () => {
  const workers = [{ name: 'w', started: 0 }];
  const memory = [4, 60].map((time) => ({ time, worker: 'w', managed: 1 }));
  const gc = (start: number) => ({ worker: 'w', action: 'gc' as const, start, stop: start + 0.001 });
  const intervals = [gc(5), gc(53)];
  const shown = (trace: ReturnType<typeof syntheticTrace>) => {
    const { origin, limits } = traceModel(trace, { title: '' });
    return [Math.round(origin + limits.start), Math.round(origin + limits.stop)];
  };
  const tasks = [{ key: 'a-0', worker: 'w', started: 10, stopped: 12 }];
  assert.deepEqual(shown(syntheticTrace({ workers, memory, intervals, tasks })), [10, 12]);
  assert.deepEqual(shown(syntheticTrace({ workers, memory, intervals })), [4, 60]);
  assert.deepEqual(shown(syntheticTrace({ workers, intervals })), [5, 53]);
  const events = [20, 23].map((time) => ({ time, topic: 'program', text: '' }));
  assert.deepEqual(shown(syntheticTrace({ workers, intervals, events })), [5, 53]);
  assert.deepEqual(shown(syntheticTrace({ workers, events })), [20, 23], 'nothing was measured');
});

test('a worker that ran a task when its observation began is not busy for more than its time', () => {
  const trace = syntheticTrace({
    workers: [{ name: 'w0', address: 'tcp://10.0.0.1:4000', started: 102 }],
    tasks: [
      { key: 'a-0', worker: 'w0', submitted: Number.NaN, started: 100, stopped: 103 },
      { key: 'a-1', worker: 'w0', submitted: 102, started: 103, stopped: 104 },
    ],
  });
  assert.deepEqual(workerShares(trace), [{ name: 'w0', busy: 1 }]);
  const model = traceModel(trace, { title: '' });
  const { start, stop } = model.run;
  const [plot] = model.plots;
  assert.ok(plot?.type === 'tasks');
  const [row] = plot.lanes.rows;
  assert.ok(row !== undefined);
  assert.equal(usedSeconds(plot.lanes, row, start, stop) / livedSeconds(row, start, stop), 1);
});

test('the busy share of a replaced worker is the share of the time in which it existed', () => {
  const trace = syntheticTrace({
    workers: [
      { name: 'w0', started: 90, stopped: 104 },
      { name: 'w1', started: 90 },
      { name: 'w0 again', started: 104, stopped: 120 },
    ],
    tasks: [
      { key: 'a-0', worker: 'w0', submitted: 100, started: 100, stopped: 102 },
      { key: 'a-1', worker: 'w1', submitted: 100, started: 100, stopped: 110 },
      { key: 'a-2', worker: 'w0 again', submitted: 100, started: 104, stopped: 107 },
    ],
  });
  const expected = [0.5, 1, 0.5];
  assert.deepEqual(
    workerShares(trace).map(({ busy }) => busy),
    expected,
  );
  // The table has the busiest first.
  assert.deepEqual(
    workerBalance(trace).rows.map((row) => [row['Worker'], row['Busy (%)'], row['Idle (s)']]),
    [
      ['w1', 100, 0],
      ['w0 again', 50, 3],
      ['w0', 50, 2],
    ],
  );
  const model = traceModel(trace, { title: '' });
  const { start, stop } = model.run;
  const [plot] = model.plots;
  assert.ok(plot?.type === 'tasks');
  const { lanes } = plot;
  const shares = lanes.rows.map((row) => [
    row.name,
    usedSeconds(lanes, row, start, stop) / livedSeconds(row, start, stop),
  ]);
  assert.deepEqual(Object.fromEntries(shares), { w0: 0.5, w1: 1, 'w0 again': 0.5 });
  assert.equal(model.workerCount, 2);
  assert.equal(threadSeconds(trace, { start: 100, stop: 110 }), 20);
});

test('the task stream counts the same seconds of seceded tasks as the summary', () => {
  const task = (key: string, worker: string, waited: number) => ({
    ...{ key, worker, waited, started: 0, seceded: 1, resumed: 9, stopped: 10 },
  });
  // After 1 s, each task waits for most of 8 s, or for a small part. It uses its thread for the last second.
  const trace = syntheticTrace({
    workers: [{ name: 'w0' }, { name: 'w1' }],
    tasks: [task('long-0', 'w0', 6), task('short-0', 'w1', 2)],
  });
  const model = traceModel(trace, { title: '' });
  const [plot] = model.plots;
  assert.ok(plot?.type === 'tasks');
  const shares = plot.lanes.rows.map((row) => usedSeconds(plot.lanes, row, 0, 10) / 10);
  assert.deepEqual(shares, [0.4, 0.8]);
  assert.deepEqual(
    shares,
    workerShares(trace).map(({ busy }) => busy),
  );
  assert.deepEqual(
    model.legend.map(({ name, seconds }) => [name, seconds]),
    [
      ['short', 8],
      ['long', 4],
    ],
  );
  const [long, short] = ['long', 'short'].map((name) => model.legend.find((one) => one.name === name)?.index);
  const sums = rangeSums(model, { start: 1, stop: 5 });
  assert.equal(sums.get(long!)?.seconds, 1);
  assert.equal(sums.get(short!)?.seconds, 3);
});

test('a seceded task, which is drawn before and after its wait, counts as one task and one match', () => {
  const trace = syntheticTrace({
    tasks: [
      { key: 'long-0', worker: 'w0', waited: 8, started: 0, seceded: 1, resumed: 9, stopped: 10 },
      { key: 'long-1', worker: 'w0', started: 10, stopped: 12 },
    ],
  });
  const model = traceModel(trace, { title: '' });
  const runsIn = (start: number, stop: number) => [...rangeSums(model, { start, stop }).values()][0]?.runs;
  assert.equal(model.stream.lanes.entry.length, 3);
  assert.deepEqual([model.legend[0]?.count, runsIn(0, 12), runsIn(0, 9.5)], [2, 2, 1]);
  assert.deepEqual([runsIn(0, 5), runsIn(9.5, 9.7), runsIn(9.5, 11)], [1, 1, 2]);
  const matches = findTasks(model, 'long-0');
  assert.equal(matches?.count, 1);
  assert.equal(matches.lanes[0]?.positions.length, 2, 'both parts are marked');
});

test('a prefix stays emphasised if new prefixes change its index', () => {
  const wait = { worker: 'w0', action: 'disk-write' as const, start: 2, stop: 3 };
  const a = { key: 'a-0', worker: 'w0', started: 0, stopped: 1 };
  const b = { key: 'b-0', worker: 'w0', started: 1, stopped: 2 };
  const [before, after] = [[a], [a, b]].map((tasks) =>
    traceModel(syntheticTrace({ tasks, intervals: [wait] }), { title: '' }),
  );
  const indexOf = (model: typeof before, name: string) =>
    model!.prefixes.findIndex((prefix) => prefix.name === name);
  assert.notEqual(indexOf(before, 'disk'), indexOf(after, 'disk'));
  const chosen = samePrefixes(new Set([indexOf(before, 'disk')]), before!, after!);
  assert.deepEqual([...chosen], [indexOf(after, 'disk')]);
});

test('the selected run of a repeated task is found again after an update', () => {
  const run = (attempt: number) => ({ key: 'a', attempt, started: attempt, stopped: attempt + 1 });
  const lost = { key: 'a', started: Number.NaN, stopped: Number.NaN };
  const { tasks: before } = syntheticTrace({ tasks: [run(1), run(2), lost] });
  const { tasks: later } = syntheticTrace({ tasks: [run(1), run(2), lost, run(3)] });
  assert.deepEqual(
    [0, 1, 2].map((row) => laterRow(before, row, later)),
    [0, 1, 2],
  );
  assert.equal(laterRow(later, 3, before), -1);
});

test('the panels of a live page show the workers as they are now, those of a trace the time under the pointer', () => {
  const model = { origin: 100, run: { start: 0, stop: 10 } };
  const window = { start: 1, stop: 12 };
  assert.equal(shownTime(model, window, undefined, false), 110);
  assert.equal(shownTime(model, window, { time: 3 }, false), 103);
  assert.equal(shownTime(model, { start: 1, stop: 4 }, { time: 3 }, true), Number.POSITIVE_INFINITY);
});

test('a task that failed and was repeated counts once', () => {
  const run = (attempt: number, state: 'erred' | 'memory') => ({
    ...{ key: 'flaky-1', attempt, state, started: attempt, stopped: attempt + 1 },
  });
  const model = traceModel(
    syntheticTrace({
      tasks: [
        run(1, 'erred'),
        run(2, 'erred'),
        run(3, 'memory'),
        { key: 'bad-1', state: 'erred', started: 5, stopped: 6 },
      ],
    }),
    { title: '' },
  );
  assert.deepEqual([model.taskCount, model.failedCount, model.repeatedCount], [2, 1, 2]);
});

test('a task that died with its worker is one of the failed tasks', () => {
  const model = traceModel(
    syntheticTrace({
      tasks: [
        { key: 'bad-1', state: 'erred', started: 1, stopped: 2 },
        { key: 'big-1', state: 'lost', submitted: 0, started: Number.NaN, stopped: Number.NaN },
      ],
      events: [{ time: 3, topic: 'task-erred', text: "Task 'big-1' (function big, worker w0) failed." }],
    }),
    { title: '' },
  );
  assert.deepEqual([model.taskCount, model.failedCount], [2, 2]);
});

test('a run that ends with a task without result is as long in the heading as on the critical path', () => {
  const hung = { key: 'b-0', submitted: 0, dispatched: 1, acknowledged: 6, state: 'lost' as const };
  const unknown = { received: Number.NaN, started: Number.NaN, stopped: Number.NaN };
  const trace = syntheticTrace({
    tasks: [
      { key: 'a-0', started: 0, stopped: 1 },
      { ...hung, ...unknown },
    ],
  });
  const { run } = traceModel(trace, { title: '', origin: 0 });
  assert.deepEqual(run, { start: 0, stop: criticalPath(trace).stop });
  assert.equal(run.stop, 6);
});

test('while the rows of runs arrive, the model counts all runs and those that the page has, and no task without a run', () => {
  const tasks = Array.from({ length: 20 }, (_, i) => ({ key: `a-${i}`, started: i, stopped: i + 1 }));
  const dropped = { context: 'dropped', prefix: 'a', activity: 'cancelled', unit: 'count', value: 100 };
  const trace = syntheticTrace({ tasks, metrics: [{ time: 1, worker: 'w0', ...dropped }] });
  const states = Float64Array.of(30_000, 0, 0, 0);
  const later = { ...trace, totals: { ...trace.totals, states } };
  assert.deepEqual(traceModel(later, { title: '' }).receiving, { runs: 30_000, received: 20 });
  // Rows that the page has discarded do not arrive any more.
  const evicted = { ...trace.evicted, tasks: 29_980 };
  assert.equal(traceModel({ ...later, evicted }, { title: '' }).receiving, undefined);
  assert.equal(traceModel(trace, { title: '' }).receiving, undefined);
  const none = { ...syntheticTrace({}), totals: trace.totals };
  assert.deepEqual(traceModel(none, { title: '' }).receiving, { runs: 20, received: 0 });
});

test('the time axis ends with the run, also if that ended with a task that has no result', () => {
  const never = { started: Number.NaN, stopped: Number.NaN, received: Number.NaN };
  const trace = syntheticTrace({
    tasks: [
      { key: 'quick-1', submitted: 0, dispatched: 0, started: 0, stopped: 1 },
      { key: 'died-1', submitted: 0, dispatched: 0, ...never, acknowledged: 4, state: 'lost' },
    ],
  });
  const { origin, run, limits } = traceModel(trace, { title: '' });
  assert.deepEqual([origin + run.start, origin + run.stop], [0, 4]);
  assert.ok(limits.stop >= run.stop);
});
