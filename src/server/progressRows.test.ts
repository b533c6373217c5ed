import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Computation, TASK_ERRED, TASK_LOST, TASK_MEMORY } from '../protocol/clusterObserver.js';
import { OTHERS } from '../protocol/metrics.js';
import { LiveTrace } from '../trace/live/liveTrace.js';
import { progressOf } from './sums.js';

function computation(
  number: number,
  prefixOf: readonly number[],
  given: readonly number[] = [],
): Computation {
  return {
    number,
    firstId: number * 100,
    size: prefixOf.length,
    keys: prefixOf.map((_, i) => `key-${i}`),
    prefixOf: Int32Array.from(prefixOf),
    prefixes: ['load', 'fit'],
    functionOf: new Int32Array(prefixOf.length),
    functions: ['f'],
    spanOf: null,
    spans: [['default']],
    dependencyOffsets: new Int32Array(prefixOf.length + 1),
    dependencies: new Int32Array(0),
    externals: new Float64Array(0),
    given: Int32Array.from(given),
    submitted: 1,
    client: 'client',
    code: '',
  };
}

function ended(
  progress: LiveTrace,
  of: Computation,
  ids: readonly number[],
  states: readonly number[],
  stopped = 2,
) {
  const times = (time: number) => new Float64Array(ids.length).fill(time);
  progress.tasksEnded({
    computation: of,
    worker: 0,
    count: ids.length,
    ids: Int32Array.from(ids),
    states: Uint8Array.from(states),
    types: new Uint16Array(ids.length),
    typeNames: ['number'],
    nbytes: times(8),
    attempts: new Uint8Array(ids.length).fill(1),
    ready: times(1),
    dispatched: times(1),
    received: times(1),
    started: times(1),
    stopped: times(stopped),
    acknowledged: 2,
  });
}

const rowsOf = (progress: LiveTrace) =>
  new Map(progressOf(progress.totals, []).progress.map(({ prefix, ...row }) => [prefix, row]));

test('a result that a later computation reuses counts once', () => {
  const progress = new LiveTrace();
  const first = computation(1, [0, 0]);
  progress.computationAdded(first);
  ended(progress, first, [0, 1], [TASK_MEMORY, TASK_MEMORY]);
  const second = computation(2, [0, 0, 1], [0, 1]);
  progress.computationAdded(second);
  const before = rowsOf(progress);
  assert.deepEqual([before.get('load')?.total, before.get('load')?.finished], [2, 2]);
  assert.deepEqual([before.get('fit')?.total, before.get('fit')?.finished], [1, 0]);
  ended(progress, second, [2], [TASK_MEMORY]);
  progress.computationForgotten(second);
  const after = rowsOf(progress);
  assert.equal(after.get('fit')?.finished, 1);
  assert.equal(after.get('load')?.cancelled, 0);
});

test('a result from before the recording that is lost and computed again is a task', () => {
  const progress = new LiveTrace();
  const one = computation(1, [0, 0, 1], [0, 1]);
  progress.computationAdded(one);
  ended(progress, one, [0, 1], [TASK_MEMORY, TASK_ERRED]);
  ended(progress, one, [0], [TASK_MEMORY]);
  const rows = rowsOf(progress);
  const { total, finished, erred } = rows.get('load') ?? {};
  assert.deepEqual({ total, finished, erred }, { total: 2, finished: 1, erred: 1 });
  assert.equal(progress.openGraph(new Set()).count, 1);
});

test('a prefix has a shortest and a longest run if any of its tasks ran', () => {
  const progress = new LiveTrace();
  const one = computation(1, [0, 0, 1]);
  progress.computationAdded(one);
  ended(progress, one, [0], [TASK_MEMORY], 3);
  ended(progress, one, [1], [TASK_ERRED], 1.5);
  const { load, fit } = Object.fromEntries(progress.totals.prefixes);
  assert.deepEqual([load?.shortest, load?.longest], [0.5, 2]);
  assert.deepEqual([fit?.shortest, fit?.longest], [Number.NaN, Number.NaN]);
});

test('a task counts by the end of its latest run; a task that never ends is cancelled', () => {
  const progress = new LiveTrace();
  const one = computation(1, [0, 0, 0]);
  progress.computationAdded(one);
  ended(progress, one, [0], [TASK_ERRED]);
  ended(progress, one, [1], [TASK_LOST]);
  ended(progress, one, [0, 1], [TASK_MEMORY, TASK_MEMORY]);
  progress.computationForgotten(one);
  const { finished, erred, cancelled, total } = rowsOf(progress).get('load') ?? {};
  assert.deepEqual({ finished, erred, cancelled, total }, { finished: 2, erred: 0, cancelled: 1, total: 3 });
  assert.equal(progress.totals.prefixes.get('load')?.tasks.lost, 1);
});

test('beyond 500 prefixes, one row sums up all others, also beyond 10,000', () => {
  const progress = new LiveTrace();
  const size = 12_000;
  const ids = Array.from({ length: size }, (_, id) => id);
  const many = { ...computation(1, ids), prefixes: ids.map((id) => `p${id}`) };
  progress.computationAdded(many);
  ended(progress, many, ids, new Array(size).fill(TASK_MEMORY));
  const rows = progressOf(progress.totals, ['p3', 'p3']).progress;
  assert.deepEqual([rows.length, new Set(rows.map(({ prefix }) => prefix)).size], [500, 500]);
  assert.ok(rows.some(({ prefix }) => prefix === OTHERS));
  assert.equal(
    rows.reduce((sum, { finished }) => sum + finished, 0),
    size,
  );
  assert.equal(
    rows.reduce((sum, { processing }) => sum + processing, 0),
    2,
  );
});

test('a new current graph begins with the first task after all others have ended', () => {
  const progress = new LiveTrace();
  const currentOf = () =>
    Object.fromEntries([...rowsOf(progress)].map(([name, { current }]) => [name, current]));
  const counts = (total: number, finished: number, erred = 0) => ({ total, finished, erred, cancelled: 0 });
  const first = computation(1, [0, 0, 1]);
  progress.computationAdded(first);
  ended(progress, first, [0, 1], [TASK_MEMORY, TASK_ERRED]);
  const second = { ...computation(2, [0]), submitted: 3 };
  progress.computationAdded(second);
  assert.deepEqual(currentOf(), { load: counts(3, 1, 1), fit: counts(1, 0) });
  assert.equal(progress.totals.graphStart, 1);
  ended(progress, first, [2], [TASK_MEMORY]);
  progress.computationForgotten(second);
  const third = { ...computation(3, [1, 1]), submitted: 5 };
  progress.computationAdded(third);
  ended(progress, third, [0], [TASK_MEMORY]);
  assert.deepEqual(currentOf(), { load: counts(0, 0), fit: counts(2, 1) });
  assert.equal(progress.totals.graphStart, 5);
  // A retry of a task of an earlier graph changes its state.
  ended(progress, first, [1], [TASK_MEMORY]);
  assert.equal(currentOf()['load']?.erred, 0);
});

test('scattered data is no new current graph', () => {
  const progress = new LiveTrace();
  const first = computation(1, [0]);
  progress.computationAdded(first);
  ended(progress, first, [0], [TASK_MEMORY]);
  progress.computationAdded({ ...computation(2, [1], [0]), submitted: 3 });
  assert.equal(rowsOf(progress).get('load')?.current.finished, 1);
  assert.equal(progress.totals.graphStart, 1);
});
