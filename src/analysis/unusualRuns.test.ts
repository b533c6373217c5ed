import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type SyntheticTask, syntheticTrace } from '../trace/syntheticTrace.test.support.js';
import { unusualRuns } from './unusualRuns.js';

const task = (key: string, more: Partial<SyntheticTask>): SyntheticTask => ({
  key,
  started: 0,
  stopped: 1,
  ...more,
});
const NOT_RUN = { started: Number.NaN, stopped: Number.NaN, acknowledged: 1 };
const whole = syntheticTrace({
  tasks: [
    task('load-1', { state: 'erred' }),
    task('sum-1', { ...NOT_RUN, state: 'cancelled', needs: ['load-1'] }),
    task('sum-2', { ...NOT_RUN, state: 'cancelled', needs: ['load-1'] }),
    task('again-1', { state: 'erred', attempt: 1 }),
    task('again-1', { attempt: 2, started: 2, stopped: 3 }),
  ],
});
// A synthetic trace knows dependencies only of results. Both sums depend on the task that failed.
Object.defineProperty(whole.tasks, 'dependencyIds', { value: Float64Array.of(0, 0) });

it('tasks that did not run because another failed are not called cancelled', () => {
  assert.deepEqual(unusualRuns(whole), [
    [1, 'failed'],
    [1, 'failed and was repeated'],
    [2, 'did not run'],
  ]);
});

it('totals without rows, as a live page first receives them, claim nothing that the rows contradict', () => {
  assert.deepEqual(unusualRuns({ ...syntheticTrace({}), totals: whole.totals }), [
    [2, 'runs failed'],
    [2, 'were cancelled or did not run'],
  ]);
});

it('a task of which each run was lost with its worker is a failed task', () => {
  const trace = syntheticTrace({
    tasks: [task('load-1', { state: 'erred' }), task('big-1', { ...NOT_RUN, state: 'lost' })],
    events: [
      {
        time: 1,
        topic: 'task-erred',
        text: "Task 'big-1' (function big, worker w0) was running when it died",
      },
    ],
  });
  assert.deepEqual(unusualRuns(trace), [
    [2, 'failed'],
    [1, 'lost'],
  ]);
});

it('a run that exceeded its timeout is a failed task, and was not lost with its worker', () => {
  const trace = syntheticTrace({
    tasks: [task('slow-1', { ...NOT_RUN, state: 'lost' }), task('load-1', {})],
    events: [
      {
        time: 1,
        topic: 'task-erred',
        text: "Task 'slow-1' (function slow, worker w0) was ended after 1.01 s: its timeout is 1 s. Raise it.",
      },
    ],
  });
  assert.deepEqual(unusualRuns(trace), [[1, 'failed']]);
});

it('no run that exceeded its timeout was lost, also if the task ran again', () => {
  const again = { ...NOT_RUN, state: 'lost' as const };
  const ended = (time: number) => ({
    time,
    topic: 'task-erred',
    text: "Task 'slow-1' (function slow, worker w0) was ended after 1.01 s: its timeout is 1 s. Raise it.",
  });
  const trace = syntheticTrace({
    tasks: [task('slow-1', again), task('slow-1', { ...again, attempt: 2 }), task('load-1', {})],
    events: [ended(1), ended(2)],
  });
  assert.deepEqual(unusualRuns(trace), [[1, 'failed']]);
});
