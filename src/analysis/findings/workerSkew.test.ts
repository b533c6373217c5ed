import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  type SyntheticSpec,
  type SyntheticTask,
  syntheticTrace,
} from '../../trace/syntheticTrace.test.support.js';
import { threadsTogether } from '../workerLives.js';
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

it('threads of a local scheduler that ended with their cancelled tasks are not idle workers afterwards', () => {
  // A program aborts a computation after 2 s. Its threads are replaced, and the new ones run four tasks each.
  const cancelled = ['threads-0', 'threads-1'].map(
    (worker): SyntheticTask => ({
      ...{ key: `fit-${worker}`, worker, submitted: 0, dispatched: 0, acknowledged: 2, state: 'cancelled' },
      ...{ received: Number.NaN, started: Number.NaN, stopped: Number.NaN },
    }),
  );
  const next = Array.from({ length: 8 }, (_, i): SyntheticTask => {
    const started = 2.1 + Math.floor(i / 2);
    return {
      key: `fit-${i}`,
      worker: `threads-${2 + (i % 2)}`,
      submitted: 2,
      dispatched: 2.1,
      started,
      stopped: started + 1,
    };
  });
  const spec = (lateEnd: boolean): SyntheticSpec => ({
    workers: [0, 0, 2.1, 2.1].map((started, i) => ({ name: `threads-${i}`, threads: 1, started })),
    tasks: [
      ...cancelled,
      ...(lateEnd ? [{ key: 'fit-x', worker: 'threads-0', submitted: 2, started: 2.2, stopped: 2.3 }] : []),
      ...next,
    ],
  });
  const trace = syntheticTrace(spec(false));
  assert.equal(threadsTogether(trace), 2);
  assert.ok(!findings(trace).some(({ code }) => code === 'worker-skew'));
  // A thread that runs a task afterwards did not end.
  assert.equal(threadsTogether(syntheticTrace(spec(true))), 3);
});

it('local schedulers do not measure how tasks that overlap use their threads, so that none of these is known to be idle', () => {
  const tasks = Array.from({ length: 7 }, (_, i): SyntheticTask => {
    const started = Math.max(0, i - 1);
    const times = {
      submitted: 0,
      ready: 0,
      dispatched: 0,
      started,
      seceded: started + 0.9,
      resumed: started + 0.9,
    };
    return { key: `fit-${i}`, worker: `w${Number(i > 0)}`, ...times, stopped: started + 1 };
  });
  const hasSkew = (address: string): boolean => {
    const workers = ['w0', 'w1'].map((name) => ({ name, address, threads: 1 }));
    return findings(syntheticTrace({ tasks, workers })).some(({ code }) => code === 'worker-skew');
  };
  assert.deepEqual([hasSkew('thread://w'), hasSkew('')], [true, false]);
});
