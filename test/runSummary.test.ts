import assert from 'node:assert/strict';
import { test } from 'node:test';
import { summarise } from '#internal/cli/run/summary.js';
import { summaryText } from '#internal/cli/run/summaryText.js';
import { type SyntheticSpec, syntheticTrace } from '#internal/trace/syntheticTrace.test.support.js';

/** Twenty seconds of tasks, two at a time. */
const TASKS = Array.from({ length: 20 }, (_, i) => ({
  key: `a-${i}`,
  worker: 'w',
  thread: i % 2,
  started: Math.floor(i / 2),
  stopped: Math.floor(i / 2) + 1,
  submitted: 0,
}));

function busyOf(spec: SyntheticSpec): number | undefined {
  return summarise(syntheticTrace(spec)).workers[0]?.busy;
}

test('a worker is as busy as its threads are', () => {
  assert.equal(busyOf({ workers: [{ name: 'w', threads: 8, started: 0 }], tasks: TASKS }), 0.25);
  // A trace that does not say how many threads there are shows those that ran tasks.
  const half = TASKS.filter((_, i) => i % 4 !== 1);
  assert.equal(busyOf({ workers: [{ name: 'w', threads: Number.NaN }], tasks: half }), 0.75);
  assert.equal(busyOf({ workers: [{ name: 'w', threads: 1 }], tasks: TASKS }), 1);
  assert.equal(busyOf({ tasks: TASKS.map((task) => ({ ...task, thread: -1 })) }), 1);
});

test('a run that took no time has no findings, and no workers that start', () => {
  const trace = syntheticTrace({ tasks: [{ key: 'a-1', started: 0, stopped: 0, submitted: 0 }] });
  assert.match(summaryText(summarise(trace)), /\nfindings {3}No finding costs a twentieth of the run\.\n$/);
});
