import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../base/properties.test.support.js';
import { WorkerClock } from './workerClock.js';

/** Sends tasks to a worker with a clock that is `offset` behind, runs them, and reports them. */
function exchange(
  clock: WorkerClock,
  offset: number,
  tasks: readonly { readonly there: number; readonly ran: number; readonly back: number }[],
): void {
  let now = 1e9;
  for (const { there, ran, back } of tasks) {
    clock.sent(now, now + there - offset);
    clock.reported(now + there + ran - offset, now + there + ran + back);
    now += 0.1;
  }
}

const delay = fc.double({ min: 0.0001, max: 0.2, noNaN: true });
const task = fc.record({ there: delay, ran: delay, back: delay });

describe('the clock of a worker', () => {
  it('has an error of at most half of the shortest round trip', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -1e4, max: 1e4, noNaN: true }),
        fc.array(task, { minLength: 1, maxLength: 50 }),
        (offset, tasks) => {
          const clock = new WorkerClock(false);
          clock.estimate = offset + 1;
          exchange(clock, offset, tasks);
          const there = Math.min(...tasks.map((one) => one.there));
          const back = Math.min(...tasks.map((one) => one.back));
          assert.ok(Math.abs(clock.offset - offset) <= (there + back) / 2 + 1e-6);
        },
      ),
    );
  });

  it('has no offset if the scheduler uses the same clock', () => {
    const clock = new WorkerClock(true);
    clock.estimate = 0.3;
    exchange(clock, 0, [{ there: 0.01, ran: 1, back: 0.5 }]);
    assert.equal(clock.offset, 0);
  });

  it("has Dask's estimate until messages give bounds", () => {
    const clock = new WorkerClock(false);
    clock.estimate = 0.25;
    assert.equal(clock.offset, 0.25);
    clock.reported(100, 100.1);
    assert.ok(Math.abs(clock.offset - 0.1) < 1e-9);
    // The time of sending is NaN if the task was sent before the observation. Such a task does not change the offset.
    clock.sent(Number.NaN, 100);
    assert.ok(Math.abs(clock.offset - 0.1) < 1e-9);
  });

  it('follows a clock that was set', () => {
    const clock = new WorkerClock(false);
    for (let minute = 0; minute < 4; minute++) {
      const [offset, now] = [minute < 2 ? 0 : 5, 1e6 + minute * 61];
      clock.sent(now, now + 0.001 - offset);
      clock.reported(now + 0.002 - offset, now + 0.003);
    }
    assert.ok(Math.abs(clock.offset - 5) < 0.01);
  });
});
