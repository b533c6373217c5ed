import assert from 'node:assert/strict';
import { it } from 'node:test';
import { syntheticTrace } from '../trace/syntheticTrace.test.support.js';
import type { Trace } from '../trace/trace.js';
import { criticalPath } from './criticalPath.js';
import { contending } from './findings/workloads.test.support.js';
import { scaling, simulate } from './simulate.js';

/** Tasks of about 1 s, 10 s in total, that wait for the object for 5 s. */
function waitingFor(object: string): Trace {
  const spec = contending(5);
  const metrics = spec.metrics?.map((one) => ({
    ...one,
    activity: one.activity.replace("Lock 'x'", object),
  }));
  return syntheticTrace({ ...spec, metrics: metrics ?? [] });
}

it('no number of workers makes a run shorter than the time in which tasks wait for a lock', () => {
  const [lock, semaphore] = [waitingFor("Lock 'x'"), waitingFor("Semaphore 'x'")];
  assert.equal(criticalPath(lock).floor, 5);
  assert.equal(simulate(lock, { workers: 100 }).makespan, 5);
  // A semaphore may have several holders, and faster tasks may hold a lock for a shorter time.
  assert.ok(criticalPath(semaphore).floor < 2);
  assert.ok(simulate(semaphore, { workers: 100 }).makespan < 2);
  assert.ok(simulate(lock, { workers: 100, faster: { fit: 2 } }).makespan < 2);
  // When tasks waited is not known.
  const { start, stop } = criticalPath(lock);
  assert.ok(criticalPath(lock, { start, stop: (start + stop) / 2 }).floor < 2);
});

it('a prediction names the lock that bounds it', () => {
  const [lock, semaphore] = [waitingFor("Lock 'x'"), waitingFor("Semaphore 'x'")];
  assert.deepEqual(scaling(lock, { workers: [1, 100] }).lock, { object: "Lock 'x'", seconds: 5 });
  assert.equal(scaling(lock, { workers: [1] }).lock, undefined);
  assert.equal(scaling(lock, { workers: [100], faster: { fit: 2 } }).lock, undefined);
  assert.equal(scaling(semaphore).lock, undefined);
});
