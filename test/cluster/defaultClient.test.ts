// Delayed and compute() with the default client, which is the last connected one, and without a client.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compute, connect, Future, getClient, LocalCluster, LongpoleError } from 'longpole';
import { packageUrl, runProgram, withFolder } from '../support/programs.js';
import { t } from './clusterTasks.js';
import { clusterTest, rejection } from './support.js';

clusterTest('persist of a Delayed keeps its result on the cluster', async ({ cluster }) => {
  await using client = await connect(cluster);
  const future = t.inc(t.inc(1)).persist({ priority: 1 });
  assert.ok(future instanceof Future);
  assert.equal(await future.result(), 3);
  assert.equal(await client.submit(t.inc, future).result(), 4);
});

clusterTest('compute accepts the options of a cluster', async ({ cluster }) => {
  await using client = await connect(cluster);
  const one = t.inc(1);
  assert.deepEqual(await compute(one, t.inc(2), { workers: 'worker-1', priority: 2 }), [2, 3]);
  const rows = client.getTaskStream().filter(({ prefix }) => prefix === 'inc');
  assert.deepEqual(new Set(rows.map(({ worker }) => worker)), new Set(['worker-1']));
  const error = await rejection(t.inc(1).compute({ resources: { GPU: -1 } }));
  assert.ok(error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_INVALID_ARGUMENT');
});

test('persist without a client throws an error that names connect()', () => {
  assert.throws(
    () => t.inc(1).persist(),
    (error) => error instanceof LongpoleError && /connect/.test(error.message),
  );
});

test('compute refuses options of a cluster together with options of a local scheduler', async () => {
  for (const local of [{ scheduler: 'threads' }, { numWorkers: 1 }] as const) {
    const error = await rejection(t.inc(1).compute({ retries: 1, ...local }));
    assert.ok(error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_INVALID_ARGUMENT');
    assert.match(error.message, /retries/);
  }
});

test('compute with options of a cluster starts a cluster if there is no client, and the program still ends', async () => {
  await withFolder(async (folder) => {
    const { stdout, code } = await runProgram(
      folder,
      `
      import { appendFileSync, readFileSync } from 'node:fs';
      import { tasks } from ${JSON.stringify(packageUrl('index'))};
      const { flaky } = tasks(import.meta.url, {
        flaky(path) {
          appendFileSync(path, 'x');
          const runs = readFileSync(path, 'utf8').length;
          if (runs < 3) throw new Error('not yet');
          return runs;
        },
      });
      console.log(await flaky(process.argv[2]).compute({ retries: 2 }));
    `,
      { arguments: [`${folder}/runs`] },
    );
    assert.equal(stdout, '3\n');
    assert.equal(code, 0);
  });
});

test('compute and getClient use no client whose cluster is closed', async () => {
  await using open = await connect({ workers: 1 });
  const cluster = await LocalCluster.start({ workers: 1 });
  await using client = await connect(cluster);
  assert.equal(String(getClient()), String(client));
  await cluster.close();
  assert.equal(String(getClient()), String(open));
  assert.deepEqual(await compute(t.inc(1)), [2]);
});
