import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type SyntheticTask, syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { findings } from './findings.js';

it('small tasks and the time between them count without waits for a core', () => {
  const costs = (stretch: number): number | undefined => {
    const tasks = Array.from({ length: 1000 }, (_, i): SyntheticTask => {
      const started = i * 0.003 * stretch;
      const stopped = started + 0.002 * stretch;
      const times = {
        submitted: 0,
        ready: 0,
        dispatched: 0,
        received: 0,
        started,
        stopped,
        acknowledged: stopped,
      };
      return { key: `fit-${i}`, worker: 'w0', ...times, coreWait: 0.002 * (stretch - 1) };
    });
    const found = findings(syntheticTrace({ tasks, workers: [{ name: 'w0' }] }));
    return found.find(({ code }) => code === 'tasks-too-small')?.seconds;
  };
  assert.ok(Math.abs((costs(1) ?? 0) - 1) < 0.01, `${costs(1)}`);
  assert.ok(Math.abs((costs(3) ?? 0) - 1) < 0.01, `${costs(3)}`);
});

it('waits for the scheduler count without those of its thread for a core', () => {
  // Every 30 ms, the worker receives ten tasks of 1 ms. The remaining 20 ms are waits for the scheduler.
  const tasks = Array.from({ length: 1000 }, (_, i): SyntheticTask => {
    const dispatched = 0.03 * Math.floor(i / 10);
    const started = dispatched + 0.001 * (i % 10);
    return { key: `fit-${i}`, submitted: 0, ready: 0, dispatched, started, stopped: started + 0.001 };
  });
  const costs = (waiting: number): number => {
    const resources = Array.from({ length: 31 }, (_, i) => ({
      time: i / 10,
      figures: { scheduler_core_time: ((1 - waiting) * i) / 10, scheduler_core_wait: (waiting * i) / 10 },
    }));
    const found = findings(syntheticTrace({ tasks, resources }));
    return found.find(({ code }) => code === 'tasks-too-small')?.seconds ?? 0;
  };
  assert.ok(Math.abs(costs(0) - 1.98) < 0.01, `${costs(0)}`);
  assert.ok(Math.abs(costs(0.75) - 1.98 / 4) < 0.01, `${costs(0.75)}`);
});

it('tasks that the program awaits one after the other cost the time between them on one thread', () => {
  // Each task of 1 ms is submitted 1 ms after the program has received the previous result, and takes 4 ms more.
  const tasks = Array.from({ length: 1000 }, (_, i): SyntheticTask => {
    const submitted = 0.006 * i;
    const times = { submitted, ready: submitted, dispatched: submitted + 0.001, received: submitted + 0.002 };
    return {
      key: `fit-${i}`,
      worker: 'w0',
      ...times,
      started: submitted + 0.002,
      stopped: submitted + 0.003,
      acknowledged: submitted + 0.005,
    };
  });
  const trace = syntheticTrace({ tasks, workers: [{ name: 'w0' }, { name: 'w1' }] });
  const found = findings(trace).find(({ code }) => code === 'tasks-too-small') ?? assert.fail();
  assert.ok(found.seconds > 4.5 && found.seconds < 6, `${found.seconds}`);
  assert.match(
    found.evidence.text,
    / The program waited for results 999 times before it submitted more tasks/,
  );
  assert.match(found.advice, /^Do several steps in one task, /);
});

it('cost the time in which a local scheduler compiles their graph, and not a cluster between its calls', () => {
  // Two threads run tasks of 1 ms without a pause, 4 s after the call.
  const tasks = Array.from({ length: 2000 }, (_, i): SyntheticTask => {
    const started = 4.001 + 0.001 * Math.floor(i / 2);
    const times = { submitted: 4, ready: 4, dispatched: 4, received: 4, started, stopped: started + 0.001 };
    return { key: `fit-${i}`, worker: `w${i % 2}`, ...times };
  });
  const foundIn = (client: string) =>
    findings(syntheticTrace({ tasks, client, called: 0 })).find(({ code }) => code === 'tasks-too-small');
  const found = foundIn('local') ?? assert.fail();
  assert.ok(Math.abs(found.seconds - 4) < 0.01, `${found.seconds}`);
  assert.match(found.evidence.text, / Longpole took 4 s to prepare the tasks before it submitted them\.$/);
  assert.equal(foundIn('client'), undefined);
});

it('the advice for as many small tasks as threads is not to join one task', () => {
  // Ten of 100 threads run ten tasks of 1 ms each, with 10 ms between them.
  const tasks = Array.from({ length: 100 }, (_, i): SyntheticTask => {
    const started = 0.011 * Math.floor(i / 10);
    const times = { submitted: 0, ready: 0, dispatched: 0, started, stopped: started + 0.001 };
    return { key: `fit-${i}`, thread: i % 10, ...times };
  });
  const found = findings(syntheticTrace({ tasks, workers: [{ name: 'w0', threads: 100 }] }));
  const advice = found.find(({ code }) => code === 'tasks-too-small')?.advice;
  assert.match(advice ?? '', /^Join about 2 tasks into one/);
});
