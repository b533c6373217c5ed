import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterObserver } from '../../api/trace.js';
import { RunProgress } from './runProgress.js';

type Computation = Parameters<NonNullable<ClusterObserver['computationAdded']>>[0];

function computation(size: number, functions: readonly string[] = ['work']): Computation {
  return {
    number: 1,
    firstId: 0,
    size,
    keys: Array.from({ length: size }, (_, i) => `work-${i}`),
    prefixOf: new Int32Array(size),
    prefixes: ['work'],
    functionOf: new Int32Array(size),
    functions,
    spanOf: null,
    spans: [['default']],
    dependencyOffsets: new Int32Array(size + 1),
    dependencies: new Int32Array(0),
    externals: new Float64Array(0),
    submitted: 0,
    client: 'client-1',
    code: '',
  };
}

function ended(
  of: Computation,
  states: readonly number[],
  firstId = 0,
): Parameters<NonNullable<ClusterObserver['tasksEnded']>>[0] {
  const count = states.length;
  const times = new Float64Array(count);
  return {
    computation: of,
    worker: 0,
    count,
    ids: Int32Array.from(states, (_, i) => firstId + i),
    states: Uint8Array.from(states),
    types: new Uint16Array(count),
    typeNames: [''],
    nbytes: times,
    attempts: new Uint8Array(count),
    ready: times,
    dispatched: times,
    received: times,
    started: times,
    stopped: times,
    acknowledged: 0,
  };
}

function progress(columns: number | undefined) {
  const written: string[] = [];
  const clock = { time: 0 };
  const shown = new RunProgress({
    columns,
    port: 8000,
    now: () => clock.time,
    write: (text) => written.push(text),
    outputs: [],
  });
  return { shown, written, clock };
}

test('on a terminal, a line is redrawn, and erased when all tasks are finished', () => {
  const { shown, written, clock } = progress(60);
  const work = computation(4);
  shown.computationAdded(computation(10, []));
  shown.computationAdded(work);
  shown.tasksEnded(ended(work, [0]));
  clock.time = 600;
  shown.tasksEnded(ended(work, [1], 1));
  clock.time = 650;
  shown.tasksEnded(ended(work, [0], 2));
  clock.time = 800;
  shown.tasksEnded(ended(work, []));
  shown.tasksEnded(ended(work, [0, 3]));
  shown.computationForgotten(work);
  assert.deepEqual(written, [
    `\r\u001b[K[${'#'.repeat(5)}${' '.repeat(16)}] 25 %, 1 of 4 tasks, 0.6 s, 1 failed`,
    `\r\u001b[K[${'#'.repeat(10)}${' '.repeat(11)}] 50 %, 2 of 4 tasks, 0.8 s, 1 failed`,
    '\r\u001b[K',
  ]);
  for (const line of written) assert.ok(line.length - '\r\u001b[K'.length < 60);
});

test('a log has a line every ten percent, at least five seconds apart', () => {
  const { shown, written, clock } = progress(undefined);
  const work = computation(1000);
  shown.computationAdded(work);
  for (let i = 0; i < 100; i++) {
    clock.time += 200;
    shown.tasksEnded(ended(work, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
  }
  assert.deepEqual(written, [
    'longpole: 25 %, 250 of 1,000 tasks, 5.0 s\n',
    'longpole: 50 %, 500 of 1,000 tasks, 10.0 s\n',
    'longpole: 75 %, 750 of 1,000 tasks, 15.0 s\n',
  ]);
});

test('a log continues when a later computation adds tasks', () => {
  const { shown, written, clock } = progress(undefined);
  const [first, second] = [computation(10), computation(990)];
  shown.computationAdded(first);
  clock.time = 6000;
  shown.tasksEnded(ended(first, [0, 0, 0, 0, 0, 0, 0, 0, 0]));
  shown.tasksEnded(ended(first, [0]));
  shown.computationAdded(second);
  clock.time = 12_000;
  shown.tasksEnded(ended(second, new Array(490).fill(0)));
  assert.deepEqual(written, [
    'longpole: 90 %, 9 of 10 tasks, 6.0 s\n',
    'longpole: 50 %, 500 of 1,000 tasks, 12.0 s\n',
  ]);
});

test('the line is redrawn while no task ends, also if the results of an earlier computation are kept', ({
  mock,
}) => {
  mock.timers.enable({ apis: ['setInterval'] });
  const { shown, written, clock } = progress(60);
  const first = computation(1);
  shown.computationAdded(first);
  shown.tasksEnded(ended(first, [0]));
  shown.computationAdded(computation(3));
  clock.time = 700;
  mock.timers.tick(100);
  assert.match(written.at(-1) ?? '', / 25 %, 1 of 4 tasks, 0\.7 s$/);
});

test('unfinished tasks count as finished when their computation is forgotten', () => {
  const { shown, written, clock } = progress(60);
  const work = computation(3);
  shown.computationAdded(work);
  clock.time = 600;
  shown.tasksEnded(ended(work, [1]));
  shown.computationForgotten(work);
  assert.equal(written.at(-1), '\r\u001b[K');
});

test('a task that fails and is retried counts once, and not any more when a retry succeeds', () => {
  const { shown, written, clock } = progress(60);
  const work = computation(3);
  shown.computationAdded(work);
  for (const states of [[1, 1], [1], [0]]) {
    clock.time += 600;
    shown.tasksEnded(ended(work, states));
  }
  assert.deepEqual(
    written.map((line) => line.split(' s, ')[1]),
    ['2 failed', '2 failed', '1 failed'],
  );
});

test('results that a computation takes from an earlier one count once', () => {
  const { shown, written, clock } = progress(60);
  const map = computation(4);
  shown.computationAdded(map);
  // A sum of the four futures: they are tasks of its graph, which never run there.
  const sum = { ...computation(5), given: Int32Array.of(0, 1, 2, 3) };
  shown.computationAdded(sum);
  shown.computationAdded({ ...computation(2), given: Int32Array.of(0, 1) });
  clock.time = 600;
  shown.tasksEnded(ended(map, [0, 0, 0, 0]));
  shown.computationForgotten(map);
  assert.match(written.at(-1) ?? '', / 80 %, 4 of 5 tasks, 0\.6 s$/);
  shown.tasksEnded(ended(sum, [0]));
  assert.equal(written.at(-1), '\r\u001b[K');
});

test('the link of a dashboard at another port than the requested one says why', () => {
  const { shown, written } = progress(undefined);
  for (const port of [8000, 8001])
    shown.event({ topic: 'dashboard', text: `http://127.0.0.1:${port}/`, worker: -1, time: 0 });
  assert.deepEqual(written, [
    'longpole: dashboard at http://127.0.0.1:8000/\n',
    'longpole: dashboard at http://127.0.0.1:8001/ (port 8000 is not free)\n',
  ]);
});

test('the link of a dashboard at port 80, which the URL omits, does not say that the port is not free', () => {
  const written: string[] = [];
  const shown = new RunProgress({
    columns: undefined,
    port: 80,
    write: (text) => written.push(text),
    outputs: [],
  });
  shown.event({ topic: 'dashboard', text: 'http://127.0.0.1:80/', worker: -1, time: 0 });
  assert.deepEqual(written, ['longpole: dashboard at http://127.0.0.1:80/\n']);
});
