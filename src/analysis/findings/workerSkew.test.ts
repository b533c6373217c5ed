import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type SyntheticTask, syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { findings } from './findings.js';

/** First task id of the second cluster of a program. */
const SECOND = 2 * 2 ** 40;

it('a worker of one cluster is not advised to share its tasks with those of another cluster', () => {
  // Two workers prepare for a second each, then the only worker of another cluster computes for 8 s.
  const task = (key: string, worker: string, started: number): SyntheticTask => ({
    ...{ key, worker, submitted: 0, ready: 0, dispatched: 0, started, stopped: started + 1 },
  });
  const tasks = [
    task('load-0', 'w0', 0),
    task('load-1', 'w1', 0),
    ...Array.from({ length: 8 }, (_, i) => task(`fit-${i}`, 'only', 1 + i)),
  ];
  const skew = (hasSecond: boolean) => {
    const trace = syntheticTrace({ tasks });
    for (const row of trace.tasks.id.keys())
      if (hasSecond && trace.tasks.keyOf(row).startsWith('fit')) trace.tasks.id[row]! += SECOND;
    return findings(trace).find(({ code }) => code === 'worker-skew');
  };
  assert.match(
    skew(true)?.title ?? '',
    / 'only' while workers of another cluster or scheduler of the program/,
  );
  assert.match(skew(true)?.advice ?? '', /^Run these tasks where workers are idle, .* or give the cluster/);
  assert.match(skew(false)?.advice ?? '', /^Do not bind tasks to worker 'only'/);
});
