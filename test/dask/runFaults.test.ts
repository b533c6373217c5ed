// Faults of a real Dask cluster with TLS that runs TypeScript: tasks that end or fill their process, workers that close, pause or
// spill, and connections that break. Results are right, or an error states what was lost.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Client, connect } from 'longpole';
import { t } from '../cluster/clusterTasks.js';
import { repositoryPath } from '../support/repository.js';
import { changedPython, LONG_LIMITS } from './changedPython.js';
import { CuttableProxy } from './cuttableProxy.js';
import { CONNECT_SECONDS, NO_PYTHON, NodeCluster, python, until } from './nodeCluster.js';
import { exit, loop, ones, square, sum, where } from './runTasks.js';

const PEM = repositoryPath('test/fixtures/dask/localhost.pem');
const folder = mkdtempSync(join(tmpdir(), 'longpole-dask-faults-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the address of the Dask worker on which a worker of the client runs. */
function addressOf(client: Client, name: string): string {
  const { workers, strings } = client.trace;
  const rows = Array.from(workers.name.keys()).filter((row) => strings.get(workers.name[row]!) === name);
  return strings.get(workers.address[rows.at(-1)!]!).replace('longpole+', '');
}

describe('a Dask cluster with TLS and faults', {
  skip: python === undefined && NO_PYTHON,
  timeout: 450_000,
}, () => {
  let cluster: NodeCluster;
  let proxy: CuttableProxy;
  let client: Client;

  before(async () => {
    cluster = await NodeCluster.start(python ?? '', { memory: '300 MB', pem: PEM });
    proxy = await CuttableProxy.start(cluster.address);
    const security = { ca: PEM, cert: PEM, key: PEM };
    const patient = changedPython(join(folder, 'python'), python ?? '', LONG_LIMITS);
    const options = { allowedFailures: 1, security, timeout: CONNECT_SECONDS };
    client = await connect(proxy.address, { python: patient, ...options });
  });
  after(async () => {
    await client.close();
    await proxy.close();
    await cluster.close();
  });

  it('fails a task that ends its process or does not end in time', async () => {
    const exiting = client.submit(exit, 3, { key: 'exits' });
    await assert.rejects(exiting.result(), { code: 'ERR_LONGPOLE_KILLED_WORKER', message: /'exits'/ });
    const looping = client.submit(loop, { key: 'loops', timeout: 1 });
    await assert.rejects(looping.result(), { code: 'ERR_LONGPOLE_TASK_TIMEOUT', message: /'loops'/ });
    assert.deepEqual(await client.gather(client.map(square, [1, 2, 3])), [1, 4, 9]);
  });

  it('runs tasks although a worker has paused, and uses the worker when it resumes', async () => {
    const there = addressOf(client, 'dask-1');
    await cluster.pauseAt(there, 1e-9);
    assert.deepEqual(await client.gather(client.map(square, [4, 5, 6, 7])), [16, 25, 36, 49]);
    await cluster.pauseAt(there, 0.8);
    const pid = await client.submit(where, 1, { workers: 'dask-1', pure: false }).result();
    assert.ok(pid > 0);
  });

  it('moves results and scattered data of a worker that is retired', async () => {
    const [scattered] = await client.scatter([new Float64Array(1000).fill(3)], { workers: 'dask-1' });
    const made = client.submit(ones, 1000, { workers: 'dask-1' });
    await made.wait();
    assert.ok(scattered !== undefined);
    const lost: string[] = [];
    const stop = client.observe({ event: ({ topic }) => void (topic === 'worker-lost' && lost.push(topic)) });
    const there = addressOf(client, 'dask-1');
    // The list lacks the worker for several polls before it can say that it closes.
    assert.deepEqual(await cluster.retire(there, 1.5), [there]);
    await until(() => client.cluster.workers.length === 1);
    assert.deepEqual(
      await client.gather([client.submit(sum, scattered), client.submit(sum, made)]),
      [3000, 1000],
    );
    assert.deepEqual(lost, []);
    stop();
  });

  it('computes results again that a restart of all workers has deleted', async () => {
    const made = client.map(ones, [2000, 2001]);
    await Promise.all(made.map((future) => future.wait()));
    await cluster.restart();
    assert.deepEqual(await client.gather(client.map(sum, made)), [2000, 2001]);
  });

  it('continues after the connection between the program and the scheduler was cut', async () => {
    await until(() => client.cluster.workers.length > 0);
    const made = client.submit(ones, 3000, { pure: false });
    await made.wait();
    const unreachable = proxy.cut();
    const total = client.submit(sum, made, { pure: false });
    await unreachable;
    proxy.mend();
    assert.equal(await total.result(), 3000);
  });

  // The last tests fill the memory of the workers. A worker whose memory is full takes no results of others.
  it('fails a task that exhausts its memory', async () => {
    const hoarding = client.submit(t.hoard, 'buffers', 600, folder, { key: 'hoards' });
    await assert.rejects(hoarding.result(), {
      code: 'ERR_LONGPOLE_KILLED_WORKER',
      message: /'hoards'.*memory/,
    });
    assert.equal(await client.submit(square, 8).result(), 64);
  });

  it('spills results of more than its memory and reads them back', async () => {
    const pieces = client.map(
      t.zeros,
      Array(80).fill(1e6),
      Array.from({ length: 80 }, (_, index) => index),
    );
    const totals = client.map(t.total, pieces);
    await Promise.all(pieces.map((piece) => piece.wait()));
    const infos = Object.values(await client.run(({ worker }) => worker));
    assert.ok(infos.some((info) => info !== undefined && info.memory.spilled > 0));
    assert.deepEqual(
      await client.gather(totals),
      Array.from({ length: 80 }, (_, index) => index * 1e6),
    );
  });
});
