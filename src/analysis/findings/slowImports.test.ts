import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SyntheticSpec, syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { findings } from './findings.js';

/** Two workers run ten tasks each, 3 s after the program has submitted them, of which they imported a module for some seconds. */
function importing(seconds: number): SyntheticSpec {
  const workers = ['w0', 'w1'];
  return {
    tasks: workers.flatMap((worker) =>
      Array.from({ length: 10 }, (_, i) => ({
        key: `fit-${worker}-${i}`,
        worker,
        submitted: 0,
        ready: 0,
        dispatched: 0,
        received: 3,
        started: 3 + 0.1 * i,
        stopped: 3.1 + 0.1 * i,
      })),
    ),
    metrics: workers.map((worker) => ({
      time: 3,
      worker,
      prefix: 'fit',
      activity: 'import',
      value: seconds,
    })),
  };
}

test('modules of tasks that each worker imports for seconds are a finding, and no start that no change shortens', () => {
  const [own] = findings(syntheticTrace(importing(2.5)));
  assert.equal(own?.title, 'Each worker imports the modules of its tasks for 2.5 s before its first task');
  assert.equal(own.seconds, 2.5);
  assert.match(own.advice, /top level of the module of 'fit'/);
  assert.ok(!findings(syntheticTrace(importing(0.3))).some(({ code }) => code === 'slow-imports'));
});

test('imports that wait, e.g. for a service, are a finding also if the tasks had no core for most of their time', () => {
  const { tasks = [], metrics = [] } = importing(2);
  const waiting = tasks.map((task) => ({ ...task, coreWait: 0.075 }));
  const own = findings(syntheticTrace({ tasks: waiting, metrics })).find(
    ({ code }) => code === 'slow-imports',
  );
  assert.equal(own?.seconds, 2);
});

test('imports by workers of a local scheduler, which have no other metrics, are the same finding', () => {
  const { tasks = [], metrics = [] } = importing(2.5);
  const local = { tasks, metrics: metrics.map((one) => ({ ...one, context: 'import' })) };
  const [own] = findings(syntheticTrace(local));
  assert.equal(own?.title, 'Each worker imports the modules of its tasks for 2.5 s before its first task');
  assert.equal(own.seconds, 2.5);
});
