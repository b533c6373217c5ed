import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChromeReader } from '../trace/formats/chrome/chromeReader.js';
import {
  type SyntheticSpec,
  type SyntheticTask,
  syntheticTrace,
} from '../trace/syntheticTrace.test.support.js';
import { TraceBuilder } from '../trace/traceBuilder.js';
import { concurrency } from './concurrency.js';
import { criticalPath } from './criticalPath.js';
import { diff } from './diff/diff.js';
import { many } from './findings/workloads.test.support.js';
import { simulate } from './simulate.js';
import { stragglersOf } from './stragglers.js';
import { workerBalance } from './workerBalance.js';

/** Slices on two threads as another program records them: one of 10 s, and inside of it 10 frames, each with a part. */
function nestedSlices(): SyntheticSpec {
  const slice = (prefix: string, thread: number, started: number, seconds: number): SyntheticTask => ({
    key: `('${prefix}', ${thread}.${started})`,
    prefix,
    thread,
    started,
    stopped: started + seconds,
    submitted: Number.NaN,
    ready: Number.NaN,
    acknowledged: Number.NaN,
  });
  const onThread = (thread: number): SyntheticTask[] => [
    ...Array.from({ length: 10 }, (_, i) => [
      slice('paint', thread, i + 0.25, 0.5),
      slice('frame', thread, i, 0.9),
    ]).flat(),
    slice('main', thread, 0, 10),
  ];
  const tasks = [...onThread(0), ...onThread(1)];
  return { workers: [{ name: 'w0', threads: 2 }], tasks: tasks.sort((a, b) => a.stopped - b.stopped) };
}

test('slices inside of others on their thread count once, and comparisons show them all', () => {
  const trace = syntheticTrace(nestedSlices());
  assert.ok(concurrency(trace).rows.every((row) => row['Running'] === 2 && row['Busy (%)'] === 100));
  assert.deepEqual(
    criticalPath(trace).byPrefix.map(({ prefix, seconds }) => [prefix, seconds]),
    [['main', 10]],
  );
  assert.ok(Math.abs(simulate(trace, { workers: 4 }).makespan - 10) < 0.1, 'nothing is left for others');
  assert.ok(Math.abs(simulate(trace, { faster: { main: 2 } }).makespan - 5) < 0.1);
  const { rows } = diff(trace, trace);
  const compared = rows.filter(({ kind }) => kind === 'prefix');
  assert.deepEqual(compared.map(({ name }) => name).sort(), ['frame', 'main', 'paint']);
  assert.equal(rows.find(({ name }) => name === 'all tasks')?.before, 20);
});

test('a slow slice inside of a slow one is no straggler of its own', () => {
  const { tasks = [], ...spec } = nestedSlices();
  const own = tasks.filter(({ prefix, thread }) => prefix !== 'main' && thread === 0);
  // The last frame and its part take 5 s longer.
  const slow = own.map((task) => (task.started < 9 ? task : { ...task, stopped: task.stopped + 5 }));
  const trace = syntheticTrace({ ...spec, tasks: slow });
  assert.deepEqual(
    stragglersOf(trace).map(({ row }) => trace.tasks.keyOf(row)),
    ["('frame', 0.9)"],
  );
});

test('a task that depends on a slice inside of another one waits for the outermost slice', () => {
  const slice = (key: string, thread: number, started: number, stopped: number, needs: string[] = []) => ({
    ...{ key, thread, started, stopped, needs },
    ...{ submitted: Number.NaN, ready: Number.NaN, acknowledged: Number.NaN },
  });
  const trace = syntheticTrace({
    workers: [{ name: 'w0', threads: 2 }],
    tasks: [slice('post-1', 0, 3, 3.5), slice('load-1', 0, 0, 4), slice('work-1', 1, 4, 10, ['post-1'])],
  });
  const { byPrefix, floor } = criticalPath(trace);
  assert.deepEqual(byPrefix.map(({ prefix, seconds }) => [prefix, seconds]).sort(), [
    ['load', 4],
    ['work', 6],
  ]);
  assert.equal(floor, 10);
  assert.ok(Math.abs(simulate(trace, { workers: 2 }).makespan - 10) < 0.1);
});

test('asynchronous tasks of a Dask cluster inside of others count, also if their submission was not observed', () => {
  const tasks = [
    { key: 'get-1', started: 1, stopped: 2 },
    { key: 'get-2', started: 0, stopped: 5 },
  ].map((task) => ({ ...task, thread: 0, submitted: Number.NaN, ready: Number.NaN }));
  assert.equal(workerBalance(syntheticTrace({ tasks })).cell(0, 'Tasks'), 2);
});

test('async slices are no parts of the slices around them', () => {
  const event = (ph: string, ts: number, more: object) => ({ ph, ts, pid: 1, tid: 1, cat: 'net', ...more });
  const text = JSON.stringify([
    ...[event('b', 0, { name: 'get', id: 1 }), event('e', 9e6, { name: 'get', id: 1 })],
    ...[event('b', 1e6, { name: 'get', id: 2 }), event('e', 8e6, { name: 'get', id: 2 })],
    ...[event('X', 2e6, { name: 'parse', dur: 4e6 }), event('X', 3e6, { name: 'part', dur: 1e6 })],
  ]);
  const builder = new TraceBuilder();
  new ChromeReader(builder).feed(new TextEncoder().encode(text), text.length, true);
  const balance = workerBalance(builder.build()).rows.map((row) => [row['Thread'], row['Tasks']]);
  assert.deepEqual(balance, [
    [null, 2],
    [0, 1],
  ]);
});

test('the ends of slices that were rounded to microseconds may be one microsecond after the end of the outer slice', () => {
  const tasks = [
    { key: 'part-1', started: 1000.000004, stopped: 1000.000012 },
    { key: 'main-1', started: 1000.000001, stopped: 1000.000011 },
  ].map((task) => ({ ...task, thread: 0, acknowledged: Number.NaN }));
  assert.equal(workerBalance(syntheticTrace({ tasks })).cell(0, 'Tasks'), 1);
});

test('slices that overlap without one inside of the other all count', () => {
  const tasks = [
    { key: 'get-1', started: 0, stopped: 5 },
    { key: 'get-2', started: 4, stopped: 10 },
    { key: 'get-3', started: 6, stopped: 7 },
  ].map((task) => ({ ...task, thread: 0, acknowledged: Number.NaN }));
  assert.equal(workerBalance(syntheticTrace({ tasks })).cell(0, 'Tasks'), 3);
});

test('as many threads exist as tasks run at the same time, if the trace does not have their number', () => {
  const tasks = many(3).map(({ key }, i) => ({ key, started: 0, stopped: 3 + i / 10 }));
  const busy = concurrency(syntheticTrace({ tasks })).rows.map((row) => Number(row['Busy (%)']));
  assert.ok(busy.every((share) => share <= 100) && busy.some((share) => share > 99), String(busy));
});
