import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Computation, TASK_ERRED, TASK_MEMORY } from '../../protocol/clusterObserver.js';
import { MAX_OPEN } from '../../protocol/openGraph.js';
import { LiveTrace } from './liveTrace.js';

/** A chain: each task needs the one before it. The first needs the tasks of earlier computations in `externals`. */
function chain(number: number, size: number, externals: readonly number[] = []): Computation {
  const dependencies = [
    ...externals.map((_, i) => size + i),
    ...Array.from({ length: size - 1 }, (_, i) => i),
  ];
  const before = externals.length;
  return {
    number,
    firstId: number * 100,
    size,
    keys: Array.from({ length: size }, (_, i) => `step-${number}-${i}`),
    prefixOf: new Int32Array(size),
    prefixes: ['step'],
    functionOf: new Int32Array(size),
    functions: ['step'],
    spanOf: null,
    spans: [['default']],
    dependencyOffsets: Int32Array.from({ length: size + 1 }, (_, i) => (i === 0 ? 0 : before + i - 1)),
    dependencies: Int32Array.from(dependencies),
    externals: Float64Array.from(externals),
    submitted: number,
    client: 'client',
    code: '',
  };
}

function end(trace: LiveTrace, computation: Computation, id: number, state: number): void {
  const one = Float64Array.of(1);
  trace.tasksEnded({
    computation,
    worker: 0,
    count: 1,
    ids: Int32Array.of(id),
    states: Uint8Array.of(state),
    types: Uint16Array.of(0),
    typeNames: ['number'],
    nbytes: one,
    attempts: Uint8Array.of(1),
    ready: one,
    dispatched: one,
    received: one,
    started: one,
    stopped: one,
    acknowledged: 1,
  });
}

const states = (trace: LiveTrace, processing: readonly number[] = []) =>
  trace.openGraph(new Set(processing)).tasks.map(({ key, state }) => `${key} ${state}`);

test('a task whose dependencies have ended is queued until a worker has it; its dependents wait', () => {
  const trace = new LiveTrace();
  const first = chain(1, 3);
  trace.computationAdded(first);
  assert.deepEqual(states(trace), ['step-1-0 queued', 'step-1-1 waiting', 'step-1-2 waiting']);
  assert.deepEqual(states(trace, [100])[0], 'step-1-0 processing');
  end(trace, first, 0, TASK_MEMORY);
  const second = chain(2, 1, [102]);
  trace.computationAdded(second);
  assert.deepEqual(states(trace, [101]), ['step-1-1 processing', 'step-1-2 waiting', 'step-2-0 waiting']);
  assert.deepEqual(trace.openGraph(new Set()).tasks.at(-1)?.dependencies, [102]);
  assert.equal(trace.openGraph(new Set()).rows, 1);
});

test('tasks that need a failed task, directly or not, are erred; a retried task is processing', () => {
  const trace = new LiveTrace();
  const first = chain(1, 3);
  trace.computationAdded(first);
  end(trace, first, 0, TASK_ERRED);
  assert.deepEqual(states(trace), ['step-1-1 erred', 'step-1-2 erred']);
  assert.deepEqual(states(trace, [100])[0], 'step-1-0 processing');
});

test('results that exist already, and forgotten computations, are no unended tasks', () => {
  const trace = new LiveTrace();
  trace.computationAdded({ ...chain(1, 2), given: Int32Array.of(0) });
  assert.deepEqual(states(trace), ['step-1-1 queued']);
  const second = chain(2, 2);
  trace.computationAdded(second);
  trace.computationForgotten(second);
  assert.deepEqual(states(trace), ['step-1-1 queued']);
});

test('a graph with too many unended tasks has their number only', () => {
  const trace = new LiveTrace();
  trace.computationAdded(chain(1, MAX_OPEN + 1));
  assert.deepEqual(trace.openGraph(new Set()), { rows: 0, count: MAX_OPEN + 1, tasks: [] });
});
