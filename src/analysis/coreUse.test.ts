import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { syntheticTrace } from '../trace/syntheticTrace.test.support.js';
import { coreUseOf } from './coreUse.js';

const near = (value: number, expected: number) =>
  assert.ok(Math.abs(value - expected) < 0.01, `${value} instead of ${expected}`);

describe('how cores were shared', () => {
  /** Two tasks side by side for 2 s, on two cores; in the first second all were busy. */
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

  it('is told by samples of each worker', () => {
    const worker = (time: number, name: string, cpu: number) => ({ time, worker: name, figures: { cpu } });
    const resources = [
      host(0, 10),
      host(1, 200),
      ...[worker(1, 'w0', 60), worker(1, 'w1', 100), worker(2, 'w0', 60)],
      host(2, 60),
    ];
    const use = coreUseOf(syntheticTrace({ tasks, resources }));
    near(use.granted, 0.8);
    near(use.aloneSeconds(0), 1.6);
    near(use.aloneSeconds(1), 2);
  });

  it('waiting counts as waiting for a core by the chance that all of them were busy with others', () => {
    const worker = (time: number, cpu: number) => ({ time, worker: 'w0', figures: { cpu } });
    const alone = (host_cpu: number) =>
      coreUseOf(
        syntheticTrace({ tasks, resources: [host(0, 10), host(1, 10), host(2, host_cpu), worker(2, 60)] }),
      ).aloneSeconds(0);
    // It waited for 0.4 s of the second second.
    near(alone(60), 2);
    near(alone(150), 2 - 0.4 * (0.9 / 1.4 / 0.9) ** 2);
    near(alone(200), 1.6);
    assert.ok(alone(180) < alone(150));
  });

  it('is not told by samples that lack a figure, or that are of one moment', () => {
    const resources = [
      host(0, 10),
      host(1, 200),
      host(1, 200),
      ...[1, 2].map((time) => ({ time, worker: 'w0', figures: { cpu: Number.NaN } })),
      host(2, 200),
    ];
    const use = coreUseOf(syntheticTrace({ tasks, resources }));
    near(use.granted, 1);
    near(use.aloneSeconds(0), 2);
    assert.ok(use.demand >= 1);
    const together = [host(0, 10, 0), host(1, 200, 160), host(1, 200, 160), host(2, 200, Number.NaN)];
    near(coreUseOf(syntheticTrace({ tasks, resources: together })).aloneSeconds(0), 1.8);
  });

  it('or of all of them together, which are then taken for alike', () => {
    const resources = [host(0, 10, 0), host(1, 200, 160), host(2, 50, 50)];
    const use = coreUseOf(syntheticTrace({ tasks, resources }));
    assert.equal(use.cores, 2);
    near(use.granted, 0.8);
    near(use.aloneSeconds(0), 1.8);
    near(use.others, 0.05);
  });
});
