import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { GracePeriod } from '../pool/gracePeriod.js';
import { CLOSE_GRACE_MS } from '../pool/isolate.js';
import type { HostEvents } from './hostTypes.js';
import { RunningTask } from './runningTask.js';

const RUN = 3;

/** Returns the running task of a fake isolate, and the number of times that it was ended. */
function setup() {
  const state = { id: -1, batch: 1, ended: 0 };
  const grace = new GracePeriod(() => undefined);
  const events: Pick<HostEvents, 'running' | 'timedOut'> = {
    running: () => undefined,
    timedOut: () => undefined,
  };
  const running = new RunningTask(events, () => {
    state.ended++;
  });
  const isolate = {
    get executing() {
      return state.id < 0 ? undefined : { run: RUN, id: state.id, batch: state.batch, since: 0 };
    },
    grace,
  };
  return { state, running, grace, poll: () => running.poll(isolate, () => ({ timeout: 0 })) };
}

/** Returns the completion of a task in batch 1. */
function ended(id: number) {
  return { ids: Int32Array.of(id), batches: Int32Array.of(1), count: 1 };
}

test('a task that was cancelled before a poll saw it running is ended after the grace period', () => {
  let now = 5000;
  const clock = mock.method(performance, 'now', () => now);
  try {
    const { state, running, grace, poll } = setup();
    running.cancel(RUN, [{ id: 7, batch: 1 }], grace);
    assert.ok(running.isCancelled({ run: RUN, id: 7, batch: 1 }));
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

test('a task that has ended has no time limit, even if the message that it secedes arrives later', () => {
  let now = 5000;
  const clock = mock.method(performance, 'now', () => now);
  try {
    const { state, running, poll } = setup();
    const secedes = (batch: number): void =>
      running.asked({ kind: 'secede', number: 1, run: RUN, id: 7, attempt: 1, question: { batch } }, 2);
    running.finished(RUN, ended(7), 2);
    secedes(1);
    now += 3000;
    poll();
    assert.equal(state.ended, 0);
    secedes(2);
    now += 3000;
    poll();
    assert.equal(state.ended, 1);
  } finally {
    clock.mock.restore();
  }
});

test('a cancelled run is ended after the grace period, even if its task is sent again', () => {
  let now = 5000;
  const clock = mock.method(performance, 'now', () => now);
  try {
    const { state, running, grace, poll } = setup();
    running.cancel(RUN, [{ id: 7, batch: 1 }], grace);
    state.id = 7;
    state.batch = 2;
    poll();
    now += 2 * CLOSE_GRACE_MS;
    poll();
    assert.equal(state.ended, 0);
    state.batch = 1;
    poll();
    assert.equal(state.ended, 1);
  } finally {
    clock.mock.restore();
  }
});

test('a cancelled task that ends by itself or with its run is forgotten', () => {
  const { running, grace } = setup();
  const isCancelled = (id: number): boolean => running.isCancelled({ run: RUN, id, batch: 1 });
  running.cancel(
    RUN,
    [7, 8].map((id) => ({ id, batch: 1 })),
    grace,
  );
  running.finished(RUN, ended(7), 0);
  assert.deepEqual([7, 8].map(isCancelled), [false, true]);
  running.closed(RUN);
  assert.equal(isCancelled(8), false);
});
