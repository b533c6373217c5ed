// A worker that replaces a lost one with its name: until then, threads are missing.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { criticalPath } from '../criticalPath.js';
import { findings } from './findings.js';

describe('lost-work', () => {
  it('includes the wait until a lost worker was replaced, and the path waits for the tasks that it ran before', () => {
    const task = (key: string, worker: string, started: number, stopped = started + 1) => ({
      key,
      worker,
      ready: 0,
      submitted: 0,
      dispatched: started,
      started,
      stopped,
    });
    const lost = {
      key: 'map-9',
      started: Number.NaN,
      stopped: Number.NaN,
      acknowledged: 6,
      state: 'lost',
    } as const;
    const trace = syntheticTrace({
      workers: [
        { name: 'w1', stopped: 6 },
        { name: 'w2', started: 6 },
      ],
      events: [{ time: 6, worker: 'w1', topic: 'worker-lost', text: 'The process ended.' }],
      tasks: [
        ...[0, 1, 2, 3, 4, 5, 6].map((i) => task(`map-${i}`, 'w0', i)),
        ...[0, 1].map((i) => task(`map-1${i}`, 'w1', i)),
        { ...task('map-9', 'w1', 2), ...lost },
        { ...task('map-9', 'w0', 7), ready: 6, attempt: 2 },
        task('fit-0', 'w2', 6.5, 9.5),
      ],
    });
    const { name } = trace.workers;
    // A worker that replaces another has its name.
    name[1] = name[0]!;
    const parts = criticalPath(trace).parts.map(({ kind, behind, start, stop }) => [
      kind,
      behind,
      start,
      stop,
    ]);
    assert.deepEqual(parts, [
      ['waiting for a worker', 'map', 0, 2],
      ['waiting for a worker', undefined, 2, 6],
      ['worker start', undefined, 6, 6.5],
      ['compute', undefined, 6.5, 9.5],
    ]);
    const [own] = findings(trace);
    assert.equal(own?.title, "Worker 'w1' was lost at 6 s: 1 task was computed again");
    assert.ok(Math.abs(own.seconds - 4.5) < 0.1, `${own.seconds}`);
  });

  it('includes the time without any worker, however long it takes until one with the same name joins', () => {
    const task = <T extends object>(i: number, spec: T) => ({
      key: `map-${i}`,
      ready: 0,
      submitted: 0,
      ...spec,
    });
    const secondsWith = (others: { readonly name: string }[]): number => {
      const trace = syntheticTrace({
        workers: [{ name: 'w0', stopped: 6 }, { name: 'w1', started: 16 }, ...others],
        events: [{ time: 6, worker: 'w0', topic: 'worker-lost', text: 'The process ended.' }],
        tasks: [
          task(0, { worker: 'w0', dispatched: 0, started: 0, stopped: 2 }),
          task(1, {
            worker: 'w0',
            dispatched: 1,
            acknowledged: 6,
            state: 'lost',
            started: NaN,
            stopped: NaN,
          }),
          task(1, { worker: 'w1', dispatched: 16, started: 16.5, stopped: 18, ready: 6, attempt: 2 }),
        ],
      });
      trace.workers.name[1] = trace.workers.name[0]!;
      return findings(trace).find(({ code }) => code === 'lost-work')?.seconds ?? 0;
    };
    assert.ok(Math.abs(secondsWith([]) - 14.5) < 0.1, `${secondsWith([])}`);
    // Another worker could have run the task.
    assert.ok(secondsWith([{ name: 'w2' }]) < 5);
  });
});
