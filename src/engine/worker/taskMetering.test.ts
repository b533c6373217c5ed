// Tests that each second of an isolate counts once: for a task, for work beside tasks, or for the executor.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../../base/properties.test.support.js';
import { MetricLedger } from '../metrics/metricLedger.js';
import { collectionParts, type Outcome, TaskMetering } from './taskMetering.js';

describe('the seconds of a garbage collection', () => {
  it('are CPU time', () => {
    assert.deepEqual(collectionParts(0.2, 1, 5, 0), { 'thread-cpu': 0.2, 'thread-noncpu': 0, other: 0 });
  });

  it('are divided if the thread had no core: a task that computed keeps some of its CPU time', () => {
    const parts = collectionParts(3, 0.5, 3.5, 0);
    assert.deepEqual(parts, { 'thread-cpu': 0.375, 'thread-noncpu': 2.625, other: 0 });
  });

  it('are of unknown kind without a CPU clock', () => {
    assert.deepEqual(collectionParts(3, 0, 0, 5), { 'thread-cpu': 0, 'thread-noncpu': 0, other: 3 });
  });

  it('never exceed the available time, and are counted completely', () => {
    const seconds = fc.double({ min: 0, max: 1e4, noNaN: true });
    fc.assert(
      fc.property(seconds, seconds, seconds, seconds, (gc, cpu, noncpu, other) => {
        const parts = collectionParts(gc, cpu, noncpu, other);
        const near = 1e-9 * (gc + cpu + noncpu + other);
        assert.ok(parts['thread-cpu'] >= 0 && parts['thread-cpu'] <= cpu + near);
        assert.ok(parts['thread-noncpu'] >= -near && parts['thread-noncpu'] <= noncpu + near);
        assert.ok(parts.other >= 0 && parts.other <= other);
        const sum = parts['thread-cpu'] + parts['thread-noncpu'] + parts.other;
        assert.ok(Math.abs(sum - Math.min(gc, cpu + noncpu + other)) <= near);
      }),
    );
  });
});

/** A step of an isolate's work on a batch. All times are whole eighths of a second, so that sums are exact. */
type Step =
  | { readonly type: 'task'; readonly eighths: number; readonly cpu: number; readonly outcome: Outcome }
  | { readonly type: 'serialize' | 'report' | 'executor'; readonly eighths: number };

const eighths = fc.integer({ min: 0, max: 40 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    type: fc.constant('task'),
    eighths,
    cpu: fc.constantFrom(0, 0.5, 1),
    outcome: fc.constantFrom('done', 'failed', 'cancelled'),
  }),
  fc.record({ type: fc.constantFrom('serialize', 'report', 'executor'), eighths }),
);

/** Simulates an isolate with a fake clock. Returns its busy seconds and the counted seconds. */
function work(batches: readonly { readonly before: number; readonly steps: readonly Step[] }[]) {
  const ledger = new MetricLedger();
  let now = 1000;
  let cpuSeconds = 0;
  let busy = 0;
  let inTasks = 0;
  const metering = new TaskMetering(
    ledger,
    () => now,
    () => cpuSeconds,
  );
  metering.close();
  const kind = metering.kind('task');
  const pass = (seconds: number, cpu = 0): void => {
    now += seconds;
    cpuSeconds += cpu * seconds;
    busy += seconds;
  };
  for (const { before, steps } of batches) {
    // Time without a batch does not count for the isolate.
    now += before / 8;
    metering.enterBatch();
    for (const one of steps) {
      const seconds = one.eighths / 8;
      if (one.type === 'task') {
        const start = now;
        const task = metering.begin(kind, start);
        pass(seconds, one.cpu);
        metering.end(task, kind, start, now, one.outcome);
        inTasks += seconds;
      } else if (one.type === 'serialize') {
        metering.beside(
          kind,
          { run: 1, id: 0 },
          one.type,
          () => pass(seconds, 1),
          () => 8,
        );
      } else {
        pass(seconds);
        if (one.type === 'report') metering.leaveBatch(kind, now);
      }
    }
    metering.leaveBatch(kind, now);
    metering.leave();
  }
  const found = new Map([...ledger].map(([key, value]) => [key.slice(3).join(), value]));
  const seconds = (...activities: readonly string[]): number =>
    activities.reduce((sum, activity) => sum + (found.get(`${activity},seconds`) ?? 0), 0);
  return { busy, inTasks, seconds };
}

describe('the seconds of an isolate', () => {
  const batches = fc.array(fc.record({ before: eighths, steps: fc.array(step, { maxLength: 30 }) }), {
    maxLength: 5,
  });
  const TASK = ['thread-cpu', 'thread-noncpu', 'failed', 'cancelled'];

  it('are its tasks, its work for them, and the executor: every second counts exactly once', () => {
    fc.assert(
      fc.property(batches, (list) => {
        const { busy, inTasks, seconds } = work(list);
        assert.ok(Math.abs(seconds(...TASK) - inTasks) < 1e-9);
        assert.ok(Math.abs(seconds(...TASK, 'serialize', 'executor') - busy) < 1e-9);
      }),
    );
  });
});
