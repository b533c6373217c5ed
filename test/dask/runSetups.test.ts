// Programs on a Dask cluster that Dask's commands started, with TLS, several threads, resources and installed packages.
// Its nannies and its scheduler are killed.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { annotate, type Client, compute, connect, delayed, wait } from 'longpole';
import { repositoryPath } from '../support/repository.js';
import { changedPython, LONG_LIMITS } from './changedPython.js';
import { CommandCluster } from './commandCluster.js';
import { CONNECT_SECONDS, NO_PYTHON, python, until } from './nodeCluster.js';
import { failOnce, ones, square, sum, where } from './runTasks.js';
import { imported, meet } from './setupTasks.js';

const PEM = repositoryPath('test/fixtures/dask/localhost.pem');
const security = { ca: PEM, cert: PEM, key: PEM };

const folder = mkdtempSync(join(tmpdir(), 'longpole-dask-setups-'));
after(() => rmSync(folder, { recursive: true, force: true }));

describe('a program on a Dask cluster with TLS', {
  skip: python === undefined && NO_PYTHON,
  timeout: 450_000,
}, () => {
  const cluster = new CommandCluster(python ?? '', folder, PEM);
  let address: string;
  let client: Client;

  before(async () => {
    const packages = join(folder, 'packages');
    mkdirSync(join(packages, 'only-on-workers'), { recursive: true });
    writeFileSync(join(packages, 'only-on-workers/index.js'), 'exports.answer = 42;');
    address = await cluster.scheduler();
    cluster.worker('a', address, ['--nthreads', '2', '--resources', 'GPU=1'], {
      env: { LONGPOLE_NODE_MODULES: packages },
    });
    // The time limit is also that of a new connection after the scheduler has ended.
    const patient = changedPython(join(folder, 'python'), python ?? '', LONG_LIMITS);
    const options = { security, timeout: CONNECT_SECONDS, nodeModules: 'installed' } as const;
    client = await connect(address, { python: patient, ...options });
    cluster.worker('b', address, ['--nthreads', '1']);
    await until(() => client.cluster.workers.length === 3);
  });
  after(async () => {
    await client.close();
    await cluster.close();
  });

  it('has a worker for each thread, and they run tasks at the same time', async () => {
    assert.match(address, /^tls:/);
    assert.deepEqual([...client.cluster.workers].sort(), ['dask-a-0', 'dask-a-1', 'dask-b']);
    const parents = await client.gather([
      client.submit(meet, folder, 'one', 'two', { workers: 'dask-a-0' }),
      client.submit(meet, folder, 'two', 'one', { workers: 'dask-a-1' }),
    ]);
    assert.equal(parents[0], parents[1]);
  });

  it('encrypts results between workers, and from them to the program', async () => {
    const made = client.submit(ones, 100_000, { workers: 'dask-a-0' });
    assert.equal(await client.submit(sum, made, { workers: 'dask-b' }).result(), 100_000);
    assert.deepEqual(await made.result(), new Float64Array(100_000).fill(1));
    const addresses = Object.values(await client.run(({ worker }) => worker?.address));
    assert.equal(addresses.length, 3);
    for (const own of addresses) assert.match(own ?? '', /^tls:/);
    const transfers = Object.values(await client.run(({ worker }) => worker?.incomingTransferLog ?? []));
    assert.ok(transfers.flat().length > 0);
  });

  it('fails tasks and fetches whose results cannot be fetched, because no connection to their worker can be opened', async ({
    mock,
  }) => {
    const wall = join(folder, 'wall.cjs');
    writeFileSync(
      wall,
      "require('node:net').Socket.prototype.connect = function () { return this.destroy(new Error('no route')); };",
    );
    const env = { NODE_OPTIONS: `--require=${wall}` };
    cluster.worker('walled', address, ['--nthreads', '1', '--no-nanny'], { env });
    await until(() => client.cluster.workers.includes('dask-walled'));
    const made = client.submit(ones, 10_000, { workers: 'dask-b', pure: false });
    const total = client.submit(sum, made, { workers: 'dask-walled', pure: false });
    await assert.rejects(total.result(), {
      code: 'ERR_LONGPOLE_UNREACHABLE',
      message:
        /'dask-walled' cannot reach worker 'dask-b'.* No connection to tls:.*: no route\. .* attempts: 3/,
    });
    assert.equal(await client.submit(sum, made, { workers: 'dask-a-0', pure: false }).result(), 10_000);
    const there = client.submit(ones, 10_000, { workers: 'dask-walled', pure: false });
    const { mock: connects } = mock.method(Socket.prototype, 'connect', function (this: Socket) {
      return this.destroy(new Error('no route'));
    });
    await assert.rejects(there.result(), {
      code: 'ERR_LONGPOLE_UNREACHABLE',
      message: /The program cannot reach worker 'dask-walled'/,
    });
    connects.restore();
    await cluster.terminate('walled');
    await until(() => client.cluster.workers.length === 3);
  });

  it('computes a result once more if several tasks and fetches cannot get it at the same time', async ({
    mock,
  }) => {
    const wall = join(folder, 'low-wall.cjs');
    // The first connection of each worker to another one fails.
    writeFileSync(
      wall,
      "const { prototype } = require('node:net').Socket; const { connect } = prototype;" +
        'prototype.connect = function (...args) { const [to] = args.flat(); if (to.port === undefined) return connect.apply(this, args);' +
        "prototype.connect = connect; return this.destroy(new Error('no route')); };",
    );
    const env = { NODE_OPTIONS: `--require=${wall}` };
    cluster.worker('low', address, ['--nthreads', '3', '--no-nanny'], { env });
    await until(() => client.cluster.workers.length === 6);
    const made = client.submit(ones, 10_000, { workers: 'dask-b', pure: false });
    const workers = ['dask-low-0', 'dask-low-1', 'dask-low-2'];
    const totals = client.map(sum, Array(6).fill(made), { workers, pure: false });
    assert.deepEqual(await client.gather(totals), Array(6).fill(10_000));
    const there = client.submit(ones, 10_000, { workers: 'dask-low-0', pure: false });
    await wait([there]);
    mock.method(
      Socket.prototype,
      'connect',
      function (this: Socket) {
        return this.destroy(new Error('no route'));
      },
      { times: 3 },
    );
    const values = await Promise.all([
      client.gather([there]),
      client.gather([there]),
      client.gather([there]),
    ]);
    assert.deepEqual(
      values.flat().map(({ length }) => length),
      [10_000, 10_000, 10_000],
    );
    await cluster.terminate('low');
    await until(() => client.cluster.workers.length === 3);
  });

  it('does not say that a worker cannot be reached if it has been removed meanwhile', async () => {
    const wall = join(folder, 'slow-wall.cjs');
    const held = join(folder, 'held');
    // The first connection of the worker to another one is never opened.
    writeFileSync(
      wall,
      "const { prototype } = require('node:net').Socket; const { connect } = prototype;" +
        'prototype.connect = function (...args) { const [to] = args.flat(); if (to.port === undefined) return connect.apply(this, args);' +
        `prototype.connect = connect; require('node:fs').writeFileSync(${JSON.stringify(held)}, ''); return this; };`,
    );
    cluster.worker('gone', address, ['--nthreads', '1', '--no-nanny']);
    cluster.worker('slow', address, ['--nthreads', '1', '--no-nanny'], {
      env: { NODE_OPTIONS: `--require=${wall}` },
    });
    await until(() => client.cluster.workers.length === 5);
    const events: string[] = [];
    const stop = client.observe({ event: ({ topic, text }) => void events.push(`${topic} ${text}`) });
    const made = client.submit(ones, 10_000, { workers: 'dask-gone', pure: false });
    await made.wait();
    const total = client.submit(sum, made, { workers: 'dask-slow', pure: false });
    await until(() => existsSync(held));
    await cluster.kill('gone');
    await until(() => events.some((event) => event.startsWith('worker-lost')));
    cluster.worker('gone', address, ['--nthreads', '1', '--no-nanny']);
    assert.equal(await total.result(), 10_000);
    stop();
    assert.doesNotMatch(events.join('\n'), /cannot reach the program/);
    await Promise.all([cluster.terminate('slow'), cluster.terminate('gone')]);
    await until(() => client.cluster.workers.length === 3);
  });

  it('does not take the id of a process in a container for one of this machine', async (t) => {
    const under = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
    if (spawnSync(under[0]!, [...under.slice(1), 'true']).status !== 0)
      return t.skip('this user may not create PID namespaces');
    cluster.worker('boxed', address, ['--nthreads', '1', '--no-nanny'], { under });
    t.after(async () => {
      await cluster.kill('boxed');
      await until(() => client.cluster.workers.length === 3);
    });
    await until(() => client.cluster.workers.includes('dask-boxed'));
    const { workers } = await client.dump();
    const pidOf = (name: string): number | undefined => workers.find((worker) => worker.name === name)?.pid;
    assert.equal(pidOf('dask-boxed'), -1);
    assert.equal(pidOf('dask-b'), await client.submit(where, 7, { workers: 'dask-b' }).result());
  });

  it('imports packages that are installed on the workers', async () => {
    assert.equal(await client.submit(imported, { workers: 'dask-a-0' }).result(), 42);
  });

  it('runs tasks with resources, annotations and retries where Dask would run them', async () => {
    const pids = await client.gather(client.map(where, [1, 2, 3], { resources: { GPU: 1 }, pure: false }));
    const first = await client.submit(where, 0, { workers: 'dask-a-0', pure: false }).result();
    assert.deepEqual(new Set(pids), new Set([first]));
    const annotated = await annotate({ resources: { GPU: 1 }, retries: 1, priority: 5 }, () => {
      const again = delayed(failOnce)(join(folder, 'failed'));
      return compute(again, delayed(where)(4));
    });
    assert.deepEqual(annotated, [6, first]);
  });

  it('computes results again that were lost with the killed nanny of a worker', async () => {
    const made = client.submit(ones, 4000, { workers: ['dask-b', 'dask-a-1'] });
    const onB = client.submit(ones, 5000, { workers: 'dask-b' });
    const node = await client.submit(where, 5, { workers: 'dask-b' }).result();
    await client.gather([client.submit(sum, made), client.submit(sum, onB)]);
    const reasons: string[] = [];
    const stop = client.observe({ workerRemoved: (_worker, _time, reason) => void reasons.push(reason) });
    await cluster.kill('b');
    await until(() => !existsSync(`/proc/${node}`));
    await until(() => client.cluster.workers.length === 2);
    stop();
    // Without the check of its port, the bridge waits 5 s for an answer of the worker.
    assert.match(reasons.join('\n'), /its process has ended/);
    assert.equal(await client.submit(sum, made, { pure: false }).result(), 4000);
    const again = client.submit(sum, onB, { pure: false });
    cluster.worker('b', address, ['--nthreads', '1']);
    assert.equal(await again.result(), 5000);
  });

  it('moves results of a worker when a batch system terminates all processes of its job', async () => {
    cluster.worker('job', address, ['--nthreads', '1', '--no-nanny']);
    await until(() => client.cluster.workers.includes('dask-job'));
    const made = client.map(ones, [8000, 9000], { workers: 'dask-job', pure: false });
    const node = await client.submit(where, 6, { workers: 'dask-job' }).result();
    await Promise.all(made.map((future) => future.wait()));
    process.kill(node, 'SIGTERM');
    await cluster.terminate('job');
    // Nothing can compute them again: no other worker has this name.
    assert.deepEqual(await client.gather(client.map(sum, made, { pure: false })), [8000, 9000]);
  });

  it('warns of a worker that joins and cannot run tasks', async () => {
    const old = join(folder, 'old-node');
    writeFileSync(old, '#!/bin/sh\necho v18.0.0\n', { mode: 0o755 });
    const warnings: string[] = [];
    const note = ({ message }: Error): void => void warnings.push(message);
    process.on('warning', note);
    cluster.worker('old', address, ['--nthreads', '1', '--no-nanny'], { env: { LONGPOLE_NODE: old } });
    await until(() => warnings.some((text) => text.includes('is too old: v18.0.0')));
    process.off('warning', note);
    await cluster.terminate('old');
  });

  it('continues on the workers of a restarted scheduler', async () => {
    const made = client.map(ones, [6000, 7000], { pure: false });
    await Promise.all(made.map((future) => future.wait()));
    await cluster.kill('scheduler');
    const total = client.map(sum, made, { pure: false });
    assert.equal(await cluster.scheduler(new URL(address.replace('tls:', 'http:')).port), address);
    cluster.worker('c', address, ['--nthreads', '1']);
    assert.deepEqual(await client.gather(total), [6000, 7000]);
    assert.equal(await client.submit(square, 12, { workers: 'dask-c' }).result(), 144);
  });
});
