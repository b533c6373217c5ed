// Workers that leave because the cluster shrinks or their lifetime is over, and the workers that replace them.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Client, type Future, LongpoleError } from 'longpole';
import { t } from './clusterTasks.js';
import { heldBytes } from './heldBytes.js';
import { clusterTest, open, processClusterTest, type Setting, started, until } from './support.js';

const LARGE = 100_000;

/** Returns an array to which the index of a worker is appended whenever observers are notified of its removal. */
function removals(client: Client): number[] {
  const removed: number[] = [];
  client.observe({ workerRemoved: ({ index }) => void removed.push(index) });
  return removed;
}

/**
 * Stops the clock of this program, so that no time limit removes a worker. A worker that never leaves makes the test hang
 * instead.
 */
function stopClock(context: TestContext): void {
  const now = performance.now();
  context.mock.method(performance, 'now', () => now);
}

/** Lifetime of workers in seconds. It is over only when a test calls `passLifetime`. */
const LIFETIME = 3600;

/** Moves the clock of this program beyond the lifetime of its workers. */
function passLifetime(context: TestContext): void {
  const now = performance.now.bind(performance);
  context.mock.method(performance, 'now', () => now() + 1001 * LIFETIME);
}

/**
 * Begins to shrink the cluster. `worker-0` is requested to fetch the result of the leaving worker. If the workers are
 * processes, `worker-0` is stopped first, and continues after `signal('SIGCONT')`.
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
  // The request is sent before the next turn of the event loop.
  await new Promise(setImmediate);
  return { moved, scaled, signal };
}

clusterTest(
  'a leaving worker whose isolate is replaced gets no more tasks, and leaves when it is idle',
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
    await until('the isolate is replaced', () => topics.includes('worker-restarted'));
    const more = client.map(t.inc, [1, 2, 3]);
    await scaled;
    assert.deepEqual(
      [last, ...more].map(({ status }) => status),
      ['pending', 'pending', 'pending', 'pending'],
      'no worker ran the tasks while worker-0 was busy',
    );
    open(folder, 'held');
    assert.deepEqual(await client.gather([held, last, ...more]), [1, 2, 2, 3, 4]);
    const ran = client.getTaskStream().filter(({ status }) => status === 'memory');
    assert.deepEqual(new Set(ran.map(({ worker }) => worker)), new Set(['worker-0']));
  },
);

processClusterTest(
  'scale() does not wait for a worker that dies while it leaves, and observers receive one removal',
  async ({ client, cluster, folder, context }) => {
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
  'close() removes a leaving worker with the others, and observers receive one removal',
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

clusterTest(
  'a cluster can shrink before the workers of an earlier scale() are up',
  async ({ client, cluster }) => {
    const larger = cluster.scale(4);
    await Promise.all([cluster.scale(2), larger]);
    assert.deepEqual(cluster.workers, ['worker-0', 'worker-1']);
    assert.deepEqual(Object.keys(client.schedulerInfo().workers), ['worker-0', 'worker-1']);
    assert.deepEqual(await client.gather(client.map(t.inc, [1, 2, 3])), [2, 3, 4]);
  },
);

processClusterTest(
  'a replacement that dies while it starts is replaced, and the old worker leaves after that',
  async ({ client, cluster, context }) => {
    const removed = removals(client);
    const added: number[] = [];
    client.observe({
      workerAdded: ({ index, pid }) => {
        added.push(index);
        if (index === 1) process.kill(pid, 'SIGKILL');
      },
    });
    const kept = await client.scatter(new Float64Array(LARGE).fill(1));
    passLifetime(context);
    await until('the old worker has left', () => removed.includes(0));
    assert.deepEqual(removed.slice(0, 2), [1, 0]);
    assert.ok(added.includes(2));
    assert.deepEqual(cluster.workers, ['worker-0']);
    assert.equal(await client.submit(t.total, kept).result(), LARGE);
  },
  { workers: 1, lifetime: LIFETIME },
);

processClusterTest(
  'a worker process whose isolate has not started receives neither tasks nor scattered data',
  async ({ client, folder }) => {
    const gate = join(folder, 'gate');
    const preload = ['--import', new URL('../support/isolateGate.js', import.meta.url).href];
    process.env['LONGPOLE_TEST_GATE'] = gate;
    process.execArgv.push(...preload);
    process.kill(client.schedulerInfo().workers['worker-1']!.pid, 'SIGKILL');
    try {
      await until('the isolate of its replacement is held back', () => existsSync(`${gate}.waiting`));
      const numbers = Array.from({ length: 100 }, (_, i) => i);
      const next = await client.gather(client.map(t.inc, numbers));
      assert.deepEqual(next.slice(0, 3), [1, 2, 3]);
      const arrays = [0, 1, 2, 3].map((i) => new Float64Array(100_000).fill(i));
      const totals = client.map(t.total, await client.scatter(arrays));
      assert.deepEqual(await client.gather(totals), [0, 1e5, 2e5, 3e5]);
    } finally {
      writeFileSync(gate, '');
      process.execArgv.splice(-preload.length);
    }
    assert.equal(await client.submit(t.inc, 1, { workers: 'worker-1' }).result(), 2);
  },
);

processClusterTest(
  'a worker whose lifetime is over stays until a replacement can be started',
  async ({ client, cluster, context }) => {
    const removed = removals(client);
    const topics: string[] = [];
    client.observe({ event: ({ topic }) => void topics.push(topic) });
    const { execPath } = process;
    process.execPath = '/no/such/program';
    passLifetime(context);
    try {
      await until('the start of a replacement has failed', () => topics.includes('worker-given-up'));
    } finally {
      process.execPath = execPath;
    }
    assert.equal(removed.includes(0), false);
    assert.deepEqual([cluster.size, cluster.workers], [1, ['worker-0']]);
    assert.equal(await client.submit(t.inc, 1).result(), 2);
    // The next attempt follows after another lifetime.
    passLifetime(context);
    await until('the worker is replaced', () => removed.includes(0));
    assert.equal(await client.submit(t.inc, 2).result(), 3);
    assert.equal(cluster.size, 1);
  },
  { workers: 1, lifetime: LIFETIME },
);

clusterTest(
  'results that are released while they move from a leaving worker are not kept by the receiver',
  async ({ client, cluster }) => {
    const many = Array.from({ length: 30 }, (_, i) =>
      client.submit(t.zeros, LARGE, i, { workers: 'worker-1' }),
    );
    await Promise.all(many.map((future) => future.wait()));
    const scaled = cluster.scale(1);
    // Threads take over all results within one turn of the event loop, so some are released before and some meanwhile.
    for (const future of many) {
      future.release();
      for (let step = 0; step < 4; step++) await Promise.resolve();
    }
    await scaled;
    await until('no worker holds a result', async () => (await heldBytes(client)) === 0);
  },
);

processClusterTest(
  'if the receiver of moved results dies, another worker receives them',
  async (setting) => {
    const { client } = setting;
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

processClusterTest(
  'if the only receiver of moved results dies, its replacement receives them',
  async (setting) => {
    const { client } = setting;
    const data = await client.scatter(new Float64Array(LARGE).fill(2), { workers: 'worker-1' });
    const { scaled, signal } = await beginToMove(setting, 1);
    signal('SIGKILL');
    await scaled;
    assert.equal(await client.submit(t.total, data).result(), 2 * LARGE);
  },
);

clusterTest(
  'scatter sends nothing to a leaving worker',
  async (setting) => {
    const { client } = setting;
    const { scaled, signal } = await beginToMove(setting, 2);
    // In rotation the third worker would get the last value. The second worker gets it because the third is leaving.
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
