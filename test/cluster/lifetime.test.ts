// How long results, futures, clients and clusters live, and what is left when they end.
import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Client, connect, LocalCluster, LongpoleError } from 'longpole';
import { packageUrl, runProgram, withFolder } from '../support/programs.js';
import { t } from './clusterTasks.js';
import { heldBytes } from './heldBytes.js';
import { clusterTest, open, rejection, started, until } from './support.js';

const LARGE = 100_000;

/** How many arrays of LARGE numbers the workers hold. */
async function heldArrays(client: Client): Promise<number> {
  return Math.round((await heldBytes(client)) / (8 * LARGE));
}

function isFutureError(error: unknown): boolean {
  return error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_FUTURE';
}

clusterTest('release: a result leaves the workers with its last future', async ({ client }) => {
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
  await until('the result is gone', async () => (await heldArrays(client)) === 0);
  assert.equal(client.schedulerInfo().tasks.memory, 0);
});

clusterTest('release: while a task needs the result, it stays', async ({ client, folder }) => {
  const large = client.submit(t.zeros, LARGE, 2);
  const gate = client.submit(t.hold, folder, 'gate', 1);
  await started(folder, 'gate');
  const total = client.submit(t.totalAfter, large, gate);
  large.release();
  open(folder, 'gate');
  assert.equal(await total.result(), 2 * LARGE);
  await until('the result is gone', async () => (await heldArrays(client)) === 0);
});

clusterTest(
  'release: intermediate results of a computation, and results that compute has brought',
  async ({ client }) => {
    const total = t.total(t.plus(t.plus(t.zeros(LARGE, 1), 1), 1));
    assert.equal(await client.compute(total), 3 * LARGE);
    assert.equal((await client.compute(t.zeros(LARGE, 1))).length, LARGE);
    await until('nothing is left', async () => (await heldArrays(client)) === 0);
    using kept = client.submit(t.zeros, LARGE, 1);
    await kept.wait();
  },
);

clusterTest(
  'a computation that ends does not disturb a long task of another',
  async ({ client, folder }) => {
    const short = client.submit(t.hold, folder, 'short', 0);
    await started(folder, 'short');
    const long = client.submit(t.hold, folder, 'long', 1);
    await until('it is sent ahead', () => client.schedulerInfo().tasks.processing === 2);
    open(folder, 'short');
    await short.result();
    await started(folder, 'long');
    rmSync(join(folder, 'long.started'));
    // A busy worker measures its memory every 100 ms, which an isolate may take to release a computation.
    let samples = 0;
    client.observe({ memory: () => void samples++ });
    await until('its worker has lived through that time', () => samples >= 5);
    open(folder, 'long');
    assert.equal(await long.result(), 1);
    assert.ok(!existsSync(join(folder, 'long.started')), 'it did not begin again');
  },
  { workers: 1 },
);

clusterTest('release: pending futures; their tasks are not run', async ({ client, folder }) => {
  const held = [0, 1].map((i) => client.submit(t.hold, folder, `gate${i}`, i));
  await Promise.all([started(folder, 'gate0'), started(folder, 'gate1')]);
  const path = join(folder, 'calls');
  const counted = Array.from({ length: 20 }, () => client.submit(t.count, path));
  await Promise.resolve();
  for (const future of counted) future.release();
  // The answer comes behind what a worker was told before: it knows of the releases.
  await client.run(() => undefined);
  for (const i of [0, 1]) open(folder, `gate${i}`);
  assert.deepEqual(await client.gather(held), [0, 1]);
  await until('nothing is left to do', () => client.schedulerInfo().tasks.processing === 0);
  assert.equal(existsSync(path), false);
});

clusterTest('cancel: pending, running, finished; what depends on them', async ({ client, folder }) => {
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
  // The worker that was in an endless loop is there again.
  const gates = [0, 1].map((i) => client.submit(t.hold, folder, `gate${i}`, i));
  await Promise.all([started(folder, 'gate0'), started(folder, 'gate1')]);
  for (const i of [0, 1]) open(folder, `gate${i}`);
  assert.deepEqual(await client.gather(gates), [0, 1]);
});

clusterTest(
  'cancel: a dependent of a cancelled future does not wait for ever',
  async ({ client, folder }) => {
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
  },
);

clusterTest(
  'cancel: what needs a task that never ends is cancelled with it, and its worker is free',
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

clusterTest('several clients: each lets go of its own share', async ({ client, cluster }) => {
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
  await until('the other client let go', async () => (await heldArrays(client)) === 1);
  assert.equal(mine.status, 'finished');
  assert.equal(await client.submit(t.total, mine).result(), LARGE);
  assert.ok(isFutureError(await rejection(alone.result())));
  assert.throws(() => other.submit(t.inc, 1), { code: 'ERR_LONGPOLE_CLOSED' });
  await assert.rejects(other.compute(t.inc(1)), { code: 'ERR_LONGPOLE_CLOSED' });
  await assert.rejects(other.scatter([1]), { code: 'ERR_LONGPOLE_CLOSED' });
  await assert.rejects(
    other.run(() => 1),
    { code: 'ERR_LONGPOLE_CLOSED' },
  );
  theirs.release();
  mine.release();
  await until('nothing is left', async () => (await heldArrays(client)) === 0);
});

clusterTest(
  'close: with things pending and running; twice; use after it',
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
    for (const error of await Promise.all(rejected)) assert.ok(isFutureError(error), String(error));
    if (localDirectory !== undefined) assert.equal(existsSync(localDirectory), false);
    assert.equal(running.status, 'cancelled');
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

clusterTest('close: the default cluster of connect ends with its client', async ({ processes }) => {
  const client = await connect({ workers: 1, processes });
  const cluster = client.cluster;
  assert.equal(await client.submit(t.inc, 1).result(), 2);
  await client.close();
  assert.equal(cluster.workers.length, 0);
});

for (const processes of [false, true]) {
  const kind = processes ? 'processes' : 'threads';

  test(`${kind}: a future that nobody can reach any more releases its result`, async () => {
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
        for (let i = 0; i < 2000 && left !== 1; i++) {
          globalThis.gc();
          await new Promise((resolve) => setTimeout(resolve, 10));
          left = await held();
        }
        console.log(left, kept.status);
        await client.close();
      `;
      const { stdout, stderr } = await runProgram(folder, source, { nodeArguments: ['--expose-gc'] });
      assert.equal(stdout, '3 finished\n1 finished\n', stderr);
    });
  });

  test(`${kind}: a program that does not close its cluster ends all the same, and leaves nothing behind`, async () => {
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

test('LocalCluster.start checks its options', async () => {
  const invalid = { code: 'ERR_LONGPOLE_INVALID_ARGUMENT' };
  await assert.rejects(LocalCluster.start({ workers: 0 }), invalid);
  await assert.rejects(LocalCluster.start({ workers: 1.5 }), invalid);
  await assert.rejects(LocalCluster.start({ memoryLimit: 'much' }), invalid);
  await assert.rejects(LocalCluster.start({ allowedFailures: 0 }), invalid);
  await assert.rejects(LocalCluster.start({ workers: 1, lifetime: 0 }), invalid);
  await assert.rejects(Reflect.apply(LocalCluster.start, LocalCluster, [{ processes: 'yes' }]), invalid);
  await assert.rejects(
    Reflect.apply(LocalCluster.start, LocalCluster, [{ resources: { GPU: 'x' } }]),
    invalid,
  );
  await assert.rejects(Reflect.apply(connect, undefined, ['tcp']), invalid);
});

test('processes: a worker that the system does not start is an error, not a wait for ever', async () => {
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
