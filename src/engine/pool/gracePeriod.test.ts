import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { CompletionLog } from '../../protocol/completionLog.js';
import { STAYED } from '../../protocol/taskRun.js';
import { ClosingRuns } from './closingRuns.js';
import { GracePeriod, type ThreadUse } from './gracePeriod.js';
import { CLOSE_GRACE_MS } from './isolate.js';

const RUN = 3;

/** Returns a grace period with a fake thread and a fake clock. */
function setup(use: ThreadUse | undefined) {
  const state = { now: 5000, use };
  const clock = mock.method(performance, 'now', () => state.now);
  const grace = new GracePeriod(() => state.use);
  return { state, grace, [Symbol.dispose]: () => clock.mock.restore() };
}

test('the grace period of a thread that waits for a core begins when the thread runs', () => {
  using set = setup({ wantsCore: true, cpu: 40 });
  const since = set.grace.begin();
  set.state.now += 20 * CLOSE_GRACE_MS;
  assert.equal(set.grace.isOver(since), false);
  set.state.use = { wantsCore: true, cpu: 40 + CLOSE_GRACE_MS };
  assert.equal(set.grace.isOver(since), true);
});

test('the grace period of a sleeping thread is elapsed time', () => {
  using set = setup({ wantsCore: false, cpu: 40 });
  const since = set.grace.begin();
  set.state.now += CLOSE_GRACE_MS;
  assert.equal(set.grace.isOver(since), false);
  set.state.now += 1;
  assert.equal(set.grace.isOver(since), true);
});

test('a grace period ends without statistics of threads, and after a long time without a core', () => {
  using set = setup(undefined);
  const unknown = set.grace.begin();
  set.state.now += 2 * CLOSE_GRACE_MS;
  assert.equal(set.grace.isOver(unknown), true);
  set.state.use = { wantsCore: true, cpu: 40 };
  const starved = set.grace.begin();
  set.state.now += 1e6;
  assert.equal(set.grace.isOver(starved), true);
});

test('a thread that waits for a core while it closes a run is not ended, and a thread that computes is', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setImmediate'] });
  using set = setup({ wantsCore: true, cpu: 40 });
  let ended = 0;
  const closing = new ClosingRuns(
    set.grace,
    () => false,
    () => ended++,
  );
  const log = new CompletionLog(4);
  const pass = () => {
    set.state.now += 2 * CLOSE_GRACE_MS;
    t.mock.timers.tick(2 * CLOSE_GRACE_MS);
  };
  log.begin(1, 1, 0);
  closing.add(RUN, log);
  for (let i = 0; i < 5; i++) pass();
  assert.equal(ended, 0);
  set.state.use = { wantsCore: true, cpu: 300 };
  pass();
  assert.equal(ended, 1);
});

test('a thread with tasks of a closed run outside the slot is ended when no other run needs it', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setImmediate'] });
  using set = setup({ wantsCore: false, cpu: 40 });
  let isNeeded = true;
  let ended = 0;
  const closing = new ClosingRuns(
    set.grace,
    () => isNeeded,
    () => ended++,
  );
  const pass = () => {
    set.state.now += 2 * CLOSE_GRACE_MS;
    t.mock.timers.tick(2 * CLOSE_GRACE_MS);
  };
  const [endless, ending] = [new CompletionLog(4), new CompletionLog(4)];
  for (const log of [endless, ending]) log.countAway(1);
  closing.add(RUN, endless);
  closing.add(RUN + 1, ending);
  for (const run of [RUN, RUN + 1]) closing.closed(run);
  for (let i = 0; i < 5; i++) pass();
  ending.countAway(-1);
  assert.equal(ended, 0);
  isNeeded = false;
  pass();
  assert.equal(ended, 1);
});

test('a task with a readable completion does not count as running', () => {
  const log = new CompletionLog(4);
  log.begin(1, 1, 0);
  assert.equal(log.running, 1);
  log.write({ id: 1, batch: 1, received: 0, start: 0, stop: 0, coreWait: 0, ...STAYED }, 0, 0, 0);
  assert.equal(log.running, -1);
});
