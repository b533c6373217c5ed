import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { CompletionLog } from '../../protocol/completionLog.js';
import { ClosingRuns } from './closingRuns.js';
import { GracePeriod, type ThreadUse } from './gracePeriod.js';
import { CLOSE_GRACE_MS } from './isolate.js';

const RUN = 3;

/** A thread and a clock that the test drives. */
function setup(use: ThreadUse | undefined) {
  const state = { now: 5000, use };
  const clock = mock.method(performance, 'now', () => state.now);
  const grace = new GracePeriod(() => state.use);
  return { state, grace, [Symbol.dispose]: () => clock.mock.restore() };
}

test('the grace period of a thread that waits for a core begins when it gets one', () => {
  using set = setup({ wantsCore: true, cpu: 40 });
  const since = set.grace.begin();
  set.state.now += 20 * CLOSE_GRACE_MS;
  assert.equal(set.grace.isOver(since), false);
  set.state.use = { wantsCore: true, cpu: 40 + CLOSE_GRACE_MS };
  assert.equal(set.grace.isOver(since), true);
});

test('the grace period of a thread that sleeps is time that passes', () => {
  using set = setup({ wantsCore: false, cpu: 40 });
  const since = set.grace.begin();
  set.state.now += CLOSE_GRACE_MS;
  assert.equal(set.grace.isOver(since), false);
  set.state.now += 1;
  assert.equal(set.grace.isOver(since), true);
});

test('a grace period ends where the system tells nothing of threads, and when no core comes for very long', () => {
  using set = setup(undefined);
  const unknown = set.grace.begin();
  set.state.now += 2 * CLOSE_GRACE_MS;
  assert.equal(set.grace.isOver(unknown), true);
  set.state.use = { wantsCore: true, cpu: 40 };
  const starved = set.grace.begin();
  set.state.now += 1e6;
  assert.equal(set.grace.isOver(starved), true);
});

test('a thread that waits for a core while it closes a run is not ended, and one that computes on is', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setImmediate'] });
  using set = setup({ wantsCore: true, cpu: 40 });
  let ended = 0;
  const closing = new ClosingRuns(set.grace, () => ended++);
  const log = new CompletionLog(4);
  const pass = () => {
    set.state.now += 2 * CLOSE_GRACE_MS;
    t.mock.timers.tick(2 * CLOSE_GRACE_MS);
  };
  log.begin(1, 0);
  closing.add(RUN, log);
  for (let i = 0; i < 5; i++) pass();
  assert.equal(ended, 0);
  set.state.use = { wantsCore: true, cpu: 300 };
  pass();
  assert.equal(ended, 1);
});

test('a task whose completion can be read does not seem to run', () => {
  const log = new CompletionLog(4);
  log.begin(1, 0);
  assert.equal(log.running, 1);
  log.write(1, 0, 0, 0, 0, 0, 0, 0);
  assert.equal(log.running, -1);
});
