import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileGraph } from '../graph/compile.js';
import type { ClusterObserver, Computation, TaskRuns } from '../protocol/clusterObserver.js';
import { computationInfo } from './computationInfo.js';
import { PrefixTable } from './prefixTable.js';
import { type RecordedComputation, TaskRecorder } from './taskRecorder.js';

function twoTasks(): RecordedComputation {
  const plan = compileGraph({ a: [Math.max, 1], b: [Math.max, 2] }, ['a', 'b'], { shared: true });
  const prefixes = new PrefixTable().of(plan.keys);
  const numbers = { number: 1, firstId: 0, submitted: 0, prefixes, imports: new Map<number, never>() };
  const info = computationInfo({ plan, client: 'client' }, numbers);
  return { info, dispatchedAt: new Float64Array(2), runs: new Uint8Array(2) };
}

test('an observer that causes another record does not change the rows of the observers after it', () => {
  const computation = twoTasks();
  const received: (readonly [worker: number, ids: readonly number[]])[] = [];
  const observers: readonly ClusterObserver[] = [
    { tasksEnded: ({ worker }) => void (worker === 0 && recorder.unfinished(computation, 1, 1, 0, 2)) },
    { tasksEnded: ({ worker, ids, count }) => received.push([worker, [...ids.subarray(0, count)]]) },
  ];
  const recorder = new TaskRecorder((call) => observers.forEach(call));
  for (let round = 0; round < 2; round++) recorder.unfinished(computation, 0, 0, 0, 1);
  const both = [
    [1, [1]],
    [0, [0]],
  ];
  assert.deepEqual(received, [...both, ...both]);
});

test('a record that is reused does not hold the computation, which may have ended', () => {
  const computation = twoTasks();
  const received: Computation[] = [];
  let last: TaskRuns | undefined;
  const tasksEnded = (runs: TaskRuns): void => {
    last = runs;
    received.push(runs.computation);
  };
  const recorder = new TaskRecorder((call) => call({ tasksEnded }));
  for (let round = 0; round < 2; round++) {
    recorder.unfinished(computation, 0, 0, 0, 1);
    assert.equal(last?.computation, undefined);
  }
  assert.deepEqual(received, [computation.info, computation.info]);
});
