// What ends while others wait for it, or it for others: nobody else is disturbed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, connect, LocalCluster } from 'longpole';
import { isAlive, withFolder } from '../support/programs.js';
import { t } from './clusterTasks.js';
import { clusterTest, open, rejection, started, until } from './support.js';

const LENGTH = 600_000;

/** Names of the workers and since when they are there. */
const lives = (client: Client) =>
  Object.values(client.schedulerInfo().workers).map((worker) => [worker.name, worker.started]);

const made = async (client: Client, round: number, workers?: string) => {
  const values = Array.from({ length: 12 }, (_, i) => 100 * round + i);
  const arrays = values.map((value) =>
    client.submit(t.zeros, LENGTH, value, workers === undefined ? {} : { workers }),
  );
  await Promise.all(arrays.map((future) => future.wait()));
  return arrays;
};

test('processes: a computation that fails while its tasks wait for inputs takes no worker along', async () => {
  await using client = await connect({ workers: 2, processes: true });
  const before = lives(client);
  const [from, to] = Object.keys(client.schedulerInfo().workers);
  for (let round = 0; round < 4; round++) {
    const arrays = await made(client, round, from);
    const sums = arrays.map((array, i) => (i === 1 ? client.submit(t.fail, 'no') : array));
    await rejection(
      client.compute(
        sums.map((sum) => t.total(sum)),
        { workers: to! },
      ),
    );
    // What the worker that gathered is told next, it does.
    assert.equal(await client.submit(t.inc, round, { workers: to! }).result(), round + 1);
    assert.deepEqual(new Set(arrays.map(({ status }) => status)), new Set(['finished']));
  }
  assert.deepEqual(lives(client), before);
});

test('threads: tasks that are cancelled, or whose cluster closes, while their inputs are read back', async () => {
  for (const ends of ['cancelled', 'closed']) {
    const memory = { target: 0.3, spill: false, pause: false, terminate: false } as const;
    await using client = await connect({ workers: 1, memoryLimit: 30e6, memory });
    const arrays = await made(client, 0);
    const sums = arrays.map((array) => client.submit(t.total, array));
    await Promise.race(sums.map((sum) => sum.wait()));
    if (ends === 'closed') continue;
    client.cancel(sums);
    // All of them are read again: none was lost, and nothing else went on.
    const whole = await client.gather(arrays);
    assert.deepEqual(
      whole.map((values) => values[LENGTH - 1]),
      arrays.map((_, i) => i),
    );
  }
});

clusterTest(
  'tasks that are cancelled and never end, one after the other, leave their worker and its results alone',
  async ({ client, folder }) => {
    const kept = client.submit(t.zeros, LENGTH, 7);
    await kept.wait();
    const before = lives(client);
    for (let i = 0; i < 6; i++) {
      const future = client.submit(t.spin, folder, `spin-${i}`);
      await started(folder, `spin-${i}`);
      future.cancel();
      // The isolate that takes its place.
      assert.equal(await client.submit(t.inc, i).result(), i + 1);
    }
    assert.deepEqual(lives(client), before);
    assert.equal((await kept.result())[0], 7);
  },
  { workers: 1 },
);

test('threads: an asynchronous task that ends after it was cancelled leaves no timer behind', async (context) => {
  await using client = await connect({ workers: 1 });
  assert.equal(await client.submit(t.inc, 1).result(), 2);
  await withFolder(async (folder) => {
    const futures = Array.from({ length: 5 }, (_, i) => client.submit(t.holdAsync, folder, `held-${i}`, i));
    await started(folder, 'held-0');
    for (const future of futures) future.cancel();
    open(folder, 'held-0');
    await client.submit(t.inc, 2).result();
    const timers = context.mock.method(globalThis, 'setTimeout');
    // Ten times as long as a cancelled task has to end.
    await client.submit(t.busy, 1000, 1).result();
    const graces = timers.mock.calls.filter(({ arguments: [, delay] }) => delay === 100);
    assert.ok(graces.length <= futures.length, `${graces.length} timers`);
  });
});

test('processes: a cluster closes although a worker process stands still', async () => {
  const cluster = await LocalCluster.start({ workers: 2, processes: true });
  const client = await connect(cluster, { setAsDefault: false });
  const pids = Object.values(await client.run(() => process.pid));
  process.kill(pids[0]!, 'SIGSTOP');
  await client.close();
  await cluster.close();
  await until('the processes have ended', () => pids.every((pid) => !isAlive(pid)));
});

clusterTest(
  'a function that is called while a cancelled task takes its thread along runs in the next thread',
  async ({ client, folder }) => {
    const frozen = client.submit(t.freeze, folder, 'frozen');
    await started(folder, 'frozen');
    const called = client.run(() => process.version);
    frozen.cancel();
    assert.deepEqual(Object.values(await called), [process.version]);
  },
  { workers: 1 },
);
