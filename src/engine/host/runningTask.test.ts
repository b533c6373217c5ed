import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { GracePeriod } from '../pool/gracePeriod.js';
import { CLOSE_GRACE_MS } from '../pool/isolate.js';
import type { HostEvents, HostRun } from './hostTypes.js';
import { RunningTask } from './runningTask.js';

const RUN = 3;

/** Returns the running task of a fake isolate, and the number of times that it was ended. */
function setup() {
  const state = { id: -1, ended: 0 };
  const grace = new GracePeriod(() => undefined);
  const events: Pick<HostEvents, 'running' | 'timedOut'> = {
    running: () => undefined,
    timedOut: () => undefined,
  };
  const running = new RunningTask(events, () => {
    state.ended++;
  });
  const runs: { readonly spec: Pick<HostRun, 'run' | 'timeout'> }[] = [{ spec: { run: RUN, timeout: 0 } }];
  const isolate = { running: () => state.id, runningSince: () => 0, grace };
  return { state, running, grace, poll: () => running.poll(runs, isolate) };
}

test('a task that was cancelled before a poll saw it running is ended after the grace period', () => {
  let now = 5000;
  const clock = mock.method(performance, 'now', () => now);
  try {
    const { state, running, grace, poll } = setup();
    running.cancel(RUN, [7], grace);
    assert.ok(running.isCancelled({ run: RUN, id: 7 }));
    state.id = 7;
    poll();
    now += CLOSE_GRACE_MS / 2;
    poll();
    assert.equal(state.ended, 0);
    now += CLOSE_GRACE_MS;
    poll();
    assert.equal(state.ended, 1);
  } finally {
    clock.mock.restore();
  }
});

test('a task that has ended has no time limit, also if the message that it secedes arrives later', () => {
  let now = 5000;
  const clock = mock.method(performance, 'now', () => now);
  try {
    const { state, running, poll } = setup();
    const secedes = (id: number): void =>
      running.asked({ kind: 'secede', number: 1, run: RUN, id, attempt: 1, question: { batch: 1 } }, 2);
    running.finished(RUN, Int32Array.of(7), 1, 2);
    secedes(7);
    now += 3000;
    poll();
    assert.equal(state.ended, 0);
    running.dispatched(RUN, Int32Array.of(7));
    secedes(7);
    now += 3000;
    poll();
    assert.equal(state.ended, 1);
  } finally {
    clock.mock.restore();
  }
});

test('a cancelled task that is sent again has no time limit', () => {
  const { running, grace } = setup();
  running.cancel(RUN, [7, 8], grace);
  running.dispatched(RUN, Int32Array.of(8));
  assert.deepEqual(
    [7, 8].map((id) => running.isCancelled({ run: RUN, id })),
    [true, false],
  );
});

test('a cancelled task that ends by itself or with its run is forgotten', () => {
  const { running, grace } = setup();
  running.cancel(RUN, [7, 8], grace);
  running.finished(RUN, Int32Array.of(7, 9), 1, 0);
  assert.deepEqual(
    [7, 8].map((id) => running.isCancelled({ run: RUN, id })),
    [false, true],
  );
  running.closed(RUN);
  assert.equal(running.isCancelled({ run: RUN, id: 8 }), false);
});
