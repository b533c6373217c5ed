// Advice about a prefix with a single task.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { findings } from './findings.js';
import { cpu } from './workloads.test.support.js';

/** Four short tasks, one after the other, beside a consumer of 2 s that awaits for a share of this time. */
const consuming = (awaited: number) =>
  findings(
    syntheticTrace({
      tasks: [
        { key: 'consume-1', worker: 'w0', started: 0, stopped: 2 },
        ...[1, 2, 3, 4].map((i) => ({
          key: `produce-${i}`,
          worker: `w${i}`,
          started: 0.4 * i,
          stopped: 0.4 * i + 0.02,
        })),
      ],
      metrics: cpu({ consume: [2 * (1 - awaited), 2 * awaited], produce: [0.08, 0] }) ?? [],
      intervals: [{ worker: 'w0', action: 'await', start: 0, stop: 2 * awaited, task: 'consume-1' }],
    }),
  );

it('the advice for a single task is about its own waits, not about other tasks of its kind', () => {
  const [first, ...others] = consuming(0.8);
  assert.deepEqual([first?.code, others], ['lack-of-parallelism', []]);
  assert.match(
    first?.advice ?? '',
    /^Shorten the chain, most of which is the only task of 'consume', which mostly awaits promises: await several of them/,
  );
});

it('the advice for a single task that computes is to split it, not to combine results in a tree', () => {
  const [first, ...others] = consuming(0);
  assert.deepEqual([first?.code, others], ['lack-of-parallelism', []]);
  assert.match(first?.advice ?? '', /^Shorten the chain, .* the only task of 'consume': split it into tasks/);
});

it('a long task at the end is to be started earlier, or its inputs if it has some', () => {
  const ending = (needs: readonly string[]) =>
    findings(
      syntheticTrace({
        tasks: [
          ...Array.from({ length: 40 }, (_, i) => ({
            key: `short-${i}`,
            worker: `w${i % 2}`,
            started: Math.floor(i / 2) / 10,
            stopped: Math.floor(i / 2) / 10 + 0.1,
            submitted: 0,
          })),
          { key: 'long-0', started: 2, stopped: 5, submitted: 0, needs },
        ],
      }),
    )[0];
  assert.equal(ending([])?.code, 'serial-tail');
  assert.equal(
    ending([])?.advice,
    "Start 'long' before 'short', e.g. with a higher priority: { priority: 1 }. Or split 'long'.",
  );
  assert.equal(ending(['short-39'])?.advice, "Split 'long', or start the inputs of 'long' earlier.");
});

it('a long task that starts first cannot start earlier', () => {
  const short = Array.from({ length: 20 }, (_, i) => ({
    key: `short-${i}`,
    worker: 'w1',
    started: i / 10,
    stopped: (i + 1) / 10,
    submitted: 0,
  }));
  const long = { key: 'long-0', started: 0, stopped: 5, submitted: 0 };
  const [first] = findings(syntheticTrace({ tasks: [...short, long] }));
  assert.equal(first?.code, 'serial-tail');
  assert.equal(first?.advice, "Split 'long'.");
});
