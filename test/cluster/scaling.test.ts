// Workers that leave, because the cluster is made smaller or they have lived long enough, and those that take their places.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type Client, type Future, LongpoleError } from 'longpole';
import { t } from './clusterTasks.js';
import { heldBytes } from './heldBytes.js';
import { clusterTest, open, type Setting, started, until } from './support.js';

const LARGE = 100_000;

/** The indices of workers in the order in which observers are told that they are gone; an index once for each time. */
function removals(client: Client): number[] {
  const removed: number[] = [];
  client.observe({ workerRemoved: ({ index }) => void removed.push(index) });
  return removed;
}

/**
 * Stops the clock of this program, so that no worker is made to leave because its time is over: one that is waited for in vain
 * makes the test hang.
 */
function stopClock(context: TestContext): void {
  const now = performance.now();
  context.mock.method(performance, 'now', () => now);
}

/**
 * Begins to make the cluster smaller; the last worker leaves and has a result, which `worker-0` is asked to take over. A
 * process is stopped before it can, and goes on with `signal('SIGCONT')`.
 */
async function beginToMove(
  { client, cluster, processes }: Setting,
  size: number,
): Promise<{ moved: Future<Float64Array>; scaled: Promise<void>; signal: (name: NodeJS.Signals) => void }> {
  const moved = client.submit(t.zeros, LARGE, 1, { workers: `worker-${size}` });
  await moved.wait();
  const pid = client.schedulerInfo().workers['worker-0']!.pid;
  const signal = (name: NodeJS.Signals): void => void (processes && process.kill(pid, name));
  signal('SIGSTOP');
  const scaled = cluster.scale(size);
  // The question is on its way in the next turn.
  await new Promise(setImmediate);
  return { moved, scaled, signal };
}

clusterTest(
  'scale: a worker whose isolate is replaced while it leaves takes nothing more, and goes once it is idle',
  async ({ client, cluster, folder, context }) => {
    const held = client.submit(t.hold, folder, 'held', 1, { workers: 'worker-0' });
    await started(folder, 'held');
    const last = client.submit(t.holdAndExit, folder, 'last', 2);
    await started(folder, 'last');
    const topics: string[] = [];
    client.observe({ event: ({ topic }) => void topics.push(topic) });
    stopClock(context);
    const scaled = cluster.scale(1);
    open(folder, 'last');
    await until('its isolate is replaced', () => topics.includes('worker-restarted'));
    const more = client.map(t.inc, [1, 2, 3]);
    await scaled;
    assert.deepEqual(
      [last, ...more].map(({ status }) => status),
      ['pending', 'pending', 'pending', 'pending'],
      'nobody has run them while the other worker was busy',
    );
    open(folder, 'held');
    assert.deepEqual(await client.gather([held, last, ...more]), [1, 2, 2, 3, 4]);
    const ran = client.getTaskStream().filter(({ status }) => status === 'memory');
    assert.deepEqual(new Set(ran.map(({ worker }) => worker)), new Set(['worker-0']));
  },
);

clusterTest(
  'scale: a worker that dies while it leaves is waited for no longer, and told of once',
  async ({ client, cluster, folder, processes, context }) => {
    if (!processes) return;
    const removed = removals(client);
    const held = client.submit(t.hold, folder, 'held', 1, { workers: ['worker-1'] });
    await started(folder, 'held');
    stopClock(context);
    const scaled = cluster.scale(1);
    process.kill(client.schedulerInfo().workers['worker-1']!.pid, 'SIGKILL');
    await scaled;
    assert.deepEqual(removed, [1]);
    held.release();
    assert.equal(await client.submit(t.inc, 1).result(), 2);
  },
);

clusterTest(
  'close: a worker that is leaving goes with the others, and is told of once',
  async ({ client, cluster, folder }) => {
    const removed = removals(client);
    const held = client.submit(t.hold, folder, 'held', 1, { workers: ['worker-1'] });
    await started(folder, 'held');
    const scaled = cluster.scale(1);
    await cluster.close();
    await scaled;
    assert.equal(held.status, 'cancelled');
    assert.deepEqual([...removed].sort(), [0, 1]);
  },
);

clusterTest('scale: smaller, before those that were to come are up', async ({ client, cluster }) => {
  const larger = cluster.scale(4);
  await Promise.all([cluster.scale(2), larger]);
  assert.deepEqual(cluster.workers, ['worker-0', 'worker-1']);
  assert.deepEqual(Object.keys(client.schedulerInfo().workers), ['worker-0', 'worker-1']);
  assert.deepEqual(await client.gather(client.map(t.inc, [1, 2, 3])), [2, 3, 4]);
});

clusterTest(
  'lifetime: a replacement that dies while it starts is replaced, and the old worker goes after that',
  async ({ client, cluster, processes }) => {
    // A thread is up at once.
    if (!processes) return;
    const kept = await client.scatter(new Float64Array(LARGE).fill(1));
    const removed = removals(client);
    const added: number[] = [];
    client.observe({
      workerAdded: ({ index, pid }) => {
        added.push(index);
        if (index === 1) process.kill(pid, 'SIGKILL');
      },
    });
    await until('the old worker is gone', () => removed.includes(0));
    assert.deepEqual(removed.slice(0, 2), [1, 0]);
    assert.ok(added.includes(2));
    assert.deepEqual(cluster.workers, ['worker-0']);
    assert.equal(await client.submit(t.total, kept).result(), LARGE);
  },
  { workers: 1, lifetime: 2 },
);

clusterTest(
  'lifetime: a worker whose replacement cannot be started stays, and is replaced when one can',
  async ({ client, cluster, processes }) => {
    if (!processes) return;
    const removed = removals(client);
    const topics: string[] = [];
    client.observe({ event: ({ topic }) => void topics.push(topic) });
    const { execPath } = process;
    process.execPath = '/no/such/program';
    try {
      await until('no replacement could be started', () => topics.includes('worker-given-up'));
    } finally {
      process.execPath = execPath;
    }
    assert.equal(removed.includes(0), false);
    assert.deepEqual([cluster.size, cluster.workers], [1, ['worker-0']]);
    assert.equal(await client.submit(t.inc, 1).result(), 2);
    await until('it is replaced', () => removed.includes(0));
    assert.equal(await client.submit(t.inc, 2).result(), 3);
    assert.equal(cluster.size, 1);
  },
  { workers: 1, lifetime: 1 },
);

clusterTest(
  'scale: what is released while another takes it over is not kept there',
  async ({ client, cluster }) => {
    const many = Array.from({ length: 30 }, (_, i) =>
      client.submit(t.zeros, LARGE, i, { workers: 'worker-1' }),
    );
    await Promise.all(many.map((future) => future.wait()));
    const scaled = cluster.scale(1);
    // Between threads all are taken over within one turn of the event loop: some are released before, some in the middle.
    for (const future of many) {
      future.release();
      for (let step = 0; step < 4; step++) await Promise.resolve();
    }
    await scaled;
    await until('nothing is left', async () => (await heldBytes(client)) === 0);
  },
);

clusterTest(
  'scale: what a worker that dies was to take over, another takes',
  async (setting) => {
    const { client, processes } = setting;
    if (!processes) return;
    const data = await client.scatter(new Float64Array(LARGE).fill(2), { workers: 'worker-2' });
    const { moved, scaled, signal } = await beginToMove(setting, 2);
    signal('SIGKILL');
    await scaled;
    assert.deepEqual(await client.gather([client.submit(t.total, data), client.submit(t.total, moved)]), [
      2 * LARGE,
      LARGE,
    ]);
  },
  { workers: 3 },
);

clusterTest('scale: when the only one to take results over dies, its replacement does', async (setting) => {
  const { client, processes } = setting;
  if (!processes) return;
  const data = await client.scatter(new Float64Array(LARGE).fill(2), { workers: 'worker-1' });
  const { scaled, signal } = await beginToMove(setting, 1);
  signal('SIGKILL');
  await scaled;
  assert.equal(await client.submit(t.total, data).result(), 2 * LARGE);
});

clusterTest(
  'scatter: nothing goes to a worker that leaves',
  async (setting) => {
    const { client } = setting;
    const { scaled, signal } = await beginToMove(setting, 2);
    // The last would be the turn of the third worker, and is that of the second.
    const values = [0, 1, 2, 3, 4, new Float64Array(LARGE).fill(3)];
    const scattered = await client.scatter<unknown>(values);
    const named = await client.scatter(values, { workers: 'worker-2' }).catch((error: unknown) => error);
    signal('SIGCONT');
    await scaled;
    assert.deepEqual(await client.gather(scattered), values);
    assert.ok(named instanceof LongpoleError && named.code === 'ERR_LONGPOLE_INVALID_ARGUMENT');
  },
  { workers: 3 },
);
