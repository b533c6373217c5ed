// Lifetimes of results, futures, clients and clusters, and what they leave behind.
import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Client, connect, LocalCluster, LongpoleError } from 'longpole';
import { packageUrl, runProgram, withFolder } from '../support/programs.js';
import { t } from './clusterTasks.js';
import { heldBytes } from './heldBytes.js';
import { codeOf } from './sharedObjects.js';
import { clusterTest, open, rejection, sharedClusterTest, started, until } from './support.js';

const LARGE = 100_000;

/** Returns the number of arrays of LARGE numbers that the workers hold. */
async function heldArrays(client: Client): Promise<number> {
  return Math.round((await heldBytes(client)) / (8 * LARGE));
}

function isFutureError(error: unknown): boolean {
  return error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_FUTURE';
}

sharedClusterTest('a result is released with its last future', async ({ client }) => {
  const one = client.submit(t.zeros, LARGE, 1, { key: 'large' });
  const two = client.submit(t.zeros, LARGE, 1, { key: 'large' });
  await one.wait();
  assert.equal(await heldArrays(client), 1);
  one.release();
  one.release();
  assert.equal(one.status, 'cancelled');
  assert.ok(isFutureError(await rejection(one.result())));
  assert.equal(await heldArrays(client), 1);
  const total = client.submit(t.total, two);
  assert.equal(await total.result(), LARGE);
  two.release();
  total.release();
  await until('no worker holds the result', async () => (await heldArrays(client)) === 0);
  assert.equal(client.schedulerInfo().tasks.memory, 0);
});

sharedClusterTest('a released result stays while a task needs it', async ({ client, folder }) => {
  const large = client.submit(t.zeros, LARGE, 2);
  const gate = client.submit(t.hold, folder, 'gate', 1);
  await started(folder, 'gate');
  const total = client.submit(t.totalAfter, large, gate);
  large.release();
  open(folder, 'gate');
  assert.equal(await total.result(), 2 * LARGE);
  await until('no worker holds the result', async () => (await heldArrays(client)) === 0);
});

sharedClusterTest(
  'intermediate results and results that compute() has returned are released',
  async ({ client }) => {
    const total = t.total(t.plus(t.plus(t.zeros(LARGE, 1), 1), 1));
    assert.equal(await client.compute(total), 3 * LARGE);
    assert.equal((await client.compute(t.zeros(LARGE, 1))).length, LARGE);
    await until('no worker holds a result', async () => (await heldArrays(client)) === 0);
    using kept = client.submit(t.zeros, LARGE, 1);
    await kept.wait();
  },
);

clusterTest(
  'the end of a computation does not disturb a long task of another computation',
  async ({ client, folder }) => {
    const short = client.submit(t.hold, folder, 'short', 0);
    await started(folder, 'short');
    const long = client.submit(t.hold, folder, 'long', 1);
    await until('the long task is sent', () => client.schedulerInfo().tasks.processing === 2);
    open(folder, 'short');
    await short.result();
    await started(folder, 'long');
    rmSync(join(folder, 'long.started'));
    // A busy worker measures its memory every 100 ms, and an isolate may need that time to release a computation.
    let samples = 0;
    client.observe({ memory: () => void samples++ });
    await until('the worker has measured its memory five times', () => samples >= 5);
    open(folder, 'long');
    assert.equal(await long.result(), 1);
    assert.ok(!existsSync(join(folder, 'long.started')), 'the long task did not begin again');
  },
  { workers: 1 },
);

sharedClusterTest('tasks of released pending futures do not run', async ({ client, folder }) => {
  const held = [0, 1].map((i) => client.submit(t.hold, folder, `gate${i}`, i));
  await Promise.all([started(folder, 'gate0'), started(folder, 'gate1')]);
  const path = join(folder, 'calls');
  const counted = Array.from({ length: 20 }, () => client.submit(t.count, path));
  await Promise.resolve();
  for (const future of counted) future.release();
  // Messages arrive in order, so a worker that answers has received the releases.
  await client.run(() => undefined);
  for (const i of [0, 1]) open(folder, `gate${i}`);
  assert.deepEqual(await client.gather(held), [0, 1]);
  await until('no task is unfinished', () => client.schedulerInfo().tasks.processing === 0);
  assert.equal(existsSync(path), false);
});

sharedClusterTest(
  'cancel ends pending, running and finished futures and their dependents',
  async ({ client, folder }) => {
    const running = client.submit(t.spin, folder, 'spin');
    await started(folder, 'spin');
    const behind = client.submit(t.inc, running);
    const finished = client.submit(t.inc, 1);
    assert.equal(await finished.result(), 2);
    client.cancel([running, behind, finished]);
    for (const future of [running, behind, finished]) {
      assert.equal(future.status, 'cancelled');
      assert.ok(isFutureError(await rejection(future.result())));
      assert.ok(isFutureError(await future.exception()));
      await future.wait();
      future.cancel();
      future.release();
    }
    // The worker of the endless task runs tasks again.
    const gates = [0, 1].map((i) => client.submit(t.hold, folder, `gate${i}`, i));
    await Promise.all([started(folder, 'gate0'), started(folder, 'gate1')]);
    for (const i of [0, 1]) open(folder, `gate${i}`);
    assert.deepEqual(await client.gather(gates), [0, 1]);
  },
);

sharedClusterTest('the dependents of a cancelled future are cancelled, too', async ({ client, folder }) => {
  const running = client.submit(t.hold, folder, 'gate', 1);
  await started(folder, 'gate');
  const behind = client.submit(t.inc, running);
  const far = client.submit(t.add, behind, 1);
  running.cancel();
  open(folder, 'gate');
  assert.equal(await Promise.race([far.wait().then(() => 'settled')]), 'settled');
  const later = client.submit(t.inc, running);
  assert.ok(isFutureError(await rejection(later.result())));
  const again = client.submit(t.inc, 1);
  assert.equal(await again.result(), 2);
});

sharedClusterTest(
  'cancelling an endless task cancels its dependents and frees its worker',
  async ({ client, cluster, folder }) => {
    const endless = client.submit(t.spin, folder, 'spin');
    await started(folder, 'spin');
    const behind = client.submit(t.inc, endless);
    const far = client.persist(t.add(t.inc(behind), 1));
    const computed = client.compute(t.inc(far));
    client.cancel(endless);
    for (const future of [behind, far]) {
      assert.ok(isFutureError(await rejection(future.result())));
      assert.equal(future.status, 'cancelled');
    }
    assert.ok(isFutureError(await rejection(computed)));
    const everywhere = cluster.workers.map((worker) => client.submit(t.inc, 1, { workers: worker }));
    assert.deepEqual(await client.gather(everywhere), [2, 2]);
  },
);

sharedClusterTest(
  'a client that closes releases only the results that no other client holds',
  async ({ client, cluster }) => {
    const other = await connect(cluster, { setAsDefault: false });
    const mine = client.submit(t.zeros, LARGE, 1, { key: 'shared' });
    await mine.wait();
    const theirs = other.submit(t.zeros, LARGE, 1, { key: 'shared' });
    const alone = other.submit(t.zeros, LARGE, 2);
    await other.gather([theirs, alone]);
    assert.equal(await heldArrays(client), 2);
    assert.equal(await client.submit(t.total, theirs).result(), LARGE);
    await other.close();
    await other.close();
    await until('the result of the other client is released', async () => (await heldArrays(client)) === 1);
    assert.equal(mine.status, 'finished');
    assert.equal(await client.submit(t.total, mine).result(), LARGE);
    await assert.rejects(alone.result(), { code: 'ERR_LONGPOLE_CLOSED' });
    assert.throws(() => other.submit(t.inc, 1), { code: 'ERR_LONGPOLE_CLOSED' });
    await assert.rejects(other.compute(t.inc(1)), { code: 'ERR_LONGPOLE_CLOSED' });
    await assert.rejects(other.scatter([1]), { code: 'ERR_LONGPOLE_CLOSED' });
    await assert.rejects(
      other.run(() => 1),
      { code: 'ERR_LONGPOLE_CLOSED' },
    );
    theirs.release();
    mine.release();
    await until('no worker holds a result', async () => (await heldArrays(client)) === 0);
  },
);

clusterTest(
  'close cancels pending and running tasks, can be called twice, and makes later calls fail',
  async ({ client, cluster, folder }) => {
    const running = client.submit(t.spin, folder, 'spin');
    const async = client.submit(t.holdAsync, folder, 'asleep', 1);
    const pending = client.map(
      t.inc,
      Array.from({ length: 100 }, () => running),
    );
    const computing = client.compute(t.inc(t.spin(folder, 'spin2')));
    const rejected = [running.result(), async.result(), client.gather(pending), computing].map(rejection);
    await started(folder, 'spin');
    const { localDirectory } =
      Object.values(await client.run(({ worker }) => worker).catch(() => ({})))[0] ?? {};
    await Promise.all([cluster.close(), cluster.close()]);
    for (const error of await Promise.all(rejected)) assert.equal(codeOf(error), 'ERR_LONGPOLE_CLOSED');
    if (localDirectory !== undefined) assert.equal(existsSync(localDirectory), false);
    assert.equal(running.status, 'cancelled');
    await assert.rejects(running.result(), { code: 'ERR_LONGPOLE_CLOSED' });
    await assert.rejects(client.compute(t.inc(1)), { code: 'ERR_LONGPOLE_CLOSED' });
    assert.throws(() => client.submit(t.inc, 1), { code: 'ERR_LONGPOLE_CLOSED' });
    await assert.rejects(client.scatter([1, 2]), { code: 'ERR_LONGPOLE_CLOSED' });
    await assert.rejects(
      client.run(() => 1),
      { code: 'ERR_LONGPOLE_CLOSED' },
    );
    await assert.rejects(cluster.scale(3), { code: 'ERR_LONGPOLE_CLOSED' });
    await assert.rejects(connect(cluster), { code: 'ERR_LONGPOLE_CLOSED' });
    await client.close();
  },
);

sharedClusterTest('the cluster that connect() started closes with its client', async ({ processes }) => {
  const client = await connect({ workers: 1, processes });
  const cluster = client.cluster;
  assert.equal(await client.submit(t.inc, 1).result(), 2);
  await client.close();
  assert.equal(cluster.workers.length, 0);
});

for (const processes of [false, true]) {
  const kind = processes ? 'processes' : 'threads';

  test(`${kind}: the result of an unreachable future is released`, async () => {
    await withFolder(async (folder) => {
      const source = `
        import { connect } from ${JSON.stringify(packageUrl('index'))};
        const client = await connect({ workers: 1, processes: ${processes} });
        const held = async () =>
          Math.round(Object.values(await client.run(({ worker }) => worker.memory.managed))[0] / 800_000);
        let kept = client.submit((n) => new Float64Array(n), 100_000);
        await (async () => {
          const dropped = client.submit((n) => new Float64Array(n), 200_000);
          await dropped.wait();
          await kept.wait();
          console.log(await held(), dropped.status);
        })();
        let left = await held();
        while (left !== 1) {
          globalThis.gc();
          await new Promise((resolve) => setTimeout(resolve, 2));
          left = await held();
        }
        console.log(left, kept.status);
        await client.close();
      `;
      const { stdout, stderr } = await runProgram(folder, source, { nodeArguments: ['--expose-gc'] });
      assert.equal(stdout, '3 finished\n1 finished\n', stderr);
    });
  });

  test(`${kind}: a program ends without closing its cluster`, async () => {
    await withFolder(async (folder) => {
      const source = `
        import { connect } from ${JSON.stringify(packageUrl('index'))};
        const client = await connect({ workers: 2, processes: ${processes}, localDirectory: ${JSON.stringify(folder)} });
        console.log(await client.submit((x) => x + 1, 1).result());
      `;
      const { stdout, stderr, code } = await runProgram(folder, source);
      assert.equal(stdout, '2\n', stderr);
      assert.equal(code, 0);
    });
  });
}

test('LocalCluster.start rejects invalid options', async () => {
  const invalid = { code: 'ERR_LONGPOLE_INVALID_ARGUMENT' };
  await assert.rejects(LocalCluster.start({ workers: 0 }), invalid);
  await assert.rejects(LocalCluster.start({ workers: 1.5 }), invalid);
  for (const memoryLimit of ['much', 300, 0.5])
    await assert.rejects(LocalCluster.start({ memoryLimit }), invalid);
  await assert.rejects(LocalCluster.start({ allowedFailures: 0 }), invalid);
  await assert.rejects(LocalCluster.start({ workers: 1, lifetime: 0 }), invalid);
  await assert.rejects(Reflect.apply(LocalCluster.start, LocalCluster, [{ processes: 'yes' }]), invalid);
  await assert.rejects(
    Reflect.apply(LocalCluster.start, LocalCluster, [{ resources: { GPU: 'x' } }]),
    invalid,
  );
  await assert.rejects(Reflect.apply(connect, undefined, ['tcp']), invalid);
});

test('processes: LocalCluster.start rejects if the system cannot start a worker process', async () => {
  await withFolder(async (folder) => {
    const { stdout, code } = await runProgram(
      folder,
      `
      import { LocalCluster } from ${JSON.stringify(packageUrl('index'))};
      process.execPath = '/no/such/program';
      const error = await LocalCluster.start({ workers: 1, processes: true }).catch((error) => error);
      console.log(error.code, /no.such.program/.test(String(error.cause?.message ?? error.message)));
    `,
    );
    assert.equal(stdout, 'ERR_LONGPOLE_WORKER_START true\n');
    assert.equal(code, 0);
  });
});
