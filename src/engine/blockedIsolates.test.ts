// A run in an isolate where tasks of another run run, poll by poll.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KIND_PRIVATE, KIND_VALUE } from '../protocol/resultKinds.js';
import { BlockedIsolates } from './blockedIsolates.js';
import type { Isolate, OtherTask } from './pool/isolate.js';
import type { SchedulerEvent } from './scheduler/events.js';
import { Scheduler } from './scheduler/scheduler.js';
import { finished, toGraph } from './scheduler/schedulerGraphs.test.support.js';
import { validateState } from './scheduler/validate.test.support.js';

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
  steal = (): void => void this.stolen++;
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

test('a run computes a result again that a task joins and only a blocked isolate has', () => {
  // Worker 0 computes tasks 0 to 2, and worker 1 task 3. Each takes 10 ms, so task 0 waits in the isolate for the join.
  const expected = new Float64Array(4).fill(10e-3);
  const scheduler = new Scheduler(toGraph([[], [], [], [], [0, 1, 2, 3]], [4]), { expected });
  const isolate = new BusyIsolate();
  const removed: number[] = [];
  const handle = (event: SchedulerEvent): void => {
    if (event.type === 'worker-removed') removed.push(event.worker);
    scheduler.handle(event);
    validateState(scheduler.state);
  };
  const blocked: BlockedIsolates = new BlockedIsolates({
    run: 1,
    state: scheduler.state,
    handle,
    addSpare: () => undefined,
    left: () => undefined,
  });
  isolate.steal = () => {
    handle({ type: 'tasks-stolen', worker: 0, ids: [] });
    blocked.stolen(isolate, 0);
  };
  const finish = (worker: number, id: number, kind: number): void =>
    handle(finished(worker, id, kind, 10e-3));
  handle({ type: 'worker-added', worker: 0 });
  finish(0, 0, KIND_PRIVATE);
  handle({ type: 'worker-added', worker: 1 });
  finish(1, 3, KIND_VALUE);
  for (const id of [1, 2]) finish(0, id, KIND_VALUE);
  assert.equal(scheduler.stateName(4), 'waiting', 'task 0 is being fetched');
  isolate.other = { run: 2, id: 7, isUrgent: false };
  for (let poll = 1; poll <= 100; poll++) blocked.poll(new Map([[isolate, { index: 0 }]]));
  assert.deepEqual(removed, [0]);
  finish(1, 0, KIND_VALUE);
  finish(1, 4, KIND_VALUE);
  assert.ok(scheduler.isDone);
});
