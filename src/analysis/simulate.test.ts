// Compares predictions with the predicted schedules.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LongpoleError } from '../base/errors.js';
import fc from '../base/properties.test.support.js';
import { syntheticTrace } from '../trace/syntheticTrace.test.support.js';
import type { Trace } from '../trace/trace.js';
import { criticalPath } from './criticalPath.js';
import { findings } from './findings/findings.js';
import { many } from './findings/workloads.test.support.js';
import { scaling } from './scaling.js';
import { type Schedule, type ScheduledTask, scheduled } from './scheduledTrace.test.support.js';
import { simulate } from './simulate.js';
import { Random } from './statistics.js';

/** A map over `width` blocks and a tree of sums; durations vary by 30 %. */
function mapReduce(width: number, seconds = 1): ScheduledTask[] {
  const random = new Random(5);
  const vary = () => seconds * (0.85 + 0.3 * random.next());
  const tasks: ScheduledTask[] = [];
  let level = Array.from({ length: width }, (_, i) => `load-${i}`);
  for (const key of level) tasks.push({ key, seconds: vary(), nbytes: 1000 });
  for (let depth = 0; level.length > 1; depth++) {
    const sums = Array.from({ length: Math.ceil(level.length / 4) }, (_, i) => `sum-${depth}.${i}`);
    for (const [i, key] of sums.entries())
      tasks.push({ key, seconds: vary() / 4, needs: level.slice(i * 4, i * 4 + 4), nbytes: 1000 });
    level = sums;
  }
  return tasks;
}

const traceOf = (tasks: readonly ScheduledTask[], schedule: Schedule = {}): Trace =>
  syntheticTrace(scheduled(tasks, schedule));

function assertNear(actual: number, expected: number, tolerance: number): void {
  assert.ok(
    Math.abs(actual / expected - 1) <= tolerance,
    `${actual} is not within ${tolerance * 100} % of ${expected}`,
  );
}

describe('simulating a trace', () => {
  it('reproduces the recording', () => {
    for (const schedule of [
      {},
      { workers: 4 },
      { workers: 3, overhead: 0.01, latency: 0.02 },
      { workers: 4, bandwidth: 5000 },
    ]) {
      const trace = traceOf(mapReduce(64), schedule);
      const { makespan } = criticalPath(trace);
      const simulation = simulate(trace);
      assertNear(simulation.makespan, makespan, 1e-6);
      assert.ok(simulation.low <= makespan && makespan <= simulation.high);
      assert.ok(simulation.high / simulation.low < 1.3, 'a band that says nothing');
    }
  });

  it('is never shorter than the longest chain or the work per worker', () => {
    // Three of five pauses are 0.1 s. Their median exceeds their mean, so a simulation takes longer than the recording.
    let time = 0;
    const short = Array.from({ length: 200 }, (_, i) => {
      const started = time + (i % 5 < 3 ? 0.1 : 0);
      time = started + 0.1;
      return { key: `short-${i}`, worker: 'w1', started, stopped: time, ready: 0, received: 0 };
    });
    const chain = { key: 'long-0', worker: 'w0', started: 0, stopped: 31.5, ready: 0, received: 0 };
    const trace = syntheticTrace({ tasks: [chain, ...short], workers: [{ name: 'w0' }, { name: 'w1' }] });
    assertNear(criticalPath(trace).makespan, 32, 0.01);
    for (const workers of [1, 2, 4, 16]) {
      const { makespan, low } = simulate(trace, { workers });
      assert.ok(makespan >= Math.max(31.5, 51.5 / workers) - 1e-6, `${workers} workers: ${makespan} s`);
      assert.ok(low <= makespan);
    }
  });

  it('predicts more and fewer workers within 10 %, from one to many and back', () => {
    const tasks = mapReduce(200);
    for (const from of [1, 2, 8]) {
      for (const to of [1, 2, 4, 16]) {
        const seen = criticalPath(traceOf(tasks, { workers: to, overhead: 0.02 })).makespan;
        const { makespan, low, high } = simulate(traceOf(tasks, { workers: from, overhead: 0.02 }), {
          workers: to,
        });
        assertNear(makespan, seen, 0.1);
        assert.ok(low <= seen && seen <= high, `${seen} lies outside ${low} to ${high}`);
      }
    }
  });

  it('predicts a faster or slower function', () => {
    const tasks = mapReduce(100);
    const seen = tasks.map((task) =>
      task.key.startsWith('load') ? { ...task, seconds: task.seconds / 2 } : task,
    );
    const schedule = { workers: 3, overhead: 0.01 };
    const [before, after] = [traceOf(tasks, schedule), traceOf(seen, schedule)];
    assertNear(simulate(before, { faster: { load: 2 } }).makespan, criticalPath(after).makespan, 0.05);
    assertNear(simulate(after, { faster: { load: 0.5 } }).makespan, criticalPath(before).makespan, 0.05);
  });

  it('predicts another bandwidth', () => {
    const shuffle: ScheduledTask[] = Array.from({ length: 8 }, (_, i) => ({
      key: `a-${i}`,
      seconds: 1,
      nbytes: 100,
    }));
    for (let i = 0; i < 8; i++)
      shuffle.push({ key: `b-${i}`, seconds: 1, needs: shuffle.slice(0, 8).map(({ key }) => key) });
    const [slow, fast] = [
      traceOf(shuffle, { workers: 4, bandwidth: 100 }),
      traceOf(shuffle, { workers: 4, bandwidth: 1000 }),
    ];
    assertNear(simulate(slow, { bandwidth: 1000 }).makespan, criticalPath(fast).makespan, 0.3);
    assert.ok(simulate(fast, { bandwidth: 100 }).makespan > 1.5 * criticalPath(fast).makespan);
  });

  it('splits tasks', () => {
    const trace = traceOf(
      [
        { key: 'load-1', seconds: 1 },
        { key: 'fit-1', seconds: 8, needs: ['load-1'] },
      ],
      { workers: 1 },
    );
    assertNear(simulate(trace, { split: { fit: 4 }, workers: 4 }).makespan, 3, 1e-3);
  });

  it('spills beyond a memory limit', () => {
    const wide: ScheduledTask[] = Array.from({ length: 10 }, (_, i) => ({
      key: `a-${i}`,
      seconds: 1,
      nbytes: 1e9,
    }));
    wide.push({ key: 'b-1', seconds: 1, needs: wide.map(({ key }) => key) });
    const trace = traceOf(wide);
    assert.equal(simulate(trace).spilled, 0);
    const tight = simulate(trace, { memoryLimit: 5e9 });
    assert.equal(tight.spilled, 7e9);
    assert.ok(tight.makespan > simulate(trace).makespan + 7);
  });

  it('includes the cost of the scheduler', () => {
    const many: ScheduledTask[] = Array.from({ length: 300 }, (_, i) => ({ key: `a-${i}`, seconds: 0.001 }));
    const trace = traceOf(many, { overhead: 0.01 });
    assertNear(simulate(trace, { schedulerOverhead: 0 }).makespan, 0.3, 0.05);
    assertNear(simulate(trace, { schedulerOverhead: 0.1, workers: 50 }).makespan, 30, 0.05);
  });

  it('keeps the delays of the client', () => {
    const trace = syntheticTrace({
      tasks: [
        { key: 'a-1', started: 0, stopped: 4, submitted: 0 },
        { key: 'b-1', started: 6, stopped: 8, submitted: 6, computation: 2 },
      ],
    });
    assertNear(simulate(trace, { faster: { a: 4 } }).makespan, 5, 1e-3);
    assertNear(simulate(trace, { workers: 100 }).makespan, 8, 1e-3);
  });

  it('never falls below the bound of all schedules', () => {
    const graph = fc.array(
      fc.record({ seconds: fc.integer({ min: 1, max: 9 }), pick: fc.nat(), isRoot: fc.boolean() }),
      { minLength: 1, maxLength: 30 },
    );
    fc.assert(
      fc.property(graph, fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 5 }), (rows, from, to) => {
        const tasks = rows.map(({ seconds, pick, isRoot }, i) => ({
          key: `t-${i}`,
          seconds,
          needs: isRoot || i === 0 ? [] : [`t-${pick % i}`],
        }));
        const trace = traceOf(tasks, { workers: from });
        const { makespan, low, high, busy } = simulate(trace, { workers: to });
        assert.ok(low <= makespan && makespan <= high);
        assert.ok(busy > 0 && busy <= 1 + 1e-9);
      }),
    );
  });

  it('refuses invalid options, and names the existing prefixes', () => {
    const trace = traceOf(mapReduce(4));
    const refused = (options: Parameters<typeof simulate>[1], text: RegExp) =>
      assert.throws(
        () => simulate(trace, options),
        (error) =>
          error instanceof LongpoleError &&
          error.code === 'ERR_LONGPOLE_INVALID_ARGUMENT' &&
          text.test(error.message),
      );
    refused({ workers: 0 }, /workers is 0/);
    refused({ workers: 1.5 }, /workers is 1.5/);
    refused({ bandwidth: 0 }, /bandwidth/);
    refused({ faster: { load: 0 } }, /'load'/);
    refused({ split: { load: 1.5 } }, /'load'/);
    refused({ faster: { lode: 2 } }, /no prefix 'lode'.*load, sum/);
  });

  it('gives a makespan of 0 for an empty trace', () => {
    const { makespan, busy } = simulate(syntheticTrace({}));
    assert.deepEqual([makespan, busy], [0, 0]);
  });
});

describe('the band of a prediction', () => {
  /**
   * A task on each of two workers, `late` seconds after its submission, while other programs use some of the two cores.
   */
  const widthOf = (late: number, others = 0, coreWait = Number.NaN): number => {
    const trace = syntheticTrace({
      tasks: ['w0', 'w1'].map((worker, i) => {
        const began = { started: late, stopped: 10 + late, dispatched: 0, received: late };
        return { key: `a-${i}`, worker, submitted: 0, coreWait, ...began };
      }),
      resources: [0, 5, 10, 15].map((time) => ({
        time,
        figures: { cpu: 100, host_cpu: 100 * (1 + others), host_cores: 2 },
      })),
    });
    const { low, high, makespan } = simulate(trace);
    assert.ok(low <= makespan && makespan <= high);
    return high - makespan;
  };

  it('contains the noise of two runs', () => {
    assertNear(widthOf(0), 0.8, 0.1);
  });

  it('is wider if workers had to start', () => {
    assertNear(widthOf(5), 0.08 * 15 + 0.4 * 5, 0.1);
  });

  it('is wider if tasks computed while other programs used the machine, but not if tasks slept', () => {
    // Each of the two tasks computes half of its time.
    assertNear(widthOf(0, 0.4), 0.8 + 0.5 * (0.4 / 2) * 10, 0.1);
    assertNear(widthOf(0, 1.9, 0.01), 0.8, 0.1);
    assert.ok(widthOf(0, 1.9, 3) > 2 * widthOf(0, 1.9, 0.01));
  });
});

describe('scaling', () => {
  it('predicts no longer run with more workers if other programs used the cores during the recording', () => {
    const side = many(6, 0.1, 'side');
    const chain: ScheduledTask[] = Array.from({ length: 20 }, (_, i) => ({
      key: `step-${i}`,
      seconds: 0.1,
      needs: i === 0 ? [] : [`step-${i - 1}`],
    }));
    // Other programs have two thirds of the cores.
    const slow = [...side, ...chain].map((task) => ({ ...task, seconds: 3 * task.seconds }));
    const tasks = scheduled(slow, { workers: 2 }).tasks.map((task) => {
      const times = { started: task.started + 0.5, stopped: task.stopped + 0.5 };
      return {
        ...task,
        ...times,
        submitted: 0,
        received: times.started,
        coreWait: 0.6 * (task.stopped - task.started),
      };
    });
    const resources = Array.from({ length: 80 }, (_, i) => ({
      time: i / 10,
      figures: { cpu: 65, host_cpu: 200, host_cores: 2 },
    }));
    const trace = syntheticTrace({ tasks, workers: [{ name: 'w0' }, { name: 'w1' }], resources });
    const seconds = scaling(trace, { workers: [1, 2, 3, 4, 8] }).rows.map(({ makespan }) => makespan);
    assertNear(seconds[1]!, criticalPath(trace).makespan, 1e-6);
    for (const [at, one] of seconds.entries()) assert.ok(!(one > (seconds[at - 1] ?? one)), seconds.join());
    // More workers do not make the chain shorter.
    assert.ok(seconds[4]! > 20 * 0.3, seconds.join());
  });

  it('finds the useful number of workers', () => {
    const independent: ScheduledTask[] = Array.from({ length: 64 }, (_, i) => ({
      key: `a-${i}`,
      seconds: 1,
    }));
    assert.equal(scaling(traceOf(independent)).usefulWorkers, 64);
    const serial: ScheduledTask[] = [{ key: 'z-0', seconds: 64 }, ...independent];
    const { usefulWorkers, rows, toTable } = scaling(traceOf(serial));
    assert.equal(usefulWorkers, 2);
    assert.deepEqual(
      rows.map(({ workers }) => workers),
      [1, 2, 4],
    );
    assert.equal(toTable().length, 3);
    assert.deepEqual(
      scaling(traceOf(serial), { workers: [3] }).rows.map(({ workers }) => workers),
      [3],
    );
  });

  it('has the speedup over one worker, and the recorded conditions', () => {
    const independent: ScheduledTask[] = Array.from({ length: 64 }, (_, i) => ({
      key: `a-${i}`,
      seconds: 1,
    }));
    const { recorded, toTable } = scaling(traceOf(independent, { workers: 2 }), { workers: [4] });
    assert.deepEqual(recorded, { workers: 2, threadsPerWorker: 1, makespan: 32, others: 0 });
    assertNear(Number(toTable().rows[0]?.['Speedup']), 4, 1e-3);
  });

  it('counts workers of several threads, as Dask does', () => {
    const threads = scheduled(many(40), { workers: 4 }).tasks;
    const tasks = threads.map((task) => {
      const thread = Number(task.worker?.slice(1));
      return { ...task, worker: `w${thread >> 1}`, thread: thread & 1 };
    });
    const dask = (counts: readonly number[]) =>
      syntheticTrace({
        tasks,
        workers: counts.map((count, i) => ({
          name: `w${i}`,
          address: `tcp://10.0.0.1:400${i}`,
          threads: count,
        })),
      });
    const even = scaling(dask([2, 2]), { workers: [1, 2] });
    assert.deepEqual([even.recorded.workers, even.recorded.threadsPerWorker], [2, 2]);
    assert.deepEqual(
      even.rows.map(({ workers, makespan }) => [workers, Math.round(makespan)]),
      [
        [1, 20],
        [2, 10],
      ],
    );
    assert.equal(simulate(dask([2, 2])).workers, 2);
    assert.match(
      findings(dask([2, 2]))[0]?.title ?? '',
      /^The run is limited by its 2 workers of 2 threads, /,
    );
    // If workers differ, each thread counts.
    const uneven = scaling(dask([2, 3]), { workers: [5] });
    assert.deepEqual([uneven.recorded.workers, uneven.recorded.threadsPerWorker], [5, Number.NaN]);
    assert.equal(uneven.rows[0]?.workers, 5);
  });

  it('refuses to split into too many tasks', () => {
    const trace = traceOf(mapReduce(64));
    for (const split of [{ load: 1e9 }, { load: 5000, sum: 5000 }])
      assert.throws(
        () => simulate(trace, { split }),
        /option split makes [\d,]+ (tasks|dependencies): give fewer/,
      );
    assert.ok(simulate(trace, { split: { load: 100 } }).makespan > 0);
  });

  it('simulates a part of a trace, and refuses an invalid part', () => {
    // Two workers start for 4 s and run tasks for 20 s; then they run the same tasks again.
    const run = (from: number, begin: number, prefix: string) =>
      scheduled(
        Array.from({ length: 20 }, (_, i) => ({ key: `${prefix}-${i}`, seconds: 1 })),
        { workers: 2 },
      ).tasks.map((task) => ({
        ...task,
        submitted: from,
        ready: from,
        dispatched: from,
        received: begin,
        started: begin + task.started,
        stopped: begin + task.stopped,
        acknowledged: begin + task.stopped,
      }));
    const trace = syntheticTrace({ tasks: [...run(0, 4, 'load'), ...run(14, 14, 'fit')] });
    const second = { start: 14, stop: 24 };
    assertNear(simulate(trace, second).makespan, 10, 1e-6);
    const one = simulate(trace, { ...second, workers: 1 });
    assertNear(one.makespan, 20, 0.05);
    assert.ok(one.low > 15 && one.high < 25, `${one.low} to ${one.high}`);
    const all = { start: Number.NEGATIVE_INFINITY, stop: Number.POSITIVE_INFINITY };
    assert.deepEqual(simulate(trace, all), simulate(trace));
    assert.equal(simulate(trace, { start: 100, stop: 200 }).makespan, 0);
    for (const part of [{ start: 20, stop: 10 }, { start: Number.NaN }, { stop: -5 }]) {
      assert.throws(() => simulate(trace, part), { code: 'ERR_LONGPOLE_INVALID_ARGUMENT' });
      assert.throws(() => criticalPath(trace, part), { code: 'ERR_LONGPOLE_INVALID_ARGUMENT' });
    }
    assert.throws(
      () => simulate(trace, { workers: 1e9 }),
      /option workers is 1000000000: give a whole number from 1/,
    );
  });
});
