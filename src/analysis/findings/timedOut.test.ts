import assert from 'node:assert/strict';
import { test } from 'node:test';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { findings } from './findings.js';

test('tasks that exceeded their timeout are named with it, and cost the time of their threads', () => {
  const done = Array.from({ length: 12 }, (_, i) => ({
    key: `load-${i}`,
    worker: 'w1',
    started: i / 4,
    stopped: (i + 1) / 4,
    submitted: 0,
    ready: 0,
    dispatched: i / 4,
  }));
  const short = { key: 'load-12', worker: 'w0', started: 0, stopped: 0.1, submitted: 0, ready: 0 };
  const ended = [0, 1, 2].map((i) => ({
    key: `load-2${i}`,
    worker: 'w0',
    started: Number.NaN,
    stopped: Number.NaN,
    submitted: 0,
    ready: 0,
    dispatched: i,
    acknowledged: i + 1,
    state: 'lost' as const,
  }));
  const events = ended.map(({ key, acknowledged }) => ({
    time: acknowledged,
    worker: 'w0',
    topic: 'task-erred',
    text: `Task '${key}' (function load, worker w0) was ended after 1.01 s: its timeout is 0.9 s. Raise it.`,
  }));
  const spec = {
    workers: [{ name: 'w0' }, { name: 'w1' }],
    tasks: [short, ...done, ...ended],
    events,
  };
  const [own, ...others] = findings(syntheticTrace(spec));
  assert.equal(own?.title, "3 tasks exceeded their timeout of 900 ms and have no result: 'load'");
  assert.deepEqual([own.code, own.seconds], ['lost-work', 1.5]);
  // The thread that ran these tasks was not idle.
  assert.ok(!others.some(({ code }) => code === 'worker-skew'));
});

test('tasks that exceeded their timeout held no thread while they waited for their worker', () => {
  const none = { started: Number.NaN, stopped: Number.NaN, state: 'lost' as const };
  const found = findings(
    syntheticTrace({
      tasks: [
        { key: 'fit-1', started: 3, stopped: 4, submitted: 0 },
        { ...none, key: 'load-1', submitted: 0, dispatched: 0, acknowledged: 4 },
      ],
      events: [
        {
          time: 4,
          worker: 'w0',
          topic: 'task-erred',
          text: "Task 'load-1' (function load, worker w0) was ended after 1.01 s: its timeout is 1 s. Raise it.",
        },
      ],
    }),
  );
  const own = found.find(({ code }) => code === 'lost-work');
  assert.equal(own?.evidence.numbers['heldSeconds'], 1.01);
});
