// Tasks that wait for others through queues and events. The trace does not show who ends such a wait.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SyntheticSpec, syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { criticalPath } from '../criticalPath.js';
import { simulate } from '../simulate.js';
import { findings } from './findings.js';
import { contending } from './workloads.test.support.js';

/**
 * A task computes for 20 s. Meanwhile tasks on other threads are outside their slots, and mostly wait; the last one then
 * computes for `after` seconds.
 */
function producerAndConsumers(workers: readonly string[], after: number): SyntheticSpec {
  const take = (worker: string, at: number) => ({
    key: `take-${worker}`,
    worker,
    started: 0,
    seceded: 0.01,
    resumed: 20,
    waited: 18,
    stopped: at + 1 === workers.length ? 20 + after : 20,
  });
  return {
    tasks: [{ key: 'produce-0', worker: 'w0', started: 0, stopped: 20 }, ...workers.map(take)],
  };
}

test('the chain of tasks that wait for a queue is the task that runs meanwhile', () => {
  const [own] = findings(syntheticTrace(producerAndConsumers(['w1', 'w2'], 0.1)));
  assert.equal(own?.code, 'lack-of-parallelism');
  assert.match(own.advice, /^Shorten the chain, most of which is the only task of 'produce'/);
  assert.match(
    own.evidence.text,
    /For 20 s of it, 'take' waits outside its slot, .* and mostly 'produce' runs\./,
  );
});

test('consumers that wait for a slow producer have a finding, also if both threads are busy for more than half of the time', () => {
  const metric = { prefix: 'take', activity: "wait for Queue 'jobs'", time: 20, worker: 'w1' };
  const run = (waited: number, others: readonly string[] = [], last = 20) => {
    const { tasks: [produce, take] = [] } = producerAndConsumers(['w1'], 0.1);
    const more = others.map((worker) => ({ ...produce!, key: `produce-${worker}`, worker }));
    return findings(
      syntheticTrace({
        tasks: [{ ...produce!, stopped: last }, ...more, { ...take!, waited }],
        metrics: [{ ...metric, context: 'shared', value: waited }],
      }),
    );
  };
  for (const waited of [17, 15, 13]) {
    const [own] = run(waited);
    assert.equal(own?.code, 'lack-of-parallelism', `${waited}`);
    assert.match(
      own.evidence.text,
      /'take' waits outside its slot, for Queue 'jobs', and mostly 'produce' runs/,
    );
  }
  // The producer ends last, so the path does not wait for the queue.
  const [own] = run(17, [], 21);
  assert.equal(own?.code, 'lack-of-parallelism');
  assert.match(own.evidence.text, /Meanwhile, tasks of 'take' wait 17 s for Queue 'jobs'\./);
  // A task that collects the results of producers on all threads mostly waits.
  assert.ok(!run(19, ['w1']).some(({ code }) => code === 'lack-of-parallelism'));
});

test('a short serial end does not hide that one task ran for most of the time', () => {
  const codes = findings(syntheticTrace(producerAndConsumers(['w1'], 3))).map(({ code }) => code);
  assert.deepEqual(codes, ['lack-of-parallelism', 'serial-tail']);
});

test('a wait for a queue has the name of the queue, and is no limit for more workers', () => {
  const spec = producerAndConsumers(['w1', 'w2'], 0.1);
  const waited = (value: number) => {
    const metric = { prefix: 'take', activity: "wait for Queue 'jobs'", value, time: 20, worker: 'w1' };
    return syntheticTrace({ ...spec, metrics: [{ ...metric, context: 'shared' }] });
  };
  const trace = waited(36);
  const own = findings(trace).find(({ code }) => code === 'lack-of-parallelism');
  assert.match(own?.evidence.text ?? '', /'take' waits outside its slot, for Queue 'jobs', and mostly/);
  assert.ok(!findings(trace).some(({ code }) => code === 'lock-contention'));
  const behind = (of: typeof trace) =>
    criticalPath(of)
      .summary()
      .rows.filter(({ Kind }) => Kind === 'awaiting')
      .map(({ Prefix, Behind }) => [Prefix, Behind]);
  assert.deepEqual(behind(trace), [['take', "Queue 'jobs'"]]);
  // These waits are too short to be what the path awaits.
  assert.deepEqual(behind(waited(1)), [['take', null]]);
  assert.deepEqual(simulate(trace), simulate(syntheticTrace(spec)));
  assert.equal(criticalPath(trace).floor, criticalPath(syntheticTrace(spec)).floor);
});

test('a wait for an event while no task computes is what the run waited for', () => {
  const waiting = ['w0', 'w1'].map((worker) => ({
    ...{ key: `use-${worker}`, worker, started: 0, seceded: 0.01, resumed: 20, waited: 19.9, stopped: 20.1 },
  }));
  const metric = { prefix: 'use', activity: "wait for Event 'config'", value: 39.8, time: 20, worker: 'w0' };
  const metrics = [{ ...metric, context: 'shared' }];
  const [own, ...others] = findings(syntheticTrace({ tasks: waiting, metrics }));
  assert.equal(own?.title, "Tasks of 'use' wait for Event 'config' while no other task computes");
  assert.ok(own.seconds > 19 && own.seconds < 20, `${own.seconds}`);
  assert.deepEqual(others, []);
  // They compute after the wait, at a time that is not recorded.
  const busy = waiting.map((task) => ({ ...task, waited: 15, stopped: 24 }));
  const late = findings(syntheticTrace({ tasks: busy, metrics }));
  const wait = late.find(({ code }) => code === 'shared-wait');
  assert.ok(wait !== undefined && wait.seconds > 14, `${wait?.seconds}`);
  // After the wait, they compute one after another.
  const inTurn = waiting.map((task, i) => {
    const resumed = 20 + 2 * i;
    return { ...task, worker: 'w1', resumed, waited: resumed - task.seceded, stopped: resumed + 2 };
  });
  const [first] = findings(syntheticTrace({ tasks: inTurn, metrics }));
  assert.equal(first?.code, 'shared-wait');
  assert.ok(Math.abs(first.seconds - 20) < 0.2, `${first.seconds}`);
  // A task that computes meanwhile may end the wait.
  const load = { key: 'load-0', worker: 'w2', started: 0, stopped: 20 };
  const codes = findings(syntheticTrace({ tasks: [load, ...waiting], metrics })).map(({ code }) => code);
  assert.ok(!codes.includes('shared-wait'), codes.join(', '));
});

test('a semaphore with many leases costs less than a lock, because their holders run at the same time', () => {
  const cost = (held: number): number | undefined => {
    const spec = contending(5);
    const metrics = [...(spec.metrics ?? [])];
    if (held > 0)
      metrics.push({
        time: 0,
        worker: 'w0',
        context: 'shared',
        prefix: '',
        activity: "held Lock 'x'",
        value: held,
      });
    return findings(syntheticTrace({ ...spec, metrics })).find(({ code }) => code === 'lock-contention')
      ?.seconds;
  };
  // One holder and two waiting tasks; then three holders and two waiting tasks, on four threads.
  assert.ok(Math.abs((cost(0) ?? 0) - 5 * (1 - 1 / 3)) < 0.01, `${cost(0)}`);
  assert.ok(Math.abs((cost(15) ?? 0) - 5 * (1 - 3 / 4)) < 0.01, `${cost(15)}`);
});
