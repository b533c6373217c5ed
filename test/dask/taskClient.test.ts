// Tasks on a real Dask cluster that submit tasks to their own cluster.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Client, connect } from 'longpole';
import { outer } from '../cluster/taskClientTasks.js';
import { NO_PYTHON, NodeCluster, python } from './nodeCluster.js';

describe('tasks on a Dask cluster', { skip: python === undefined && NO_PYTHON, timeout: 450_000 }, () => {
  let cluster: NodeCluster;
  let client: Client;

  before(async () => {
    cluster = await NodeCluster.start(python ?? '');
    client = await connect(cluster.address, { python: python ?? '' });
  });
  after(async () => {
    await client.close();
    await cluster.close();
  });

  it('submit tasks to their own cluster and wait for them', async () => {
    assert.equal(await client.submit(outer.fib, 6), 8);
  });

  it('compute graphs on their own cluster', async () => {
    assert.deepEqual(await client.submit(outer.computes), [[2, 4], 3, 8]);
  });

  it('cannot return futures', async () => {
    await assert.rejects(client.submit(outer.returnFuture).result(), /Future.*gather/);
  });
});
