// TypeScript on a real Dask cluster: tasks, results and errors equal those of a LocalCluster, the program survives faults,
// and nothing stays on the cluster.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { type CallTree, type Client, compute, connect, delayed } from 'longpole';
import { repositoryPath } from '../support/repository.js';
import { runCommand } from '../support/runCommand.js';
import { loaded } from './nativeTask.js';
import { CONNECT_SECONDS, NO_PYTHON, NodeCluster, python, until } from './nodeCluster.js';
import { dieOnce, fail, failOnce, hold, ones, spin, square, sum, where } from './runTasks.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-dask-run-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the process id of the bridge that the process `parent` has started. */
function bridgeOf(parent: number): number {
  const found = readdirSync('/proc').find((pid) => {
    if (!/^\d+$/.test(pid) || !existsSync(`/proc/${pid}/cmdline`)) return false;
    try {
      const isChild =
        readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] === String(parent);
      return isChild && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('longpole_dask.run');
    } catch {
      // The process has ended.
      return false;
    }
  });
  return Number(found);
}

describe('a program on a Dask cluster', { skip: python === undefined && NO_PYTHON, timeout: 450_000 }, () => {
  let cluster: NodeCluster;
  let client: Client;

  before(async () => {
    cluster = await NodeCluster.start(python ?? '');
    client = await cluster.connect(python);
  });
  after(async () => {
    await client.close();
    await cluster.close();
  });

  it('has a worker for each thread', () => {
    assert.deepEqual([...client.cluster.workers].sort(), ['dask-0', 'dask-1']);
    assert.equal(client.schedulerInfo().type, 'DaskCluster');
  });

  it('has other worker addresses in its trace than the workers that run Python tasks', async () => {
    const { workers, strings } = client.trace;
    const [address = ''] = Array.from(workers.address, (id) => strings.get(id));
    assert.match(address, /^longpole\+tcp:\/\//);
    const there = { workers: address.replace('longpole+', ''), pure: false };
    assert.equal(await client.submit(square, 3, there).result(), 9);
  });

  it('submits, maps, computes and gathers', async () => {
    const offset = 3;
    assert.equal(await client.submit(square, 7).result(), 49);
    assert.equal(await client.submit((a: number, b: number) => a + b, 4, offset).result(), 7);
    const numbers = Array.from({ length: 3000 }, (_, index) => index);
    const squares = await client.gather(client.map(square, numbers));
    assert.deepEqual(
      squares,
      numbers.map((value) => value ** 2),
    );
    const total = delayed((values: number[]) => values.reduce((a, b) => a + b, 0));
    assert.deepEqual(await compute(total(numbers.map((value) => square(value)))), [
      squares.reduce((a, b) => a + b, 0),
    ]);
  });

  it('moves large results between workers, to the program and from it', async () => {
    const made = client.map(ones, [200_000, 300_000]);
    assert.deepEqual(await client.gather(client.map(sum, made)), [200_000, 300_000]);
    const [first, second] = made;
    assert.ok(first !== undefined && second !== undefined);
    const lengths = client.submit((a: Float64Array, b: Float64Array) => a.length + b.length, first, second);
    assert.equal(await lengths.result(), 500_000);
    const array = await client.submit(ones, 100_000).result();
    assert.equal(array.length, 100_000);
    const [scattered] = await client.scatter([array.fill(2)]);
    assert.ok(scattered !== undefined);
    assert.equal(await client.submit(sum, scattered).result(), 200_000);
  });

  it('gets errors with the key, the worker, and the stack of the source', async () => {
    const failed = client.submit(fail, { key: 'failing' });
    await assert.rejects(failed.result(), (error: Error) => {
      assert.match(error.message, /'failing'.*worker dask-\d.*out of range/);
      assert.ok(error.cause instanceof RangeError);
      assert.match(error.cause.stack ?? '', /runTasks\.[jt]s:\d+/);
      return true;
    });
  });

  it('has profiles with the file and the lines of the source', async () => {
    let spun: CallTree | undefined;
    // V8 may hide the task, so that its samples have no line, until Longpole makes V8 compile it again.
    const withLine = () => Object.values(spun?.lines ?? {}).reduce((sum, count) => sum + count, 0);
    while (withLine() < 3) {
      await client.submit(spin, 0.3, { pure: false }).result();
      const { children } = await client.profile({ key: 'spin' });
      spun = Object.values(children).find(({ description }) => description.name === 'spin');
    }
    const source = repositoryPath('test/dask/runTasks.ts');
    const at = readFileSync(source, 'utf8')
      .split('\n')
      .findIndex((line) => line.includes('spin: ('));
    assert.deepEqual([spun?.description.filename, spun?.description.lineNumber], [source, at + 1]);
    const lines = Object.keys(spun?.lines ?? {}).map(Number);
    assert.ok(lines.includes(at + 4) && Math.min(...lines) > at && Math.max(...lines) <= at + 6, `${lines}`);
  });

  it('runs a failed task again, and the tasks that depend on it', async () => {
    const bad = client.submit(failOnce, join(folder, 'failed'));
    const behind = client.submit(square, bad);
    await assert.rejects(behind.result(), /the first call/);
    rmSync(join(folder, 'failed'));
    await assert.rejects(client.recreateTaskLocally(behind), /^Error: the first call/);
    await client.retry(behind);
    assert.deepEqual(await client.gather([bad, behind]), [6, 36]);
  });

  it('cannot be adapted by its client', async () => {
    await assert.rejects(client.adapt({ maximum: 2 }), {
      code: 'ERR_LONGPOLE_INVALID_ARGUMENT',
      message: /Call `cluster\.adapt/,
    });
  });

  it('runs tasks on named workers, and functions of client.run() on all workers', async () => {
    const there = await client.submit(where, 0, { workers: 'dask-1', pure: false }).result();
    const all = await client.run(() => process.pid);
    assert.equal(Object.keys(all).length, 2);
    assert.equal(all['dask-1'], there);
  });

  it('gets an error that names the option `nodeModules` for a task whose module cannot be bundled', async () => {
    await assert.rejects(client.submit(loaded).result(), (error: Error) => {
      assert.match(String(error.cause), /could not be bundled.*binary\.node.*nodeModules/s);
      return true;
    });
    assert.equal(await client.submit(square, 5).result(), 25);
  });

  it('may be one that connects to a local cluster, if `longpole run --dask` runs the program', async () => {
    const program = repositoryPath('dist-test/test/dask/localProgram.js');
    const { code, stdout, stderr } = await runCommand(
      process.execPath,
      [repositoryPath('dist/bundle/main.js'), 'run', '--no-dashboard', '--dask', cluster.address, program],
      { env: { ...process.env, LONGPOLE_PYTHON: cluster.python } },
    );
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^DaskCluster 285$/m);
    assert.match(stderr, /dask-[01]/);
  });

  it('survives the end of a Node process', async () => {
    assert.equal(await client.submit(dieOnce, join(folder, 'died')).result(), 'alive');
  });

  it('gets results computed again that were lost with a Dask worker, and uses the new worker', async () => {
    const made = client.map(ones, [100_000, 100_001, 100_002, 100_003]);
    await client.gather(client.map(sum, made));
    const [pid = 0] = Object.values(await cluster.pids());
    const removed: string[] = [];
    // The new worker may have joined before the program polls the number of workers.
    const stop = client.observe({ workerRemoved: ({ name }) => void removed.push(name) });
    process.kill(pid, 'SIGKILL');
    await until(() => removed.length > 0);
    stop();
    assert.deepEqual(
      await client.gather(client.map(sum, made, { pure: false })),
      [100_000, 100_001, 100_002, 100_003],
    );
    await until(() => client.cluster.workers.length === 2);
    assert.equal(await client.submit(square, 9, { pure: false }).result(), 81);
  });

  it('uses a worker that joins late', async () => {
    const before = new Set(client.cluster.workers);
    await cluster.scale(3);
    await until(() => client.cluster.workers.some((name) => !before.has(name)));
    const late = client.cluster.workers.find((name) => !before.has(name)) ?? '';
    assert.equal(await client.submit(square, 11, { workers: late, pure: false }).result(), 121);
  });

  it('leaves nothing on the cluster, even if it is killed', async (test: TestContext) => {
    const file = join(folder, 'held');
    const program = repositoryPath('dist-test/test/dask/holdProgram.js');
    const child = spawn(process.execPath, [program, cluster.address, python ?? '', file], {
      stdio: 'inherit',
    });
    test.after(() => child.kill('SIGKILL'));
    await until(() => existsSync(file) && readFileSync(file, 'utf8') !== '');
    const node = Number(readFileSync(file, 'utf8'));
    child.kill('SIGKILL');
    await once(child, 'exit');
    await until(() => !existsSync(`/proc/${node}`));
    await client.close();
    await until(async () => {
      const { plugins, keys } = await cluster.left();
      return plugins.length === 0 && keys.every((key) => !key.startsWith('longpole'));
    });
  });
});

describe('a Dask cluster that a program starts', {
  skip: python === undefined && NO_PYTHON,
  timeout: 450_000,
}, () => {
  it('fails the running tasks and is closed when its bridge is killed', async () => {
    const client = await connect('dask', {
      python: python ?? '',
      workers: 1,
      threads: 1,
      timeout: CONNECT_SECONDS,
    });
    assert.equal(await client.submit(square, 6).result(), 36);
    const running = client.submit(hold, join(folder, 'bridge'));
    await until(() => existsSync(join(folder, 'bridge')));
    process.kill(bridgeOf(process.pid), 'SIGKILL');
    await assert.rejects(running.result(), { code: 'ERR_LONGPOLE_DASK_BRIDGE' });
    assert.throws(() => client.submit(square, 7), { code: 'ERR_LONGPOLE_CLOSED' });
    await client.close();
    const node = Number(readFileSync(join(folder, 'bridge'), 'utf8'));
    await until(() => !existsSync(`/proc/${node}`));
  });
});

describe('a connection to a Dask cluster is refused', { skip: python === undefined && NO_PYTHON }, () => {
  it('without a scheduler', async () => {
    await assert.rejects(connect('tcp://127.0.0.1:1', { python: python ?? '', timeout: 1 }), {
      code: 'ERR_LONGPOLE_DASK_CONNECT',
      message: /tcp:\/\/127\.0\.0\.1:1/,
    });
  });

  it('without a Python', async () => {
    await assert.rejects(connect('tcp://127.0.0.1:1', { python: join(folder, 'python') }), {
      code: 'ERR_LONGPOLE_PYTHON',
    });
  });

  it('without Node on the workers', async () => {
    const node = join(folder, 'node');
    await assert.rejects(
      connect('dask', { python: python ?? '', workers: 1, threads: 1, node, timeout: CONNECT_SECONDS }),
      {
        code: 'ERR_LONGPOLE_DASK_NODE',
        message: /LONGPOLE_NODE/,
      },
    );
  });

  it('with an invalid address or time limit', async () => {
    await assert.rejects(connect('localhost'), { code: 'ERR_LONGPOLE_INVALID_ARGUMENT' });
    await assert.rejects(connect('tcp://127.0.0.1:1', { timeout: 0 }), {
      code: 'ERR_LONGPOLE_INVALID_ARGUMENT',
    });
  });
});
