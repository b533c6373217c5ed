import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SyntheticSpec, syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { criticalPath } from '../criticalPath.js';
import { findings } from './findings.js';

/** A worker pauses after a task of 4 s. Its thread is replaced after 1 s, and receives the next task 2 s later. */
function restarted(isPaused: boolean): SyntheticSpec {
  const event = (time: number, topic: string) => ({ time, worker: 'w0', topic, text: 'w0' });
  const pause = [event(4, 'worker-paused'), event(5.1, 'worker-unpaused')];
  return {
    tasks: [
      { key: 'fit-0', started: 0, stopped: 4, submitted: 0 },
      { key: 'fit-1', started: 7, stopped: 9, submitted: 0, ready: 0, dispatched: 5, received: 7 },
    ],
    events: [event(5, 'worker-restarted'), ...(isPaused ? pause : [])].sort((a, b) => a.time - b.time),
  };
}

test('the time in which a new thread of a restarted worker loads modules is no wait for the scheduler', () => {
  const { byKind } = criticalPath(syntheticTrace(restarted(false)));
  const secondsOf = (kind: string) => byKind.find((sum) => sum.kind === kind)?.seconds ?? 0;
  assert.ok(Math.abs(secondsOf('worker start') - 2) < 1e-9, JSON.stringify(byKind));
  assert.ok(Math.abs(secondsOf('waiting for the scheduler') - 1) < 1e-9, JSON.stringify(byKind));
});

test('memory-bound names the threads that were replaced because their memory stayed beyond the limit', () => {
  const own = findings(syntheticTrace(restarted(true))).find(({ code }) => code === 'memory-bound');
  assert.equal(own?.title, 'Memory was short: the run waited 3 s for paused workers and for new threads');
  assert.match(own.evidence.text, /1 time, the thread of a worker was replaced/);
  assert.ok(!findings(syntheticTrace(restarted(false))).some(({ code }) => code === 'memory-bound'));
});

test('a restart that ended a run is the cause of the wait for the new thread', () => {
  const { tasks: [first, next] = [], ...others } = restarted(true);
  if (first === undefined || next === undefined) assert.fail();
  const cut = {
    ...{ key: 'fit-1', dispatched: 4, acknowledged: 5.001, state: 'lost' as const, submitted: 0, ready: 0 },
    ...{ received: Number.NaN, started: Number.NaN, stopped: Number.NaN },
  };
  const again = { ...next, attempt: 2, ready: 5.001, dispatched: 5.002 };
  const own = findings(syntheticTrace({ ...others, tasks: [first, cut, again] })).find(
    ({ code }) => code === 'memory-bound',
  );
  assert.match(own?.evidence.text ?? '', /the path waited 1\.9 s for new threads/);
});

test('memory-bound says nothing of waits for new threads if the path did not wait for them', () => {
  const { tasks = [], ...others } = restarted(true);
  const paused = { key: 'fit-1', started: 6, stopped: 9, submitted: 0, ready: 0, dispatched: 6, received: 6 };
  const own = findings(syntheticTrace({ ...others, tasks: [...tasks.slice(0, 1), paused] })).find(
    ({ code }) => code === 'memory-bound',
  );
  assert.match(own?.evidence.text ?? '', /1 time, the thread of a worker was replaced, .* limit\./);
});
