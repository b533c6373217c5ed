// Tasks that wait for others through queues and events. The trace does not show who ends such a wait.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SyntheticSpec, syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { findings } from './findings.js';

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

test('a short serial end does not hide that one task ran for most of the time', () => {
  const codes = findings(syntheticTrace(producerAndConsumers(['w1'], 3))).map(({ code }) => code);
  assert.deepEqual(codes, ['lack-of-parallelism', 'serial-tail']);
});
