// First calls that take far longer than all later ones are one finding, and other long tasks are not that finding.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type SyntheticSpec, syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { type ScheduledTask, scheduled } from '../scheduledTrace.test.support.js';
import { stragglersOf } from '../stragglers.js';
import { findings } from './findings.js';
import { codesOf, cpu, many, withSlowFirst, withStraggler } from './workloads.test.support.js';

const slowFirst = (spec: SyntheticSpec) =>
  findings(syntheticTrace(spec)).find(({ code }) => code === 'slow-first-calls');

/** Two hundred tasks of 5 ms, some of them changed. */
const changed = (change: (i: number) => Partial<ScheduledTask>, workers = 2): SyntheticSpec =>
  scheduled(
    many(200, 5e-3).map((task, i) => ({ ...task, ...change(i) })),
    { workers },
  );

describe('first calls that take far longer than later ones', () => {
  it('are named with the function, the number of workers, both durations and the cost for the run', () => {
    const spec = withSlowFirst(0.8);
    const own = slowFirst(spec);
    assert.equal(own?.title, "The first call of 'fit' on each of 2 workers takes 800 ms, later calls 5.1 ms");
    // Each of two threads would save 0.795 s.
    assert.ok(Math.abs(own.seconds - 0.795) < 0.01, String(own.seconds));
    assert.match(own.evidence.text, /on all 2 workers is 800 ms, that of 198 later calls 5\.1 ms/);
    assert.deepEqual(own.evidence.tasks, ['fit-0', 'fit-1']);
    assert.match(own.advice, /`client\.registerPlugin\(\)`/);
  });

  it('are no stragglers, also if a straggler of the same function follows', () => {
    assert.deepEqual(stragglersOf(syntheticTrace(withSlowFirst(0.8))), []);
    const both = changed((i) => (i < 2 || i === 150 ? { seconds: 0.8 } : {}));
    assert.ok(slowFirst(both) !== undefined);
    const trace = syntheticTrace(both);
    assert.deepEqual(
      stragglersOf(trace).map(({ row }) => trace.tasks.keyOf(row)),
      ['fit-150'],
    );
  });

  it('are found among few tasks of each worker, and if one of four workers had the function ready', () => {
    const few = scheduled(
      many(40, 5e-3).map((task, i) => (i < 8 ? { ...task, seconds: 0.8 } : task)),
      { workers: 8 },
    );
    assert.match(slowFirst(few)?.title ?? '', /each of 8 workers/);
    assert.match(
      slowFirst(changed((i) => (i < 3 ? { seconds: 0.8 } : {}), 4))?.evidence.text ?? '',
      /on 3 of 4/,
    );
  });

  it('are found if another worker runs all later calls', () => {
    const spec = changed((i) =>
      i < 2 ? { seconds: i === 0 ? 0.8 : 1.9, worker: `w${i}` } : { worker: 'w0' },
    );
    assert.match(slowFirst(spec)?.title ?? '', /each of 2 workers takes 1\.4 s/);
    // A single worker's only task may be a larger one.
    assert.equal(slowFirst(changed((i) => (i === 199 ? { seconds: 0.8, worker: 'w2' } : {}))), undefined);
  });

  it('include calls on the same worker that began before the first one ended', () => {
    const calls = (worker: string, began: number, thread: number) =>
      Array.from({ length: 50 }, (_, i) => {
        const started = i === 0 ? began : 0.8 + (i + began) / 100;
        const stopped = i === 0 ? 0.8 : started + 5e-3;
        return { key: `fit-${worker}.${began}.${i}`, worker, thread, started, stopped, submitted: 0 };
      });
    // On threads of their own, or as calls that overlap because they await.
    for (const threads of [3, 1]) {
      const spec = {
        tasks: ['w0', 'w1'].flatMap((worker) =>
          [0, 0.1, 0.72].flatMap((began, i) => calls(worker, began, i % threads)),
        ),
      };
      assert.equal(slowFirst(spec)?.evidence.numbers['laterCalls'], 2 * 3 * 49);
      assert.deepEqual(stragglersOf(syntheticTrace(spec)), []);
    }
  });

  it('name another function whose first calls are slow, too', () => {
    const more = many(200, 5e-3, 'load').map((task, i) => (i < 2 ? { ...task, seconds: 0.4 } : task));
    const first = many(200, 5e-3).map((task, i) => (i < 2 ? { ...task, seconds: 0.8 } : task));
    const own = slowFirst(scheduled([...first, ...more], { workers: 2 }));
    assert.match(own?.evidence.text ?? '', / Those of 'load' take 790 ms longer\.$/);
    assert.ok(Math.abs((own?.seconds ?? 0) - 1.19) < 0.02, String(own?.seconds));
  });

  it('do not count as blocked time of the function', () => {
    const spec = { ...withSlowFirst(0.8), metrics: cpu({ fit: [0.6, 2] }) ?? [] };
    assert.deepEqual(codesOf(spec), ['slow-first-calls']);
  });
});

describe('other long tasks are no slow first calls', () => {
  it('on a single worker, on one of several workers, or later than the first call', () => {
    assert.equal(slowFirst(changed((i) => (i === 0 ? { seconds: 0.8 } : {}), 1)), undefined);
    assert.equal(slowFirst(changed((i) => (i === 0 ? { seconds: 0.8 } : {}))), undefined);
    assert.equal(slowFirst(changed((i) => (i === 2 || i === 3 ? { seconds: 0.8 } : {}))), undefined);
    assert.equal(slowFirst(withStraggler(8, true)), undefined);
    assert.equal(slowFirst(withStraggler(8, false)), undefined);
  });

  it('if the longest tasks start first, or tasks become shorter', () => {
    assert.equal(slowFirst(changed((i) => (i < 3 ? { seconds: 0.8 - i / 10 } : {}))), undefined);
    assert.equal(slowFirst(changed((i) => ({ seconds: 5e-3 + 0.8 * 0.7 ** i }))), undefined);
    assert.equal(slowFirst(changed((i) => ({ seconds: 5e-3 * (200 - i) }))), undefined);
  });

  it('if many later tasks are as long', () => {
    assert.equal(slowFirst(changed((i) => (i < 2 || i % 8 === 7 ? { seconds: 0.8 } : {}))), undefined);
    assert.equal(
      slowFirst(changed((i) => (i < 2 || i % 50 === 7 ? { seconds: 0.8 } : {})))?.code,
      'slow-first-calls',
    );
  });

  it('if they have far larger inputs, waited for a core, or the profiler started in them', () => {
    const { tasks = [] } = withSlowFirst(0.8);
    const isFirst = ({ key }: { key: string }) => key === 'fit-0' || key === 'fit-1';
    const inputs = tasks.map((task) => ({
      key: `in-${task.key}`,
      started: -1,
      stopped: -1,
      nbytes: isFirst(task) ? 8e6 : 1e6,
    }));
    const larger = tasks.map((task) => ({ ...task, needs: [`in-${task.key}`] }));
    assert.equal(slowFirst({ tasks: [...inputs, ...larger] }), undefined);
    const waiting = tasks.map((task) => ({ ...task, coreWait: isFirst(task) ? 0.75 : 0 }));
    assert.equal(slowFirst({ tasks: waiting }), undefined);
    const starting = ['w0', 'w1'].map((worker) => ({
      worker,
      action: 'profiler' as const,
      start: 0.02,
      stop: 0.75,
    }));
    assert.equal(slowFirst({ tasks, intervals: starting }), undefined);
  });
});
