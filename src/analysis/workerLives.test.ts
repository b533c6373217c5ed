// Numbers of threads of workers that join and leave, and of consecutive clusters and pools.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { syntheticTrace } from '../trace/syntheticTrace.test.support.js';
import { firstStarts, threadsTogether } from './workerLives.js';

describe('threadsTogether', () => {
  it('counts threads that existed at the same time', () => {
    const tasks = [{ key: 'a-1', started: 0, stopped: 1, worker: 'w0' }];
    const count = (...times: (readonly [number, number | undefined])[]) =>
      threadsTogether(
        syntheticTrace({
          tasks,
          workers: times.map(([started, stopped], i) => ({
            name: `w${i}`,
            started,
            ...(stopped === undefined ? {} : { stopped }),
          })),
        }),
      );
    assert.equal(count([0, 5], [0, 5], [6, 9], [6, 9]), 2);
    assert.equal(count([0, 5], [0, 5], [4, 9]), 3);
    // One worker replaces another.
    assert.equal(count([0, 5], [5, 9]), 1);
    assert.equal(threadsTogether(syntheticTrace({})), 1);
  });

  it('counts a pool without a recorded end until its last task', () => {
    const pool = (name: string, started: number) => ({
      key: `${name}-1`,
      started,
      stopped: started + 1,
      worker: name,
    });
    const trace = syntheticTrace({
      tasks: [pool('main', 0), pool('threads-0', 2), pool('threads-1', 2)],
      workers: [{ name: 'main' }, { name: 'threads-0', started: 1.5 }, { name: 'threads-1', started: 1.5 }],
    });
    assert.equal(threadsTogether(trace), 2);
  });
});

describe('firstStarts', () => {
  it('returns the same time for all workers that were created together', () => {
    const trace = syntheticTrace({
      tasks: [
        { key: 'a-1', started: 1, stopped: 2, worker: 'w0' },
        { key: 'a-2', started: 6, stopped: 7, worker: 'w2' },
      ],
      workers: [
        { name: 'w0' },
        { name: 'w1', started: 0.05 },
        { name: 'w2', started: 3 },
        { name: 'w3', started: 3 },
      ],
    });
    assert.deepEqual(Array.from(firstStarts(trace)), [1, 1, 6, 6]);
  });
});
