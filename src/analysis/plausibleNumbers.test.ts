// Numbers of findings and tables that no run can have: shares above 100 %, exponents and infinite ratios.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type SyntheticSpec,
  type SyntheticTask,
  syntheticTrace,
} from '../trace/syntheticTrace.test.support.js';
import type { Finding, FindingCode } from './findings/finding.js';
import { findings } from './findings/findings.js';
import {
  balanced,
  cpu,
  late,
  many,
  pausing,
  printed,
  printing,
  waitingForCores,
  withSlowWorker,
  withStraggler,
} from './findings/workloads.test.support.js';
import { scheduled } from './scheduledTrace.test.support.js';
import { stragglers } from './stragglers.js';
import { workerBalance, workerShares } from './workerBalance.js';

function foundIn(spec: SyntheticSpec, code: FindingCode): Finding {
  const found = findings(syntheticTrace(spec));
  const own = found.find((finding) => finding.code === code);
  assert.ok(own !== undefined, `not found; found: ${found.map((one) => one.code).join(', ')}`);
  return own;
}

test('a worker exists at least until its last task has ended, on whichever clock', () => {
  const trace = syntheticTrace({
    workers: [{ name: 'w0', address: 'tcp://10.0.0.1:4000', started: 0, stopped: 4 }],
    tasks: [
      { key: 'fit-1', started: 0, stopped: 5 },
      { key: 'fit-2', worker: 'w1', started: 0, stopped: 10 },
    ],
  });
  const { rows } = workerBalance(trace);
  const own = rows.find(({ Worker }) => Worker === 'w0');
  assert.deepEqual([own?.['Busy (%)'], own?.['Idle (s)']], [100, 0]);
  assert.equal(workerShares(trace)[0]?.busy, 1);
});

test('the seconds of a cause have no exponent', () => {
  const spec = withStraggler(400, true);
  const { worker = 'w0', started = 0 } = spec.tasks?.find(({ key }) => key === 'fit-slow') ?? {};
  const intervals = [{ worker, action: 'gc' as const, start: started, stop: started + 390 }];
  const { evidence } = foundIn({ ...spec, intervals }, 'stragglers');
  assert.match(evidence.text, /: 390 s of garbage collection\./);
});

test('a straggler has no multiple of a median of 0 s', () => {
  const short = many(40).map(({ key }, i) => ({ key, started: i, stopped: i }));
  const table = stragglers(syntheticTrace({ tasks: [...short, { key: 'fit-x', started: 50, stopped: 51 }] }));
  assert.deepEqual([table.cell(0, 'Key'), table.cell(0, 'Times the median')], ['fit-x', null]);
});

test('a worker is not slow if its tasks compute and the others only await promises', () => {
  const spec = withSlowWorker(4);
  const intervals = (spec.tasks ?? [])
    .filter(({ worker }) => worker !== 'w0')
    .map(({ worker = '', started, stopped, key }) => ({
      worker,
      action: 'await' as const,
      start: started,
      stop: stopped,
      task: key,
    }));
  const found = findings(syntheticTrace({ ...spec, metrics: cpu({ fit: [36, 72] }) ?? [], intervals }));
  assert.ok(!found.some(({ code }) => code === 'slow-worker'));
});

test('packing takes at most the whole run', () => {
  const metrics = [{ time: 1, worker: 'w0', prefix: 'fit', activity: 'serialize', value: 200 }];
  const { title, evidence } = foundIn({ tasks: balanced(), metrics }, 'serialization-bound');
  assert.match(title, /for 10 s of the run/);
  assert.match(evidence.text, /^This is 100 % of the critical path\./);
});

test('evidence lacks numbers that are not known', () => {
  const { evidence } = foundIn({ tasks: waitingForCores(0.5) }, 'cpu-oversubscription');
  assert.ok(Object.values(evidence.numbers).every(Number.isFinite), JSON.stringify(evidence.numbers));
});

test('small tasks are joined into no fewer than there are threads', () => {
  const spec = scheduled(many(120, 1e-5), { workers: 2, overhead: 5e-3 });
  const { advice } = foundIn(spec, 'tasks-too-small');
  assert.equal(advice, 'Join about 60 tasks into one, e.g. by larger blocks.');
});

test('results that Dask workers wrote to disk are named if these workers paused', () => {
  const written = { time: 5, worker: 'w0', context: 'memory-monitor', activity: 'disk-write' };
  const { evidence } = foundIn(
    {
      ...pausing(5),
      workers: [{ name: 'w0', address: 'tcp://10.0.0.1:4000', memoryLimit: 1e9, started: 0 }],
      metrics: [{ ...written, unit: 'bytes', value: 2e9 }],
    },
    'memory-bound',
  );
  assert.match(evidence.text, /2 GB of results were written to disk/);
  assert.equal(evidence.numbers['spilledBytes'], 2e9);
});

test('the findings of a run without results are in the order of their costs', () => {
  const none = { started: Number.NaN, stopped: Number.NaN };
  const found = findings(
    syntheticTrace({
      workers: [
        { name: 'w0', started: 0, stopped: 1 },
        { name: 'w1', started: 0 },
      ],
      tasks: [
        { ...none, key: 'a-1', state: 'lost', dispatched: 0, received: 0, acknowledged: 1 },
        { ...none, key: 'b-1', state: 'cancelled', worker: 'w1', dispatched: 1, acknowledged: 10 },
      ],
      events: [{ time: 1, worker: 'w0', topic: 'worker-lost', text: 'Its process ended.' }],
    }),
  );
  assert.deepEqual(
    found.map(({ code }) => code),
    ['cancelled-tasks', 'lost-work'],
  );
});

test('the advice to print less is given once', () => {
  const samples = (printing(50).samples ?? []).map((sample) => ({ ...sample, prefix: 'step' }));
  const found = findings(syntheticTrace({ ...late(0.5, 0.5), samples, events: printed(40 * 100) }));
  const advice = (code: FindingCode) => found.find((one) => one.code === code)?.advice ?? '';
  assert.match(advice('console-output'), /^Print less in tasks/);
  assert.match(advice('event-loop-starvation'), /^If it is not enough to print less, move the program's/);
});

test('failed attempts that cost more than they took name the waits until they were repeated', () => {
  const attempt = (number: number, started: number, state: 'erred' | 'memory'): SyntheticTask => ({
    ...{ key: 'fit-1', attempt: number, state, started, stopped: started + 1 },
    ...{ submitted: 0, ready: 0, dispatched: started, received: started },
  });
  const { seconds, evidence } = foundIn(
    { tasks: [attempt(1, 0, 'erred'), attempt(2, 5, 'memory')] },
    'failed-attempts',
  );
  assert.equal(seconds, 5);
  assert.match(
    evidence.text,
    /took 1 s, .* With the waits until they were repeated, they took 5 s of the critical/,
  );
});
