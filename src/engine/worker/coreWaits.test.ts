// Tests the time for which tasks waited for a core, on a thread with fake clocks.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CoreWaits } from './coreWaits.js';

describe('the time for which a task waited for a core', () => {
  /** Returns a thread with fake clocks: `pass` adds time on a core, `wait` adds time in the run queue. */
  function thread(hasQueue = true) {
    let [now, queued, readings] = [1000, 0, 0];
    const runQueue = (): number => {
      readings++;
      return queued;
    };
    const coreWaits = new CoreWaits(hasQueue ? runQueue : undefined);
    const pass = (seconds: number): void => {
      now += seconds;
    };
    const wait = (seconds: number): void => {
      now += seconds;
      queued += seconds;
    };
    const task = (inside: () => void): number => {
      const start = now;
      const before = coreWaits.from(start);
      inside();
      return coreWaits.until(before, start, now);
    };
    return { pass, wait, task, readings: () => readings };
  }
  const near = (value: number, expected: number): void =>
    assert.ok(Math.abs(value - expected) < 1e-6, `${value} instead of ${expected}`);

  it('is the count of the run queue during the task, without its sleep', () => {
    const { pass, wait, task } = thread();
    wait(5);
    near(
      task(() => {
        wait(0.04);
        pass(0.3);
      }),
      0.04,
    );
    wait(7);
    near(
      task(() => pass(0.3)),
      0,
    );
    near(
      task(() => wait(0.002)),
      0.002,
    );
  });

  it('excludes the waits of earlier, shorter tasks', () => {
    const { pass, wait, task, readings } = thread();
    task(() => pass(1e-3));
    const before = readings();
    for (let i = 0; i < 100; i++)
      near(
        task(() => wait(9e-6)),
        0,
      );
    // All tasks in these 0.9 ms are shorter than a window, so there is at most one reading per window.
    assert.ok(readings() - before <= 9, `${readings() - before}`);
    assert.ok(task(() => pass(0.01)) <= 1e-4);
  });

  it('is unknown if the system does not report it', () => {
    const { pass, task } = thread(false);
    assert.ok(Number.isNaN(task(() => pass(0.3))));
    assert.ok(Number.isNaN(task(() => pass(1e-6))));
  });
});
