// Tasks on a real Dask cluster that ask their scheduler: they submit tasks, and share objects.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Client, Lock, Queue, Variable } from 'longpole';
import { c } from '../cluster/coordinationTasks.js';
import { outer } from '../cluster/taskClientTasks.js';
import { NO_PYTHON, NodeCluster, python } from './nodeCluster.js';

describe('tasks on a Dask cluster', { skip: python === undefined && NO_PYTHON, timeout: 450_000 }, () => {
  let cluster: NodeCluster;
  let client: Client;

  before(async () => {
    cluster = await NodeCluster.start(python ?? '');
    client = await cluster.connect();
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

  it('share a lock, which is free after its task has ended', async () => {
    const lock = new Lock('lock');
    await lock.acquire();
    assert.deepEqual(await client.submit(c.tryLock).result(), { acquired: false, locked: true });
    await lock.release();
    await client.submit(c.leaveLocked, 'return').result();
    assert.equal(await lock.acquire(), true);
    await lock.release();
  });

  it('wait for events, and pass values through variables and queues', async () => {
    const waiting = client.submit(c.waitForEvent);
    await client.submit(c.setEvent).result();
    assert.equal(await waiting.result(), true);
    const value = { numbers: new Float64Array([1, 2]), at: new Date(0) };
    await new Variable('value').set(value);
    assert.deepEqual(await client.submit(c.getValue).result(), value);
    const produced = client.submit(c.produce, 4);
    assert.deepEqual(await client.submit(c.consume, 3).result(), [0, 1, 2]);
    assert.equal(await new Queue('queue').get(), 3);
    await produced;
  });
});
