import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SyntheticSpec, syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { scheduled } from '../scheduledTrace.test.support.js';
import { findings } from './findings.js';
import { many } from './workloads.test.support.js';

/** Tasks of 1 s on two threads, which waited for a core for 60 % of their time. */
const tasks = scheduled(many(20, 1), { workers: 2 }).tasks.map((task) => ({
  ...task,
  coreWait: 0.6 * (task.stopped - task.started),
}));

/**
 * Samples of a machine with `cores` cores, on which the program uses `used` of them and other programs `others`.
 *
 * @param throttled seconds per second in which the limit stopped threads
 */
function samples(
  throttled: number,
  { cores = 64, limit = 1, used = 0.8, others = 40 } = {},
): NonNullable<SyntheticSpec['resources']> {
  return Array.from({ length: 101 }, (_, i) => ({
    time: i / 10,
    figures: {
      cpu: 100 * used,
      host_cpu: 100 * (used + others),
      host_cores: cores,
      cpu_limit: limit,
      cpu_throttled: (throttled * i) / 10,
    },
  }));
}

const found = (resources: NonNullable<SyntheticSpec['resources']>) =>
  findings(syntheticTrace({ tasks, resources }));

test('a CPU limit that stops tasks is named with its cost, and other programs are not blamed', () => {
  const all = found(samples(1.3));
  assert.deepEqual(
    all.map(({ code }) => code),
    ['cpu-limit'],
  );
  const [{ title, seconds, evidence, advice }] = all as [(typeof all)[0]];
  assert.equal(title, 'The CPU limit of the container, 1 core, stops tasks for 60 % of their time');
  assert.ok(Math.abs(seconds / 6 - 1) < 0.05, `${seconds}`);
  assert.equal(evidence.numbers['limitCores'], 1);
  assert.match(advice, /^Raise the CPU limit .* With this limit, 1 worker thread does as much as 2\.$/);
});

test('a limit that stops tasks for a small part of their waits is not the cause', () => {
  const [first, ...others] = found(samples(0.2, { cores: 2, used: 0.8, others: 1.2 }));
  assert.equal(first?.code, 'cpu-oversubscription');
  assert.deepEqual(others, []);
});

test('with a limit, the advice for busy threads is to raise it if it has no room for more threads', () => {
  const withoutWaits = tasks.map((task) => ({ ...task, coreWait: 0 }));
  const adviceWith = (resources: NonNullable<SyntheticSpec['resources']>) => {
    const [first] = findings(syntheticTrace({ tasks: withoutWaits, resources }));
    assert.equal(first?.code, 'worker-bound');
    return first.advice;
  };
  assert.match(
    adviceWith(samples(0, { used: 1, others: 0 })),
    /^Raise the CPU limit of the container, and use more workers/,
  );
  for (const cores of [4, 64])
    assert.match(
      adviceWith(samples(0, { cores, limit: 4, used: 2, others: 0 })),
      /^Use more workers: there are cores for them/,
    );
  assert.match(
    adviceWith(samples(0, { cores: 4, limit: 4, used: 2, others: 1 })),
    /^Use more workers on more cores/,
  );
});
