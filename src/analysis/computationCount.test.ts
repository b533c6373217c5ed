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
  it('is the number of graphs, but on Dask a graph that arrives before all tasks have run does not count', () => {
    const tasks = [task(1, 0, 5), task(2, 1, 3), task(3, 4, 6), task(4, 7, 8)];
    assert.equal(computationCount(syntheticTrace({ tasks, workers: WORKERS })), 2);
    assert.equal(computationCount(syntheticTrace({ tasks })), 4);
    assert.equal(computationCount(syntheticTrace({ workers: WORKERS })), 0);
    // A Longpole worker on a Dask worker, with Longpole's scheduler.
    const own = WORKERS.map((worker) => ({ ...worker, address: `longpole+${worker.address}` }));
    assert.equal(computationCount(syntheticTrace({ tasks, workers: own })), 4);
  });

  it('counts two graphs if a result of the first is computed again later', () => {
    const again = (ready: number): SyntheticTask => ({
      ...task(1, 0, 0),
      attempt: 2,
      ready,
      started: ready,
      stopped: 9,
    });
    const two = [task(1, 0, 5), task(2, 7, 8)];
    assert.equal(computationCount(syntheticTrace({ tasks: [...two, again(7.5)], workers: WORKERS })), 2);
    // The task was running when the second graph arrived.
    assert.equal(computationCount(syntheticTrace({ tasks: [...two, again(6)], workers: WORKERS })), 1);
  });
});
