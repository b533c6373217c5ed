// A run in an isolate where tasks of another run run, poll by poll.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlockedIsolates } from './blockedIsolates.js';
import type { Isolate, OtherTask } from './pool/isolate.js';
import { Scheduler } from './scheduler/scheduler.js';
import { toGraph } from './scheduler/schedulerGraphs.test.support.js';

/** An isolate that runs a task of another run. */
class BusyIsolate implements Isolate {
  readonly name = 'busy';
  readonly pid = 0;
  readonly vitals = null;
  readonly readyAt = 0;
  readonly alive = true;
  readonly isFree = false;
  other: OtherTask | undefined;
  stolen = 0;
  readonly open = (): void => undefined;
  readonly dispatch = (): void => undefined;
  readonly release = (): void => undefined;
  readonly fetch = (): void => undefined;
  readonly poll = (): void => undefined;
  readonly close = (): void => undefined;
  readonly terminate = (): void => undefined;
  readonly executing = undefined;
  readonly runningOther = (): OtherTask | undefined => this.other;
  readonly steal = (): void => void this.stolen++;
}

/** Returns the poll after which the run leaves the isolate; 0: it stays for 1000 polls. `otherAt` has the task at each poll. */
function leavesAfter(otherAt: (poll: number) => OtherTask | undefined): number {
  const scheduler = new Scheduler(toGraph([[]], [0]));
  scheduler.handle({ type: 'worker-added', worker: 0 });
  const isolate = new BusyIsolate();
  const blocked = new BlockedIsolates({
    run: 1,
    state: scheduler.state,
    handle: (event) => void scheduler.handle(event),
    addSpare: () => undefined,
    left: () => undefined,
  });
  for (let poll = 1; poll <= 1000; poll++) {
    isolate.other = otherAt(poll);
    blocked.poll(new Map([[isolate, { index: 0 }]]));
    if (isolate.stolen > 0) return poll;
  }
  return 0;
}

test('a run leaves an isolate in which only tasks of other runs run for 100 polls', () => {
  assert.equal(
    leavesAfter((id) => ({ run: 2, id, isUrgent: false })),
    100,
  );
  assert.equal(
    leavesAfter((poll) => (poll === 60 ? undefined : { run: 2, id: 7, isUrgent: false })),
    160,
  );
});

test('a run leaves an isolate with one task of a higher priority, and waits behind many of them', () => {
  assert.equal(
    leavesAfter(() => ({ run: 2, id: 7, isUrgent: true })),
    100,
  );
  assert.equal(
    leavesAfter((poll) => ({ run: 2, id: Math.floor(poll / 50), isUrgent: true })),
    0,
  );
  assert.equal(
    leavesAfter((poll) => ({ run: poll >> 5, id: 7, isUrgent: true })),
    0,
  );
});
