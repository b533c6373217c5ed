import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type SyntheticTask, syntheticTrace } from '../trace/syntheticTrace.test.support.js';
import { computationCount } from './computationCount.js';

const WORKERS = [{ name: 'w0', address: 'tcp://10.0.0.1:4000' }];

const task = (computation: number, submitted: number, stopped: number): SyntheticTask => ({
  key: `fit-${computation}`,
  computation,
  submitted,
  started: submitted,
  stopped,
});

describe('the number of computations', () => {
  it('is that of the graphs, but on Dask those that arrive while tasks are to run are one', () => {
    const tasks = [task(1, 0, 5), task(2, 1, 3), task(3, 4, 6), task(4, 7, 8)];
    assert.equal(computationCount(syntheticTrace({ tasks, workers: WORKERS })), 2);
    assert.equal(computationCount(syntheticTrace({ tasks })), 4);
    assert.equal(computationCount(syntheticTrace({ workers: WORKERS })), 0);
    // A worker of this program, at a worker of Dask: its scheduler is Longpole's.
    const own = WORKERS.map((worker) => ({ ...worker, address: `longpole+${worker.address}` }));
    assert.equal(computationCount(syntheticTrace({ tasks, workers: own })), 4);
  });

  it('does not join graphs because a result of the first is computed again later', () => {
    const again = (ready: number): SyntheticTask => ({
      ...task(1, 0, 0),
      attempt: 2,
      ready,
      started: ready,
      stopped: 9,
    });
    const two = [task(1, 0, 5), task(2, 7, 8)];
    assert.equal(computationCount(syntheticTrace({ tasks: [...two, again(7.5)], workers: WORKERS })), 2);
    // It ran already when the second graph arrived.
    assert.equal(computationCount(syntheticTrace({ tasks: [...two, again(6)], workers: WORKERS })), 1);
  });
});
