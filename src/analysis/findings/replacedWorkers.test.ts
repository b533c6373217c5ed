// A worker that replaces a lost one with its name: until then, threads are missing.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type SyntheticTask, syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import type { Trace } from '../../trace/trace.js';
import { criticalPath } from '../criticalPath.js';
import { findings } from './findings.js';

/** Returns a run in which `w1` is lost at this time and replaced at once by `w2`, which has its name. */
function replacedAt(time: number, tasks: readonly SyntheticTask[]): Trace {
  const trace = syntheticTrace({
    workers: [
      { name: 'w1', stopped: time },
      { name: 'w2', started: time },
    ],
    events: [{ time, worker: 'w1', topic: 'worker-lost', text: 'The process ended.' }],
    tasks,
  });
  const { name } = trace.workers;
  name[1] = name[0]!;
  return trace;
}

/** Returns tasks of a second with the keys `map-FIRST`, …, one after the other from time 0. */
function series(worker: string, count: number, first: number, times: Partial<SyntheticTask> = {}) {
  return Array.from({ length: count }, (_, i) => ({ ...task(`map-${first + i}`, worker, i), ...times }));
}

function task(key: string, worker: string, started: number, stopped = started + 1) {
  return { key, worker, ready: 0, submitted: 0, dispatched: started, started, stopped };
}

const LOST = { started: Number.NaN, stopped: Number.NaN, state: 'lost' } as const;

describe('lost-work', () => {
  it('includes waits for a busy worker while the thread of a lost one is missing, until its replacement runs a task', () => {
    const sent = { dispatched: 0, received: 0 };
    const trace = replacedAt(3, [
      ...series('w0', 10, 0, sent),
      ...series('w1', 2, 10, sent),
      { ...task('map-90', 'w1', 2), received: 0, ...LOST, acknowledged: 3 },
      { ...task('map-90', 'w2', 7), received: 7, ready: 3, attempt: 2 },
    ]);
    const own = findings(trace).find(({ code }) => code === 'lost-work');
    // One of two threads is missing from 2 s to 7 s.
    assert.ok(Math.abs((own?.seconds ?? 0) - 2.5) < 0.1, `${own?.seconds}`);
  });

  it('includes the wait until a lost worker was replaced, and the path waits for the tasks that it ran before', () => {
    const trace = replacedAt(6, [
      ...series('w0', 7, 0),
      ...series('w1', 2, 10),
      { ...task('map-9', 'w1', 2), ...LOST, acknowledged: 6 },
      { ...task('map-9', 'w0', 7), ready: 6, attempt: 2 },
      task('fit-0', 'w2', 6.5, 9.5),
    ]);
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
