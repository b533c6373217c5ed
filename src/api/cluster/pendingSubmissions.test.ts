import assert from 'node:assert/strict';
import { test } from 'node:test';
import { delayed } from '../../graph/taskFunction.js';
import { Future, type FutureOwner } from './future.js';
import { PendingSubmissions } from './pendingSubmissions.js';

const owner: FutureOwner = {
  flush: () => undefined,
  fetch: () => Promise.resolve([]),
  awaiting: (_call, _future, work) => work,
  untilClosed: (call) => call,
  hold: () => undefined,
  release: () => undefined,
  cancel: () => undefined,
};

test("the program's time in a burst of calls leaves out Longpole's, also after a call that cannot be submitted", () => {
  let now = 0;
  const times: unknown[] = [];
  const submissions = new PendingSubmissions(
    () => now,
    (list, _options, { called, prepared }) => {
      times.push([list.length, called, prepared]);
      now += 100;
      throw new Error('refused');
    },
  );
  const one = delayed(() => 1)();
  const options = {};
  for (let call = 0; call < 2; call++) {
    submissions.during(() => {
      now += 1;
      submissions.add(one, new Future(owner, 'one'), options, () => '');
    });
    // The program computes.
    now += 5;
  }
  submissions.flush();
  assert.deepEqual(times, [
    [2, 0, 10],
    [1, 0, 10],
    [1, 0, 10],
  ]);
});
