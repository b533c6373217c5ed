import assert from 'node:assert/strict';
import { it } from 'node:test';
import { syntheticTrace } from '../trace/syntheticTrace.test.support.js';
import type { Trace } from '../trace/trace.js';
import { criticalPath } from './criticalPath.js';
import { contending } from './findings/workloads.test.support.js';
import { scaling } from './scaling.js';
import { simulate } from './simulate.js';

/** Tasks of about 1 s, 10 s in total, that wait for the object for 5 s. */
function waitingFor(object: string): Trace {
  const spec = contending(5);
  const metrics = spec.metrics?.map((one) => ({
    ...one,
    activity: one.activity.replace("Lock 'x'", object),
  }));
  return syntheticTrace({ ...spec, metrics: metrics ?? [] });
}

it('no number of workers makes a run shorter than the time in which tasks wait for a lock or semaphore', () => {
  for (const object of ["Lock 'x'", "Semaphore 'x'"]) {
    const trace = waitingFor(object);
    assert.equal(criticalPath(trace).floor, 5);
    const { makespan, low } = simulate(trace, { workers: 100 });
    assert.equal(makespan, 5);
    // Two runs differ.
    assert.ok(low > 4.5 && low <= 5, String(low));
    // Faster tasks may hold it for a shorter time.
    assert.ok(simulate(trace, { workers: 100, faster: { fit: 2 } }).makespan < 2);
    // When tasks waited is not known.
    const { start, stop } = criticalPath(trace);
    assert.ok(criticalPath(trace, { start, stop: (start + stop) / 2 }).floor < 2);
  }
});

it('a prediction names the lock or semaphore that bounds it', () => {
  for (const object of ["Lock 'x'", "Semaphore 'x'"]) {
    const trace = waitingFor(object);
    assert.deepEqual(scaling(trace, { workers: [1, 100] }).lock, { object, seconds: 5 });
    assert.equal(scaling(trace, { workers: [1] }).lock, undefined);
    assert.equal(scaling(trace, { workers: [100], faster: { fit: 2 } }).lock, undefined);
  }
});
