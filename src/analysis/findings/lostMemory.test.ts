// The advice about workers that were lost because their memory was full.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type SyntheticTask, syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { findings } from './findings.js';

/** Returns the advice if the memory of a worker is full in the sixth of its tasks, which take a second each. */
function adviceOf(samples: readonly { time: number; process: number; managed: number }[]): string {
  const runs = Array.from({ length: 5 }, (_, i): SyntheticTask => {
    return { key: `fit-${i}`, worker: 'w0', submitted: 0, dispatched: 0, started: i, stopped: i + 1 };
  });
  const last = { key: 'fit-5', submitted: 0 };
  const trace = syntheticTrace({
    workers: [{ name: 'w0', stopped: 6, memoryLimit: 1e9 }],
    tasks: [
      ...runs,
      {
        ...{ ...last, worker: 'w0', dispatched: 0, acknowledged: 6 },
        ...{ started: Number.NaN, stopped: Number.NaN, state: 'lost' },
      },
      { ...last, worker: 'w1', attempt: 2, dispatched: 6, started: 6, stopped: 7 },
    ],
    memory: samples.map((sample) => ({ worker: 'w0', ...sample })),
  });
  return findings(trace).find(({ code }) => code === 'lost-work')?.advice ?? '';
}

it('tasks that leave memory behind are named if a worker is lost because of it', () => {
  const samples = [0, 1, 2, 3, 4, 5, 6].map((time) => ({
    time,
    process: (1 + 1.5 * time) * 1e8,
    managed: 1e6,
  }));
  assert.match(adviceOf(samples), /^Worker 'w0' used 1 GB, 1 MB of it for results, .* what 'fit' keeps/);
});

it('memory that the last task or the results use is not called memory that tasks leave behind', () => {
  const sudden = [0, 1, 2, 3, 4, 5, 6].map((time) => ({ time, process: time < 6 ? 1e8 : 1e9, managed: 1e6 }));
  assert.match(adviceOf(sudden), /raise the limit, or use smaller blocks\.$/);
  const results = [0, 1, 2, 3, 4, 5, 6].map((time) => {
    return { time, process: (1 + 1.5 * time) * 1e8, managed: 1.4e8 * time };
  });
  assert.match(adviceOf(results), /raise the limit, or use smaller blocks\.$/);
});
