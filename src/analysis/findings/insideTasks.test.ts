// What takes the time of tasks beside the code of their functions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { findings } from './findings.js';

/** Two workers run ten tasks of a second each. */
const tasks = ['w0', 'w1'].flatMap((worker) =>
  Array.from({ length: 10 }, (_, i) => ({ key: `fit-${worker}-${i}`, worker, started: i, stopped: i + 1 })),
);

test('the time of a worker plugin in tasks is the cost of the plugin, by its name', () => {
  const metric = { time: 9, worker: 'w0', prefix: 'fit' };
  const [own] = findings(
    syntheticTrace({
      tasks,
      metrics: [
        { ...metric, activity: 'thread-cpu', value: 4 },
        { ...metric, activity: 'plugin file:///app/watch.mjs#default', value: 16 },
      ],
    }),
  );
  assert.equal(own?.title, 'The worker plugin watch.mjs#default takes 80 % of the time of tasks');
  assert.ok(own.seconds > 7.5 && own.seconds <= 8.5, `${own.seconds}`);
});

test('tasks that run graphs of their own are named with the size of these graphs', () => {
  const metric = { time: 9, worker: 'w0', context: 'nested', prefix: 'fit', activity: 'graph' };
  const units = { count: 20, seconds: 18, tasks: 4000, workers: 80 };
  const metrics = Object.entries(units).map(([unit, value]) => ({ ...metric, unit, value }));
  const own = findings(syntheticTrace({ tasks, metrics })).find(({ code }) => code === 'nested-graphs');
  assert.equal(
    own?.title,
    "Tasks of 'fit' run graphs of their own, of 200 tasks on 4 workers each: 90 % of their time",
  );
  assert.ok(Math.abs(own.seconds - 9) < 0.01, `${own.seconds}`);
});
