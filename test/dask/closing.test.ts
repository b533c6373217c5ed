// The end of programs and observations while processes of a Dask cluster are stopped, as by Ctrl-Z or a debugger.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { type Client, connect } from 'longpole';
import { observeDask } from 'longpole/trace';
import { CONNECT_SECONDS, NO_PYTHON, NodeCluster, python, until } from './nodeCluster.js';
import { square, where } from './runTasks.js';

/** Returns the id of the process in which a task runs. */
function nodeOf(client: Client): Promise<number> {
  return client.submit(where, 0, { pure: false }).result();
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('the end while a process of a Dask cluster is stopped', {
  skip: python === undefined && NO_PYTHON,
  timeout: 450_000,
}, () => {
  let cluster: NodeCluster;
  /** The only Dask worker: its address and its process. */
  let address: string;
  let worker: number;
  before(async () => {
    cluster = await NodeCluster.start(python ?? '', { workers: 1 });
    [[address = '', worker = 0] = []] = Object.entries(await cluster.pids());
  });
  after(() => cluster.close());

  it('of a client names the worker, and nothing stays there when the worker continues', async () => {
    const client = await cluster.connect();
    const node = await nodeOf(client);
    const warned = once(process, 'warning');
    try {
      for (const pid of [worker, node]) process.kill(pid, 'SIGSTOP');
      await client.close();
    } finally {
      // The worker ends the process of Node as soon as it continues.
      for (const pid of [node, worker]) process.kill(pid, 'SIGCONT');
    }
    const [warning] = await warned;
    assert.equal(warning.code, 'LONGPOLE_DASK_CONNECTION');
    assert.match(
      warning.message,
      new RegExp(`^1 Dask worker did not answer when the client closed: .*${address}`),
    );
    await until(async () => !isAlive(node) && (await cluster.left()).plugins.length === 0);
  });

  it('of an observation names the worker, and nothing stays there when the worker continues', async () => {
    const dask = await observeDask(cluster.address, {
      python: cluster.python,
      timeout: CONNECT_SECONDS,
    });
    try {
      process.kill(worker, 'SIGSTOP');
      assert.equal(
        await dask.close(),
        `a worker did not answer at the end (${address}), so the last transfers, metrics and samples there may be missing`,
      );
      await assert.rejects(dask.dashboard({ port: 0 }), { code: 'ERR_LONGPOLE_CLOSED' });
    } finally {
      process.kill(worker, 'SIGCONT');
    }
    await until(async () => (await cluster.left()).plugins.length === 0);
  });

  it('of a client names the scheduler if that is stopped, and not the workers that it cannot ask', async () => {
    const client = await cluster.connect();
    await nodeOf(client);
    const warned = once(process, 'warning');
    try {
      process.kill(cluster.scheduler, 'SIGSTOP');
      await client.close();
    } finally {
      process.kill(cluster.scheduler, 'SIGCONT');
    }
    const [warning] = await warned;
    assert.equal(warning.code, 'LONGPOLE_DASK_CONNECTION');
    assert.match(warning.message, /^The Dask scheduler did not answer when the client closed\. /);
  });

  it('of a cluster for one program kills its stopped processes', async () => {
    const client = await connect('dask', {
      python: python ?? '',
      workers: 1,
      threads: 1,
      timeout: CONNECT_SECONDS,
    });
    assert.equal(await client.submit(square, 3).result(), 9);
    const node = await nodeOf(client);
    const own = Number(/ppid:\s*(\d+)/i.exec(readFileSync(`/proc/${node}/status`, 'utf8'))?.[1]);
    for (const pid of [own, node]) process.kill(pid, 'SIGSTOP');
    await client.close();
    await until(() => !isAlive(own) && !isAlive(node));
  });
});
