// Runs that resemble a run with a finding and must not have the finding.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type SyntheticSpec, syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { scheduled } from '../scheduledTrace.test.support.js';
import { findings } from './findings.js';
import {
  awaiting,
  balanced,
  chain,
  codesOf,
  collectingBeside,
  cpu,
  many,
  packing,
  startingProfiler,
  waitingForCores,
  withStraggler,
} from './workloads.test.support.js';

describe('findings', () => {
  it('the start of a profiler during packing does not count as packing', () => {
    const { tasks = [], intervals = [] } = packing(0.5);
    const profiler = intervals.map((interval) => ({
      ...interval,
      action: 'profiler' as const,
      start: interval.start + 0.01,
      stop: interval.stop - 0.01,
    }));
    assert.ok(!codesOf({ tasks, intervals: [...intervals, ...profiler] }).includes('serialization-bound'));
  });

  it('a worker that is still starting does not count as idle', () => {
    // Both workers were sent their first task at the same time, but the second worker began its task late.
    const spec = (dispatched: number): SyntheticSpec => ({
      tasks: [
        ...scheduled(
          many(20).map((task) => ({ ...task, worker: 'w0' })),
          { workers: 1 },
        ).tasks.map((task) => ({ ...task, dispatched: 0, received: 0 })),
        ...many(10, 1, 'other').map(({ key }, i) => ({
          key,
          worker: 'w1',
          started: 10.3 + i,
          stopped: 11.3 + i,
          dispatched,
        })),
      ],
    });
    assert.ok(codesOf(spec(9)).includes('worker-skew'));
    assert.ok(!codesOf(spec(0)).includes('worker-skew'));
  });

  it('a worker that joined late was not idle before', () => {
    const spec = (made: number): SyntheticSpec => ({
      workers: [{ name: 'w0' }, { name: 'w1', started: made }],
      tasks: [
        ...scheduled(
          many(20).map((task) => ({ ...task, worker: 'w0' })),
          { workers: 1 },
        ).tasks,
        ...many(10, 1, 'other').map(({ key }, i) => ({
          key,
          worker: 'w1',
          started: 10.3 + i,
          stopped: 11.3 + i,
          dispatched: 10.05,
          received: 10.3,
        })),
      ],
    });
    assert.ok(codesOf(spec(0)).includes('worker-skew'));
    assert.ok(!codesOf(spec(10)).includes('worker-skew'));
  });

  it('a thread that waits for helper threads of the garbage collector does not count as blocked', () => {
    const gc = { time: 1, worker: 'w0', prefix: 'fit', activity: 'gc', value: 20 };
    const metrics = (value: number) => [...(cpu({ fit: [3, 17] }) ?? []), { ...gc, value }];
    assert.deepEqual(codesOf({ tasks: balanced(), metrics: metrics(20) }), ['garbage-collection']);
    assert.deepEqual(codesOf({ tasks: balanced(), metrics: metrics(1) }), ['synchronous-io']);
  });

  it('garbage collection while no task runs has no cost', () => {
    const codes = findings(syntheticTrace(collectingBeside())).map(({ code }) => code);
    assert.ok(!codes.includes('garbage-collection'), codes.join());
  });

  it('blocked time of the first call of a function, which loads modules, does not count as synchronous I/O', () => {
    const short = (count: number) => ({
      tasks: scheduled(many(count, 0.05), { workers: 1 }).tasks,
      metrics: cpu({ fit: [0.05 * count * 0.3, 0.05 * count * 0.7] }) ?? [],
    });
    assert.ok(!codesOf(short(2)).includes('synchronous-io'));
    assert.deepEqual(codesOf(short(40)), ['synchronous-io']);
  });

  it('time in which asynchronous tasks await promises does not count as blocked', () => {
    assert.deepEqual(codesOf(awaiting(0.8)), ['asynchronous-wait']);
    // The same tasks without recorded waits.
    assert.deepEqual(codesOf({ ...awaiting(0.8), intervals: [] }), ['synchronous-io']);
    const crowded = findings(syntheticTrace({ ...awaiting(0.8), tasks: waitingForCores(0.4) }));
    const own = crowded.find(({ code }) => code === 'asynchronous-wait');
    assert.match(own?.title ?? '', /^Tasks of 'fit' wait for promises 40 % of their time/);
  });

  it('a seceded task that waits does not idle its thread', () => {
    const outer = ['w0', 'w1', 'w2', 'w3'].map((worker) => ({
      key: `outer-${worker}`,
      worker,
      started: 0,
      seceded: 0.01,
      resumed: 10,
      stopped: 10,
    }));
    const metrics = cpu({ fit: [40, 0], outer: [0.04, 0] }) ?? [];
    assert.deepEqual(codesOf({ tasks: [...balanced(), ...outer], metrics }), ['worker-bound']);
  });

  it('the start of a profiler does not make a task a straggler', () => {
    assert.ok(codesOf(withStraggler(8, true)).includes('stragglers'));
    assert.deepEqual(codesOf(startingProfiler()), []);
  });

  it('the first call of a function on a worker, which loads and compiles the function, is no straggler', () => {
    // Three workers run 10 short tasks each, and a fourth worker runs a single task of `seconds`.
    const called = (seconds: number): SyntheticSpec => ({
      tasks: [
        ...scheduled(many(30, 0.01), { workers: 3 }).tasks,
        { key: 'fit-last', worker: 'w3', started: 0.1, stopped: 0.1 + seconds },
      ],
    });
    assert.ok(!codesOf(called(0.09)).includes('stragglers'));
    const found = (seconds: number) =>
      findings(syntheticTrace(called(seconds))).find(({ code }) => code === 'stragglers');
    assert.match(found(0.25)?.evidence.text ?? '', /had not run the function before/);
    assert.match(
      found(0.25)?.advice ?? '',
      /^Look for what '.+' loads or builds in its first call on a worker/,
    );
    // The first calls on the other workers took as long as later ones, so loading the function does not explain a second.
    assert.match(found(1)?.evidence.text ?? '', /^The trace shows no cause/);
    assert.equal(found(1)?.confidence, 'medium');
  });

  it('many long tasks that take most of the time are an uneven division of the work, and no stragglers', () => {
    // Their durations grow, like the sizes of files.
    const spec = (long: number): SyntheticSpec =>
      scheduled(
        many(300, 0.01).map((task, i) =>
          i % 15 === 7 && i < 15 * long ? { ...task, seconds: 0.5 + i / 100 } : task,
        ),
        { workers: 2 },
      );
    const [first] = findings(syntheticTrace(spec(20)));
    assert.equal(first?.code, 'worker-bound');
    assert.match(first.evidence.text, / 20 long tasks of 'fit' take 9\d % of its time\.$/);
    assert.ok(!codesOf(spec(20)).includes('stragglers'));
    assert.ok(codesOf(spec(5)).includes('stragglers'));
  });

  it('a long task on the only thread is no straggler', () => {
    const spec = (workers: number): SyntheticSpec => ({
      workers: Array.from({ length: workers }, (_, index) => ({ name: `w${index}` })),
      tasks: [
        { key: 'fit-slow', worker: 'w0', started: 0, stopped: 3, ready: 0 },
        ...many(40).map(({ key }, index) => ({
          key,
          worker: 'w0',
          ready: 0,
          received: 0,
          started: 3 + index / 10,
          stopped: 3.1 + index / 10,
        })),
      ],
    });
    assert.ok(codesOf(spec(2)).includes('stragglers'));
    assert.ok(!codesOf(spec(1)).includes('stragglers'));
  });

  it('equal shares of time without a core count as sleep, unless the system counted waits for a core', () => {
    const tasks = scheduled([...many(20), ...many(20, 1, 'load')], { workers: 4 }).tasks;
    const codes = (metrics: SyntheticSpec['metrics'], coreWait = Number.NaN) =>
      codesOf({ tasks: tasks.map((task) => ({ ...task, coreWait })), metrics: metrics ?? [] });
    assert.deepEqual(codes(cpu({ fit: [12, 8], load: [11, 9] })), ['worker-bound']);
    assert.deepEqual(codes(cpu({ fit: [12, 8], load: [11, 9] }), 0.4), ['cpu-oversubscription']);
    assert.deepEqual(codes(cpu({ fit: [19, 1], load: [4, 16] })), ['synchronous-io']);
    assert.deepEqual(codes(cpu({ fit: [1, 19], load: [2, 18] })), ['synchronous-io']);
  });

  it('waits for a busy core do not count as synchronous I/O', () => {
    // Four threads compute on two cores. Each thread has half a core, and the metrics count the remainder as blocked.
    const loaded = (hostCpu: number, threadCpu: number, cpuSeconds: number): SyntheticSpec => ({
      tasks: balanced(),
      metrics: cpu({ fit: [cpuSeconds, 40 - cpuSeconds] }) ?? [],
      resources: Array.from({ length: 101 }, (_, i) => i / 10).flatMap((time) => [
        { time, figures: { cpu: hostCpu, host_cpu: hostCpu, host_cores: 2 } },
        ...['w0', 'w1', 'w2', 'w3'].map((worker) => ({ time, worker, figures: { cpu: threadCpu } })),
      ]),
    });
    const codes = (spec: SyntheticSpec) => findings(syntheticTrace(spec)).map(({ code }) => code);
    assert.deepEqual(codes(loaded(200, 40, 16)), ['cpu-oversubscription']);
    assert.deepEqual(codes(loaded(100, 25, 10)), ['synchronous-io']);
  });

  it('short waits for a core are no finding with as many threads as cores, unless other programs compete', () => {
    const tasks = scheduled([...many(20), ...many(20, 1, 'load')], { workers: 4 }).tasks;
    const codes = (others: number) =>
      findings(
        syntheticTrace({
          tasks: tasks.map((task) => ({ ...task, coreWait: 0.25 })),
          metrics: cpu({ fit: [15, 5], load: [15, 5] }) ?? [],
          resources: Array.from({ length: 101 }, (_, i) => ({
            time: i / 10,
            figures: { cpu: 300, host_cpu: 300 + others, host_cores: 4 },
          })),
        }),
      ).map(({ code }) => code);
    assert.deepEqual(codes(0), ['worker-bound']);
    assert.deepEqual(codes(100), ['cpu-oversubscription']);
  });

  it('a task that waits for a lock is no straggler, but one that computes beside a lock is', () => {
    const { tasks = [] } = withStraggler(8, true);
    const slow = tasks.find(({ key }) => key === 'fit-slow')!;
    const { worker = 'w0', started } = slow;
    const codes = (locked: number, rest: SyntheticSpec) =>
      codesOf({
        tasks,
        metrics: [
          { prefix: '', activity: "contended Lock 'x'", value: locked / 2 },
          { prefix: 'fit', activity: "wait for Lock 'x'", value: locked },
        ].map((one) => ({ ...one, time: 0, worker: 'w0', context: 'shared' })),
        ...rest,
      });
    const awaits = {
      intervals: [{ worker, action: 'await' as const, start: started, stop: started + 7, task: slow.key }],
    };
    assert.ok(!codes(10, awaits).includes('stragglers'));
    assert.ok(codes(1, awaits).includes('stragglers'));
    assert.ok(codes(10, {}).includes('stragglers'));
    // Its thread runs a task that has got the lock.
    const other = { key: 'hold-0', worker, started: started - 0.5, seceded: started - 0.4 };
    const holds = (waited: number) => {
      const stop = started + 7;
      return [...tasks.slice(0, -1), { ...other, resumed: stop, stopped: stop, waited }, slow];
    };
    assert.ok(!codes(10, { tasks: holds(0.4) }).includes('stragglers'));
    assert.ok(codes(10, { tasks: holds(7.4) }).includes('stragglers'));
    // Both have seceded, and the trace does not say which of them used the thread. A task waits for the slot, and uses it.
    const left = started + 2;
    const end = started + 16;
    const next = {
      key: 'next-0',
      worker,
      started: left,
      stopped: end + 1,
      ready: started,
      dispatched: started,
    };
    const waits = { ...slow, seceded: left, resumed: left, stopped: end, waited: 8 };
    const beside = (waited: number): SyntheticSpec => {
      const holder = { ...other, resumed: end, stopped: end, waited };
      return { tasks: [...tasks.slice(0, -1), holder, waits, next] };
    };
    assert.ok(!codes(10, beside(8)).includes('stragglers'));
    assert.ok(codes(1, beside(8)).includes('stragglers'));
    assert.ok(codes(10, beside(16.4)).includes('stragglers'));
  });

  it('a single stall does not make a run scheduler-bound', () => {
    const tasks = chain(10).map(({ key, needs }, i) => {
      const started = i + (i > 4 ? 3 : 0);
      return {
        key,
        started,
        stopped: started + 1,
        received: started,
        ...(needs === undefined ? {} : { needs }),
      };
    });
    assert.deepEqual(
      findings(syntheticTrace({ tasks, workers: [{ name: 'w0' }] })).map(({ code }) => code),
      [],
    );
  });
});
