// Workers that die while they compute, transfer results or spill: the results are right, and the cluster replaces the
// workers. A task that kills its workers fails; other tasks of these workers run again.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, KilledWorkerError, LongpoleError, TaskError } from 'longpole';
import { t } from './clusterTasks.js';
import {
  clusterTest,
  kill,
  open,
  processClusterTest,
  rejection,
  type Setting,
  sharedClusterTest,
  started,
  until,
} from './support.js';

const LARGE = 100_000;

function names(client: Client): string[] {
  return Object.keys(client.schedulerInfo().workers);
}

/** Waits until all workers run, and checks that they compute. */
async function assertHealthy(
  { client, cluster }: Pick<Setting, 'client' | 'cluster'>,
  size = 2,
): Promise<void> {
  await until('all workers answer', async () => {
    const answers = await client.run(() => 'here').catch(() => ({}));
    return Object.keys(answers).length === size;
  });
  assert.equal(cluster.size, size);
  const futures = client.map(
    t.inc,
    Array.from({ length: 200 }, (_, i) => i),
  );
  assert.deepEqual(
    await client.gather(futures),
    Array.from({ length: 200 }, (_, i) => i + 1),
  );
}

/** Checks that the cluster has ended a worker process that sent or received nothing. */
function assertSilent({ trace: { events, strings } }: Client): void {
  const texts = Array.from(events.text, (id) => strings.get(id));
  assert.ok(
    texts.some((text) => text.includes('its process sent or received nothing for 5 s')),
    texts.join('; '),
  );
}

sharedClusterTest('a task that calls process.exit() runs three times and then fails', async (setting) => {
  const { client, folder } = setting;
  const bad = client.submit(t.exitTimes, join(folder, 'bad'), 1000);
  const behind = client.submit(t.inc, bad);
  const good = client.map(
    t.inc,
    Array.from({ length: 100 }, (_, i) => i),
  );
  for (const future of [bad, behind]) {
    const error = await rejection(future.result());
    assert.ok(error instanceof KilledWorkerError, String(error));
    assert.equal(error.code, 'ERR_LONGPOLE_KILLED_WORKER');
    assert.equal(error.key, bad.key);
    assert.equal(error.attempts, 3);
  }
  assert.equal((await client.gather(good)).length, 100);
  assert.equal(await client.submit(t.exitTimes, join(folder, 'twice'), 2).result(), 3);
  await assertHealthy(setting);
});

processClusterTest(
  'a stopped worker process, which sends no messages, is replaced',
  async (setting) => {
    const { client, folder } = setting;
    const held = client.submit(t.hold, folder, 'held', 5);
    await started(folder, 'held');
    const [busy] = Object.values(client.schedulerInfo().workers).filter(({ processing }) => processing > 0);
    assert.ok(busy !== undefined);
    process.kill(busy.pid, 'SIGSTOP');
    open(folder, 'held');
    assert.equal(await held.result(), 5);
    await assertHealthy(setting);
    assertSilent(client);
  },
  // On a busy machine other workers may be silent for this time, too.
  { workerTtl: '5s', allowedFailures: 20 },
);

processClusterTest(
  'a worker process that receives no messages is replaced, although it sends heartbeats',
  async (setting) => {
    const { client, folder } = setting;
    const deaf = join(folder, 'deaf');
    const preload = ['--import', new URL('../support/deafProcess.js', import.meta.url).href];
    const pidOf = (name: string): number => client.schedulerInfo().workers[name]?.pid ?? -1;
    const before = pidOf('worker-1');
    process.env['LONGPOLE_TEST_DEAF'] = deaf;
    process.execArgv.push(...preload);
    try {
      process.kill(before, 'SIGKILL');
      await until('the worker is replaced', () => ![-1, before].includes(pidOf('worker-1')));
    } finally {
      process.execArgv.splice(-preload.length);
      delete process.env['LONGPOLE_TEST_DEAF'];
    }
    assert.equal(await client.submit(t.inc, 0, { workers: 'worker-1' }).result(), 1);
    writeFileSync(deaf, String(pidOf('worker-1')));
    assert.equal(await client.submit(t.inc, 1, { workers: 'worker-1' }).result(), 2);
    assertSilent(client);
    assert.notEqual(String(pidOf('worker-1')), readFileSync(deaf, 'utf8'));
    await assertHealthy(setting);
  },
  { workerTtl: '5s', allowedFailures: 20 },
);

clusterTest(
  'allowedFailures limits the number of workers that a task may kill',
  async ({ client }) => {
    const error = await rejection(client.submit(t.exit, 1).result());
    assert.ok(error instanceof KilledWorkerError);
    assert.equal(error.attempts, 1);
    assert.equal(await client.submit(t.inc, 1).result(), 2);
  },
  { allowedFailures: 1 },
);

sharedClusterTest(
  'a task runs again after an uncaught exception or an unhandled rejection ended its isolate',
  async (setting) => {
    const { client, folder } = setting;
    assert.equal(await client.submit(t.throwOutside, join(folder, 'thrown')).result(), 2);
    assert.equal(await client.submit(t.rejectOutside, join(folder, 'rejected')).result(), 2);
    await assertHealthy(setting);
  },
);

sharedClusterTest('a task runs again if its worker is killed while it computes', async (setting) => {
  const { client, folder } = setting;
  const [first] = names(client);
  const held = client.submit(t.hold, folder, 'gate', 7, { workers: first });
  await started(folder, 'gate');
  await kill(setting, first!);
  open(folder, 'gate');
  assert.equal(await held.result(), 7);
  await assertHealthy(setting);
});

sharedClusterTest("a lost worker's results are computed again for clients and for tasks", async (setting) => {
  const { client, folder } = setting;
  const [first, second] = names(client);
  const path = join(folder, 'calls');
  const made = client.submit(t.countZeros, path, LARGE, { workers: first });
  const behind = client.submit(t.plus, made, 1, { workers: first });
  await behind.wait();
  await kill(setting, first!);
  assert.equal(await client.submit(t.total, behind, { workers: second }).result(), 2 * LARGE);
  assert.equal((await made.result())[5], 1);
  assert.equal(made.status, 'finished');
  await assertHealthy(setting);
});

sharedClusterTest(
  'a released intermediate result is computed again to restore lost results',
  async (setting) => {
    const { client } = setting;
    const [first, second] = names(client);
    const made = t.zeros(LARGE, 1);
    const [left, right] = client.persist([t.plus(made, 1), t.plus(t.plus(made, 2), 3)]);
    await Promise.all([left!.wait(), right!.wait()]);
    await kill(setting, first!);
    await kill(setting, second!);
    assert.equal(await client.submit(t.total, left!).result(), 2 * LARGE);
    assert.equal(await client.submit(t.total, right!).result(), 6 * LARGE);
    await assertHealthy(setting);
  },
);

sharedClusterTest(
  'results are right although a worker is killed while others fetch from it',
  async (setting) => {
    const { client } = setting;
    const [first, second] = names(client);
    const many = Array.from({ length: 30 }, (_, i) => client.submit(t.zeros, 200_000, i, { workers: first }));
    await Promise.all(many.map((future) => future.wait()));
    const totals = many.map((future) => client.submit(t.total, future, { workers: second }));
    const fetched = client.gather(many);
    await Promise.race(totals.map((future) => future.wait()));
    await kill(setting, first!);
    assert.deepEqual(
      await client.gather(totals),
      many.map((_, i) => 200_000 * i),
    );
    assert.deepEqual(
      (await fetched).map((values) => values[1]),
      many.map((_, i) => i),
    );
    await assertHealthy(setting);
  },
);

sharedClusterTest(
  'scattered data is lost with its worker unless another worker has a copy',
  async (setting) => {
    const { client } = setting;
    const [first, second] = names(client);
    const lost = await client.scatter(new Float64Array(LARGE).fill(1), { workers: [first!] });
    const kept = await client.scatter(new Float64Array(LARGE).fill(2), { broadcast: true });
    const small = await client.scatter([1, 2, 3]);
    await kill(setting, first!);
    await until('the worker is listed', () => client.schedulerInfo().workers[first!]?.started !== undefined);
    assert.equal(await client.submit(t.total, kept, { workers: second }).result(), 2 * LARGE);
    assert.deepEqual(await client.gather(small), [1, 2, 3]);
    if (setting.processes) {
      const error = await rejection(client.submit(t.total, lost).result());
      assert.ok(error instanceof LongpoleError);
      assert.equal(error.code, 'ERR_LONGPOLE_DATA_LOST');
      const again = await rejection(lost.result());
      assert.ok(again instanceof LongpoleError && again.code === 'ERR_LONGPOLE_DATA_LOST');
      assert.equal(lost.status, 'error');
    } else {
      // The store of a thread is in this process and outlives the thread.
      assert.equal(await client.submit(t.total, lost).result(), LARGE);
    }
    await assertHealthy(setting);
  },
);

clusterTest(
  'if a worker dies while it receives scattered data, another worker receives the data',
  async (setting) => {
    const { client, processes } = setting;
    const [first] = names(client);
    // The cluster has not yet noticed the death when scatter begins.
    if (processes) process.kill(client.schedulerInfo().workers[first!]!.pid, 'SIGKILL');
    else void client.run(() => process.exit(9), { workers: [first!] }).catch(() => undefined);
    const futures = await client.scatter([0, 1, 2, 3].map((i) => new Float64Array(LARGE).fill(i)));
    assert.deepEqual(await client.gather(client.map(t.total, futures)), [0, LARGE, 2 * LARGE, 3 * LARGE]);
  },
);

clusterTest(
  'results are right although a worker is killed while it spills and while it reads back',
  async (setting) => {
    const { client, processes } = setting;
    const [first] = names(client);
    const pieces = Array.from({ length: 30 }, (_, i) => client.submit(t.zeros, 500_000, i));
    await until('something is spilled', async () => {
      const spilled = await client.run(({ worker }) => worker.memory.spilled).catch(() => ({}));
      return Object.values(spilled).some((bytes) => bytes > 0);
    });
    await kill(setting, first!);
    const totals = client.map(t.total, pieces);
    await Promise.race(totals.map((future) => future.wait()));
    await kill(setting, first!);
    assert.deepEqual(
      await client.gather(totals),
      pieces.map((_, i) => 500_000 * i),
    );
    await assertHealthy(setting);
    const [info] = Object.values(await client.run(({ worker }) => worker));
    if (processes) {
      const { workers } = client.schedulerInfo();
      const alive = new Set(Object.values(workers).map(({ pid }) => pid));
      assert.equal(alive.size, 2);
    }
    await setting.cluster.close();
    assert.equal(existsSync(info!.localDirectory), false);
  },
  // A process needs 140 MB without any result, so it spills all results.
  (processes) => ({ memoryLimit: processes ? '130 MB' : '60 MB', memory: { terminate: false } }),
);

sharedClusterTest(
  'tasks that time out, kill workers or fail at the same time do not disturb other tasks',
  async (setting) => {
    const { client, folder } = setting;
    const numbers = Array.from({ length: 300 }, (_, i) => i);
    const good = client.map(t.busy, new Array<number>(300).fill(1), numbers);
    const slow = client.submit(t.spin, folder, 'slow', { timeout: 0.3 });
    const deadly = client.submit(t.exit, 5);
    const failing = client.submit(t.fail, 'x');
    const once = client.submit(t.exitOnce, join(folder, 'once'), 11);
    const slowError = await rejection(slow.result());
    assert.ok(
      slowError instanceof TaskError && slowError.code === 'ERR_LONGPOLE_TASK_TIMEOUT',
      String(slowError),
    );
    assert.ok((await rejection(deadly.result())) instanceof KilledWorkerError);
    assert.ok((await rejection(failing.result())) instanceof TaskError);
    assert.equal(await once.result(), 11);
    assert.deepEqual(await client.gather(good), numbers);
    await assertHealthy(setting);
  },
);

sharedClusterTest('client.run() rejects if its worker dies during the call', async (setting) => {
  const { client, processes } = setting;
  const [first] = names(client);
  const error = await rejection(client.run(() => process.exit(3), { workers: [first!] }));
  assert.ok(error instanceof LongpoleError || (error instanceof Error && 'code' in error));
  assert.equal(Reflect.get(error, 'code'), 'ERR_LONGPOLE_WORKER_LOST');
  assert.equal(typeof processes, 'boolean');
  await assertHealthy(setting);
});
