// `adapt`: the number of workers follows the load. Gates keep tasks running; checks are so frequent that no test waits.
import assert from 'node:assert/strict';
import { t } from './clusterTasks.js';
import { clusterTest, open, started, until } from './support.js';

const LARGE = 100_000;
/** Every task deserves a worker of its own. */
const EAGER = { interval: 0.01, waitCount: 2, targetDuration: 0.001 };

clusterTest(
  'adapt adds workers for waiting tasks, and idle ones leave',
  async ({ client, cluster, folder }) => {
    await client.adapt({ minimum: 1, maximum: 3, ...EAGER });
    const names = ['a', 'b', 'c'];
    const held = names.map((name, value) => client.submit(t.hold, folder, name, value));
    // Three tasks run at once, so there are three workers.
    for (const name of names) await started(folder, name);
    assert.equal(cluster.size, 3);
    for (const name of names.slice(1)) open(folder, name);
    assert.deepEqual(await client.gather(held.slice(1)), [1, 2]);
    await until('the idle workers leave', () => cluster.size === 1);
    // The worker that runs a task stays.
    assert.equal(held[0]!.status, 'pending');
    open(folder, 'a');
    assert.equal(await held[0]!.result(), 0);
  },
);

clusterTest(
  'results survive the workers that leave, and a cluster without work has no workers',
  async (setting) => {
    const { client, cluster } = setting;
    const arrays = client.map(t.zeros, [LARGE, LARGE, LARGE, LARGE], [1, 2, 3, 4]);
    const totals = client.map(t.total, arrays);
    assert.equal((await client.gather(totals)).length, 4);
    const ran = client.getTaskStream().length;
    await cluster.adapt({ minimum: 0, maximum: 2, ...EAGER });
    await until('one worker holds all results', () => cluster.size === 1);
    assert.deepEqual(
      (await client.gather(arrays)).map(([first]) => first),
      [1, 2, 3, 4],
    );
    assert.equal(client.getTaskStream().length, ran, 'no task ran again');
    for (const array of arrays) array.release();
    await until('no worker is left', () => cluster.size === 0);
    assert.deepEqual(await client.gather(totals), [LARGE, 2 * LARGE, 3 * LARGE, 4 * LARGE]);
    assert.equal(await client.submit(t.inc, 1).result(), 2);
    await until('no worker is left', () => cluster.size === 0);
    const data = await client.scatter(new Float64Array(LARGE).fill(3));
    assert.equal(await client.submit(t.total, data).result(), 3 * LARGE);
  },
);

clusterTest(
  'another adapt replaces the settings, and scale ends adapting',
  async ({ client, cluster, folder }) => {
    await client.adapt({ minimum: 0, maximum: 1, ...EAGER });
    assert.equal(cluster.size <= 1, true);
    await client.adapt({ minimum: 3, maximum: 3, ...EAGER });
    assert.equal(cluster.size, 3);
    await cluster.scale(2);
    const held = ['a', 'b', 'c', 'd'].map((name) => client.submit(t.hold, folder, name, 1));
    await until('both workers have tasks', () =>
      Object.values(client.processing()).every((keys) => keys.length > 0),
    );
    for (const name of ['a', 'b', 'c', 'd']) open(folder, name);
    assert.deepEqual(await client.gather(held), [1, 1, 1, 1]);
    assert.equal(cluster.size, 2);
  },
);

clusterTest(
  'a task that needs a resource waits for the first worker of an adaptive cluster',
  async ({ client }) => {
    await client.adapt({ minimum: 0, maximum: 1, ...EAGER });
    await until('no worker is left', () => client.cluster.size === 0);
    assert.equal(await client.submit(t.inc, 1, { resources: { GPU: 1 } }).result(), 2);
  },
  { workers: 1, resources: { GPU: 1 } },
);

clusterTest(
  'the number of workers follows the load while a worker finishes its task and leaves',
  async ({ client, cluster, folder }) => {
    const names = ['a', 'b', 'c'];
    const held = cluster.workers.map((workers, index) =>
      client.submit(t.holdAsync, folder, names[index]!, index, { workers }),
    );
    for (const name of names) await started(folder, name);
    // One worker is too many, and has a task.
    const adapted = client.adapt({ minimum: 1, maximum: 2, ...EAGER });
    await until('a worker leaves', () => cluster.size === 2);
    for (const name of names.slice(0, 2)) open(folder, name);
    assert.deepEqual(await client.gather(held.slice(0, 2)), [0, 1]);
    await until('an idle worker leaves', () => cluster.size === 1);
    const more = ['d', 'e'].map((name, value) => client.submit(t.holdAsync, folder, name, value));
    await until('another worker starts', () => cluster.size === 2);
    assert.equal(held[2]!.status, 'pending');
    // Before the other worker is up, which may take long: the task that no other worker may run would outlast its worker.
    open(folder, 'c');
    for (const name of ['d', 'e']) await started(folder, name);
    for (const name of ['d', 'e']) open(folder, name);
    assert.deepEqual(await client.gather([held[2]!, ...more]), [2, 0, 1]);
    await adapted;
  },
  { workers: 3 },
);
