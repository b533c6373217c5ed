import assert from 'node:assert/strict';
import { test } from 'node:test';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { type ScheduledTask, scheduled } from '../scheduledTrace.test.support.js';
import { findings } from './findings.js';
import { chain, many } from './workloads.test.support.js';

const tail = (tasks: readonly ScheduledTask[]) =>
  findings(syntheticTrace(scheduled(tasks, { workers: 2 }))).find(({ code }) => code === 'serial-tail');

test('a chain at the end that was ready before other tasks ran needs a higher priority', () => {
  const own = tail([...many(20), ...chain(5)]);
  assert.match(own?.evidence.text ?? '', /Before, 'step' was ready for 10 s while mostly 'fit' ran\.$/);
  assert.match(own?.advice ?? '', /^Start 'step' before 'fit', e\.g\. with a higher priority: /);
});

test('a chain at the end that needs the last other task, or that is longer than its wait, must be divided', () => {
  for (const own of [tail([...many(20), ...chain(5, ['fit-19'])]), tail([...many(8), ...chain(12)])])
    assert.match(own?.advice ?? '', /^Split 'step', combine results in a tree/);
});

test('equal tasks that do not divide evenly among the threads need a better division, not an earlier start', () => {
  assert.match(
    tail(many(3))?.advice ?? '',
    /^Divide the work of 'fit' into more and smaller tasks, e\.g\. a multiple of 2/,
  );
  const fit = (i: number, worker: string, started: number, stopped: number) => {
    return { key: `fit-${i}`, worker, started, stopped, submitted: 0, ready: 0 };
  };
  // The tail begins with the end of a task from the start.
  const tasks = [fit(0, 'w1', 0, 1), fit(1, 'w0', 0, 1.05), fit(2, 'w1', 1.05, 2)];
  const [own] = findings(syntheticTrace({ tasks })).filter(({ code }) => code === 'serial-tail');
  assert.match(own?.advice ?? '', /^Divide the work of 'fit'/);
  const late = { key: 'sum-0', seconds: 1, needs: ['fit-3'] };
  assert.equal(tail([...many(4), late])?.advice, "Split 'sum', or start the inputs of 'sum' earlier.");
});

test('a task that began with the first one, and left its slot to others, cannot start earlier', () => {
  const times = { worker: 'w1', submitted: 0, ready: 0 };
  const put = Array.from({ length: 8 }, (_, i) => {
    const started = 0.5 + Math.floor(i / 2);
    return { ...times, key: `put-${i}`, worker: `w${i % 2}`, started, stopped: started + 1 };
  });
  const consume = {
    ...times,
    key: 'get-0',
    started: 0,
    seceded: 0.1,
    resumed: 0.2,
    waited: 0.1,
    stopped: 12,
  };
  const tasks = [...put, consume];
  const own = findings(syntheticTrace({ tasks })).find(({ code }) => code === 'serial-tail');
  assert.equal(own?.advice, "Split 'get'.");
});

test('tasks that end one by one because each holds a lock are no serial tail', () => {
  const write = Array.from({ length: 8 }, (_, i) => ({
    ...{ key: `write-${i}`, worker: `w${Number(i > 1)}`, submitted: 0, ready: 0 },
    ...{ started: i / 100, seceded: (i + 0.5) / 100, resumed: 1 + i, waited: 1 + i / 2, stopped: 2 + i },
  }));
  const metric = (activity: string, prefix: string, value: number) => {
    return { time: 9, worker: 'w1', context: 'shared', activity, prefix, value };
  };
  const codes = (lock: string) =>
    findings(
      syntheticTrace({
        tasks: write,
        metrics: [metric(`contended ${lock}`, '', 7), metric(`wait for ${lock}`, 'write', 28)],
      }),
    ).map(({ code }) => code);
  assert.deepEqual(codes("Lock 'db'"), ['lock-contention']);
});

test('tasks at the end that had left their slots on one worker to wait for an event should take an argument', () => {
  const waiting = Array.from({ length: 8 }, (_, i) => ({
    key: `use-${i}`,
    worker: 'w1',
    started: i / 100,
    seceded: (i + 0.5) / 100,
    resumed: 10 + i,
    waited: 10 + i - (i + 0.5) / 100,
    stopped: 11 + i,
    submitted: 0,
    ready: 0,
  }));
  const fit = Array.from({ length: 20 }, (_, i) => {
    const started = 0.1 + Math.floor(i / 2);
    return { key: `fit-${i}`, worker: `w${i % 2}`, started, stopped: started + 0.99, submitted: 0, ready: 0 };
  });
  const tasks = [...fit, ...waiting].sort((a, b) => a.stopped - b.stopped);
  const all = findings(syntheticTrace({ tasks }));
  // They could not run on the idle worker.
  assert.ok(!all.some(({ code }) => code === 'worker-skew'));
  const own = all.find(({ code }) => code === 'serial-tail');
  assert.match(own?.evidence.text ?? '', /These tasks had begun on 'w1' before, left their slots/);
  assert.match(own?.advice ?? '', /^Pass to 'use' what it waits for as an argument/);
});
