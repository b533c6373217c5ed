import assert from 'node:assert/strict';
import { it } from 'node:test';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { findings } from './findings.js';

/** The program computes for a second whenever a result arrives, and for `after` seconds after the last one. */
const computing = (after: number) => {
  const tasks = Array.from({ length: 10 }, (_, i) => {
    const dispatched = 1.1 * i;
    const [started, stopped] = [dispatched, dispatched + 0.1];
    return { key: `load-${i}`, submitted: 0, ready: 0, dispatched, started, stopped, acknowledged: stopped };
  });
  // No timer fires meanwhile.
  const resources = Array.from({ length: 100 + 10 * after }, (_, i) => ({
    time: i / 10 + 0.1,
    figures: { eventLoopDelay: i / 10 },
  }));
  return findings(syntheticTrace({ tasks, resources }))[0];
};

it('a scheduler that sends tasks between computations of the program is not silent for all of them', () => {
  const first = computing(0);
  assert.deepEqual([first?.code, first?.seconds.toFixed(1)], ['event-loop-starvation', '9.0']);
  assert.match(first?.title ?? '', /^The scheduler did not answer for up to 1 s, /);
});

it('nothing waits for a scheduler that is silent after the last result', () => {
  assert.equal(computing(8)?.title, computing(0)?.title);
});

it('the event loop of a Dask scheduler that is blocked once is named, with advice for Dask', () => {
  const task = (i: number, dispatched: number) => {
    const [started, stopped] = [dispatched, dispatched + 0.2];
    return { key: `nap-${i}`, submitted: 0, ready: 0, dispatched, started, stopped, acknowledged: stopped };
  };
  const tasks = [task(0, 0), task(1, 0.2), task(2, 2.4), task(3, 2.6)];
  const resources = [0.25, 2.4, 2.7].map((time) => ({
    time,
    figures: { eventLoopDelay: time === 2.4 ? 2 : 0.01 },
  }));
  const workers = [{ name: 'w0', address: 'tcp://10.0.0.1:4000', started: 0 }];
  const [first] = findings(syntheticTrace({ tasks, resources, workers }));
  // A process may wait that long for a core.
  const short = resources.map(({ time }) => ({ time, figures: { eventLoopDelay: 0.2 } }));
  const codes = findings(syntheticTrace({ tasks, resources: short, workers })).map(({ code }) => code);
  assert.ok(!codes.includes('event-loop-starvation'));
  const early = findings(syntheticTrace({ tasks: tasks.slice(2), resources, workers }))[0];
  assert.deepEqual([early?.code, early?.seconds.toFixed(2)], ['event-loop-starvation', '2.00']);
  assert.deepEqual([first?.code, first?.seconds.toFixed(2)], ['event-loop-starvation', '2.00']);
  assert.match(first?.advice ?? '', /large graphs/);
  assert.doesNotMatch(first?.evidence.text ?? '', /program/);
});

it('a program that blocks the event loop before the profiler starts is the cause, and does not wait for results', () => {
  // Each call of submit() has a higher priority, so each task is added, but no report of a worker arrives meanwhile.
  const tasks = Array.from({ length: 40 }, (_, i) => {
    const submitted = i / 10;
    const started = i < 2 ? submitted : 4 + Math.floor((39 - i) / 2) / 20;
    const reported = i < 2 ? { acknowledged: 4 } : {};
    return {
      key: `fit-${i}`,
      worker: `w${i % 2}`,
      computation: i + 1,
      ...{ submitted, ready: submitted, dispatched: started, started, stopped: started + 0.05, ...reported },
    };
  });
  const resources = [4, 5].map((time) => ({
    time,
    figures: { eventLoopDelay: time === 4 ? 3.95 : 0 },
  }));
  const samples = [{ time: 4.5, worker: null, prefix: '', stack: ['main'], file: '/home/me/program.js' }];
  const codes = findings(syntheticTrace({ tasks, resources, samples })).map(({ code }) => code);
  assert.equal(codes[0], 'event-loop-starvation');
  assert.ok(!codes.includes('lack-of-parallelism'), `${codes}`);
});

it('a program that computes whenever a result arrives does not submit too few tasks at a time', () => {
  // Results wait for 0.09 s, until the program has handled the one before and submits another task. That of w1 waits to the end.
  const tasks = Array.from({ length: 31 }, (_, i) => {
    const submitted = 0.12 * Math.max(0, i - 1);
    const [started, stopped] = [submitted + 0.001, submitted + 0.03];
    const [worker, acknowledged] = i === 0 ? ['w1', 3.63] : ['w0', submitted + 0.121];
    const computation = Math.max(1, i);
    return { key: `nap-${i}`, submitted, started, stopped, worker, acknowledged, computation };
  });
  const resources = Array.from({ length: 31 }, (_, i) => ({
    time: 0.12 * i,
    figures: { eventLoopDelay: 0.115 },
  }));
  const codes = findings(syntheticTrace({ tasks, resources })).map(({ code }) => code);
  assert.equal(codes[0], 'event-loop-starvation');
  assert.ok(!codes.includes('lack-of-parallelism'), codes.join());
});

it('a program that blocks the event loop until its end is the cause, although other programs use the cores', () => {
  const tasks = Array.from({ length: 20 }, (_, i) => {
    const started = i < 2 ? 0.1 : 4 + i / 20;
    return {
      ...{ key: `fit-${i}`, submitted: 0, ready: 0, dispatched: started, started, stopped: started + 0.05 },
      ...{ coreWait: 0.03, ...(i < 2 ? { acknowledged: 4 } : {}) },
    };
  });
  const code = (figures: Record<string, number>) => {
    const resources = [{ time: 5.2, figures: { eventLoopDelay: 5, ...figures } }];
    return findings(syntheticTrace({ tasks, resources }))[0]?.code;
  };
  assert.equal(code({ scheduler_core_time: 2.5, scheduler_core_wait: 2.5 }), 'event-loop-starvation');
  // Without its times, the thread may have waited for a core.
  assert.notEqual(code({}), 'event-loop-starvation');
});
