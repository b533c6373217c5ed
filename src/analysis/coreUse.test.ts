import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type SyntheticSpec, syntheticTrace } from '../trace/syntheticTrace.test.support.js';
import { coreUseOf } from './coreUse.js';

const near = (value: number, expected: number) =>
  assert.ok(Math.abs(value - expected) < 0.01, `${value} instead of ${expected}`);

describe('the use of cores', () => {
  /** Two concurrent tasks of 2 s on two cores, all of which are busy in the first second. */
  const tasks = ['w0', 'w1'].map((worker, i) => ({ key: `fit-${i}`, worker, started: 0, stopped: 2 }));
  const host = (time: number, host_cpu: number, workers_cpu?: number) => ({
    time,
    figures: {
      cpu: Math.min(host_cpu, 190),
      host_cpu,
      host_cores: 2,
      ...(workers_cpu === undefined ? {} : { workers_cpu }),
    },
  });

  const samples = (load: number): SyntheticSpec['resources'] => [
    host(0, 10),
    host(1, load),
    host(2, load),
    ...[1, 2].flatMap((time) => ['w0', 'w1'].map((worker) => ({ time, worker, figures: { cpu: 5 } }))),
  ];

  it('follows the measured waits rather than samples', () => {
    const own = tasks.map((task, i) => ({ ...task, coreWait: i === 0 ? 0.5 : 0 }));
    for (const resources of [samples(200), samples(20), []]) {
      const use = coreUseOf(syntheticTrace({ tasks: own, resources: resources ?? [] }));
      assert.equal(use.isMeasured, true);
      near(use.aloneSeconds(0), 1.5);
      near(use.aloneSeconds(1), 2);
      near(use.lost, 0.125);
    }
  });

  it('a task that sleeps on a busy machine loses no time, and has a demand below one core', () => {
    const resources = [
      ...[0, 1, 2].map((time) => ({ time, figures: { cpu: 10, host_cpu: 200, host_cores: 2 } })),
      ...[1, 2].flatMap((time) => ['w0', 'w1'].map((worker) => ({ time, worker, figures: { cpu: 5 } }))),
    ];
    for (const coreWait of [0.02, Number.NaN]) {
      const use = coreUseOf(
        syntheticTrace({ tasks: tasks.map((task) => ({ ...task, coreWait })), resources }),
      );
      assert.ok(use.aloneSeconds(0) > 1.85, `${use.aloneSeconds(0)}`);
      assert.ok(use.demand < 0.1, `${use.demand}`);
      near(use.others, 1.9);
    }
  });

  it('without measured waits, threads that used their fair part may have waited for more', () => {
    const four = ['w0', 'w1', 'w2', 'w3'].map((worker, i) => ({
      key: `fit-${i}`,
      worker,
      started: 0,
      stopped: 2,
    }));
    const at = (cpu: number) => [
      ...[0, 1, 2].map((time) => ({ time, figures: { cpu: 4 * cpu, host_cpu: 200, host_cores: 2 } })),
      ...[1, 2].flatMap((time) => four.map(({ worker }) => ({ time, worker, figures: { cpu } }))),
    ];
    const alone = (cpu: number) =>
      coreUseOf(syntheticTrace({ tasks: four, resources: at(cpu) })).aloneSeconds(0);
    // There is half a core per thread; threads that used less did not all wait for more.
    near(alone(50), 1);
    assert.ok(alone(10) > 1.5 && alone(1) > 1.9, `${alone(10)}, ${alone(1)}`);
  });

  it('a worker that was sampled several times in a time span used what all of these samples say', () => {
    const four = ['w0', 'w1', 'w2', 'w3'].map((worker, i) => ({
      ...{ key: `fit-${i}`, worker, started: 0, stopped: 2 },
    }));
    const alone = (...cpu: number[]) => {
      const machine = [0, 2].map((time) => ({ time, figures: { cpu: 200, host_cpu: 200, host_cores: 2 } }));
      const own = cpu.flatMap((percent, i) =>
        four.map(({ worker }) => ({ worker, time: (2 * (i + 1)) / cpu.length, figures: { cpu: percent } })),
      );
      return coreUseOf(syntheticTrace({ tasks: four, resources: [...machine, ...own] })).aloneSeconds(0);
    };
    near(alone(50), 1);
    for (const parts of [
      [100, 0],
      [0, 100],
      [20, 80, 20, 80],
      [Number.NaN, 50],
    ])
      near(alone(...parts), 1);
  });

  it('is unknown if samples lack a figure, or if there is only one sample', () => {
    const resources = [
      host(0, 10),
      host(1, 200),
      host(1, 200),
      ...[1, 2].map((time) => ({ time, worker: 'w0', figures: { cpu: Number.NaN } })),
      host(2, 200),
    ];
    const use = coreUseOf(syntheticTrace({ tasks, resources }));
    near(use.aloneSeconds(0), 2);
    const together = [host(0, 10, 0), host(1, 200, 160), host(1, 200, 160), host(2, 200, Number.NaN)];
    near(coreUseOf(syntheticTrace({ tasks, resources: together })).aloneSeconds(0), 1.96);
  });

  it('is estimated from samples of all workers together, which are assumed to be equally busy', () => {
    const resources = [host(0, 10, 0), host(1, 200, 160), host(2, 50, 50)];
    const use = coreUseOf(syntheticTrace({ tasks, resources }));
    assert.equal(use.cores, 2);
    // Two threads on two cores; other programs used a tenth of a core.
    near(use.aloneSeconds(0), 1.96);
    near(use.others, 0.05);
  });
});
