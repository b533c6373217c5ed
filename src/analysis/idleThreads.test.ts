import assert from 'node:assert/strict';
import { test } from 'node:test';
import { syntheticTrace } from '../trace/syntheticTrace.test.support.js';
import { idleThreadSeconds } from './idleThreads.js';

const METRICS = [
  { time: 2, worker: 'a', activity: 'thread-cpu', value: 3 },
  { time: 2, worker: 'a', activity: 'executor', value: 0.5 },
  { time: 2, worker: 'a', activity: 'memory-read', unit: 'bytes', value: 1000 },
  { time: 2, worker: 'a', context: 'get-data', activity: 'network', value: 9 },
];

test('idle is thread time without activity, without the time in which the whole cluster was idle', () => {
  const trace = syntheticTrace({
    // One thread leaves at 11, and another worker joins between the computations.
    workers: [
      { name: 'a', threads: 2, started: 0 },
      { name: 'b', threads: 1, started: 0, stopped: 11 },
      { name: 'c', threads: 1, started: 5 },
    ],
    tasks: [
      { key: 'x-1', worker: 'a', submitted: 1, started: 1.5, stopped: 3, acknowledged: 3.5, computation: 1 },
      { key: 'y-1', worker: 'c', submitted: 10, started: 10.2, stopped: 12, computation: 2 },
    ],
    metrics: METRICS,
  });
  // From 1 to 3.5 with 3 threads, from 10 to 11 with 4, from 11 to 12 with 3.
  assert.equal(trace.totals.offered, 7.5 + 4 + 3);
  assert.equal(idleThreadSeconds(trace), 14.5 - 3.5);
});

test('idle is never below 0, and unknown without metrics of tasks', () => {
  const run = {
    workers: [{ name: 'a', started: 0 }],
    tasks: [{ key: 'x-1', worker: 'a', submitted: 0, started: 0, stopped: 1 }],
  };
  assert.equal(idleThreadSeconds(syntheticTrace({ ...run, metrics: METRICS })), 0);
  assert.equal(idleThreadSeconds(syntheticTrace(run)), Number.NaN);
});
