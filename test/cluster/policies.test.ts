// Options of what is submitted: retries, priorities, restrictions to workers, resources, timeouts, AbortSignals.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect, type Future, LongpoleError, TaskError } from 'longpole';
import { t } from './clusterTasks.js';
import { clusterTest, open, rejection, sharedClusterTest, started, until } from './support.js';

sharedClusterTest('retries: as often as asked for, then the last error', async ({ client, folder }) => {
  const calls = (name: string): number => readFileSync(join(folder, name), 'utf8').length;
  assert.equal(await client.submit(t.failTimes, join(folder, 'a'), 2, { retries: 2 }).result(), 3);
  const error = await rejection(client.submit(t.failTimes, join(folder, 'b'), 3, { retries: 2 }).result());
  assert.ok(error instanceof TaskError);
  assert.match(error.message, /call 3/);
  assert.equal(calls('b'), 3);
  await rejection(client.submit(t.failTimes, join(folder, 'c'), 1).result());
  assert.equal(calls('c'), 1);
  const behind = t.inc(t.failTimes(join(folder, 'd'), 1));
  assert.equal(await client.compute(behind, { retries: 1 }), 3);
});

clusterTest(
  'priority: higher runs first, equal ones in the order of their submission',
  async ({ client, folder }) => {
    const held = client.submit(t.hold, folder, 'gate', 0);
    await started(folder, 'gate');
    const path = join(folder, 'order');
    const note = (name: string, priority: number): Future<string> =>
      client.submit(t.note, path, name, { priority, retries: 0 });
    // More than a worker is sent ahead, so that there is a choice.
    const filler = Array.from({ length: 4 }, (_, i) => client.submit(t.hold, folder, `filler${i}`, 0));
    for (let i = 0; i < 4; i++) open(folder, `filler${i}`);
    const names = [note('low', -1), note('first', 0), note('second', 0), note('high', 5), note('highest', 9)];
    open(folder, 'gate');
    await client.gather([held, ...filler]);
    await client.gather(names);
    const order = readFileSync(path, 'utf8').trim().split(' ');
    const at = (name: string): number => order.indexOf(name);
    assert.equal(order.length, 5);
    assert.ok(at('highest') < at('low'), order.join());
    assert.ok(at('high') < at('low'), order.join());
    assert.ok(at('first') < at('second'), order.join());
  },
  { workers: 1 },
);

/** The worker on which each of these tasks was run. */
async function runsOn(futures: readonly Future<unknown>[]): Promise<string[]> {
  const errors = await Promise.all(futures.map((future) => future.exception()));
  return errors.map((error) => (error instanceof TaskError ? error.worker : 'none'));
}

sharedClusterTest(
  'workers: tasks run where they may, also when that worker is busy',
  async ({ client, folder }) => {
    const [first, second] = Object.keys(client.schedulerInfo().workers);
    const held = client.submit(t.hold, folder, 'gate', 0, { workers: first });
    await started(folder, 'gate');
    const onFirst = Array.from({ length: 10 }, () => client.submit(t.fail, 'x', { workers: first }));
    const onSecond = Array.from({ length: 10 }, () => client.submit(t.fail, 'x', { workers: [second!] }));
    assert.deepEqual(new Set(await runsOn(onSecond)), new Set([second]));
    assert.ok(onFirst.every(({ status }) => status === 'pending'));
    open(folder, 'gate');
    assert.deepEqual(new Set(await runsOn(onFirst)), new Set([first]));
    await held.result();
    const large = client.submit(t.zeros, 100_000, 1, { workers: first });
    assert.equal(await client.submit(t.total, large, { workers: second }).result(), 100_000);
  },
);

clusterTest('workers: one that is not there yet, until the cluster grows', async ({ client, cluster }) => {
  const early = client.submit(t.fail, 'x', { workers: 'worker-2' });
  const behind = client.submit(t.inc, early);
  assert.equal(await client.submit(t.inc, 1).result(), 2);
  assert.equal(early.status, 'pending');
  await cluster.scale(3);
  assert.deepEqual(await runsOn([early, behind]), ['worker-2', 'worker-2']);
  assert.equal(cluster.size, 3);
});

clusterTest(
  'resources: tasks that need what nobody offers wait; others run',
  async ({ client }) => {
    assert.equal(await client.submit(t.inc, 1, { resources: { GPU: 1 } }).result(), 2);
    const waiting = client.submit(t.inc, 1, { resources: { GPU: 3 } });
    const unknown = client.submit(t.inc, 1, { resources: { TPU: 1 } });
    assert.equal(await client.submit(t.inc, 5, { resources: { GPU: 2 } }).result(), 6);
    assert.equal(waiting.status, 'pending');
    unknown.cancel();
    waiting.cancel();
    assert.equal(waiting.status, 'cancelled');
  },
  { resources: { GPU: 2 } },
);

sharedClusterTest(
  'timeout: a task that takes longer is ended and fails; the worker goes on',
  async ({ client, folder }) => {
    const slow = client.submit(t.spin, folder, 'spin', { timeout: 0.2 });
    const error = await rejection(slow.result());
    assert.ok(error instanceof TaskError);
    assert.equal(error.code, 'ERR_LONGPOLE_TASK_TIMEOUT');
    assert.equal(error.key, slow.key);
    const asleep = client.submit(t.holdAsync, folder, 'asleep', 1, { timeout: 0.2 });
    const second = await rejection(asleep.result());
    assert.ok(second instanceof TaskError && second.code === 'ERR_LONGPOLE_TASK_TIMEOUT');
    assert.deepEqual(await client.gather(client.map(t.inc, [1, 2, 3], { timeout: 30 })), [2, 3, 4]);
  },
);

sharedClusterTest('timeout: with retries it is tried again', async ({ client, folder }) => {
  const file = join(folder, 'calls');
  // One retry is enough where the second try has a core for the time.
  const slowOnce = client.submit(t.slowOnce, file, { timeout: 0.3, retries: 50 });
  assert.ok((await slowOnce.result()) >= 2);
});

sharedClusterTest('signal: aborted before, during and after', async ({ client, folder }) => {
  const reason = new Error('enough');
  const before = AbortSignal.abort(reason);
  const error = await rejection(client.compute(t.inc(1), { signal: before }));
  assert.ok(error instanceof LongpoleError);
  assert.equal(error.code, 'ERR_LONGPOLE_ABORTED');
  assert.equal(error.cause, reason);
  assert.equal(client.submit(t.inc, 1, { signal: before }).status, 'cancelled');
  assert.equal(client.persist(t.inc(1), { signal: before }).status, 'cancelled');

  const during = new AbortController();
  const spinning = client.compute(t.inc(t.spin(folder, 'a')), { signal: during.signal });
  const submitted = client.submit(t.spin, folder, 'b', { signal: during.signal });
  await Promise.all([started(folder, 'a'), started(folder, 'b')]);
  during.abort(reason);
  const aborted = await rejection(spinning);
  assert.ok(aborted instanceof LongpoleError && aborted.code === 'ERR_LONGPOLE_ABORTED');
  assert.equal(submitted.status, 'cancelled');
  // Both workers were in an endless loop.
  assert.deepEqual(await client.gather(client.map(t.inc, [1, 2, 3, 4])), [2, 3, 4, 5]);

  const after = new AbortController();
  const future = client.submit(t.inc, 1, { signal: after.signal });
  assert.equal(await future.result(), 2);
  after.abort();
  assert.equal(future.status, 'finished');
  assert.equal(await client.compute(t.inc(2), { signal: after.signal }).catch(() => 'aborted'), 'aborted');
});

sharedClusterTest('signal: what waits behind a running task is not begun', async ({ client, folder }) => {
  const controller = new AbortController();
  const held = client.submit(t.hold, folder, 'gate', 0);
  await started(folder, 'gate');
  const names = Array.from({ length: 50 }, (_, i) => join(folder, `count${i}`));
  const counted = client.compute(
    names.map((name) => t.countAfter(name, t.hold(folder, 'second', 0))),
    { signal: controller.signal },
  );
  await started(folder, 'second');
  controller.abort();
  await rejection(counted);
  // Messages arrive in their order: who answers has heard of the end. The busy one does not, and is ended.
  await client.run(() => 0).catch(() => undefined);
  open(folder, 'gate');
  open(folder, 'second');
  assert.equal(await held.result(), 0);
  await until('everything is forgotten', () => client.schedulerInfo().tasks.processing === 0);
  assert.ok(names.every((name) => !existsSync(name)));
});

sharedClusterTest('workers may be named by their address', async ({ client }) => {
  const { workers } = client.schedulerInfo();
  for (const { name, address } of Object.values(workers)) {
    const where = client.map(t.inc, [1, 2, 3], { workers: [address] });
    await client.gather(where);
    const keys = new Set(where.map(({ key }) => key));
    const rows = client.getTaskStream().filter(({ key }) => keys.has(key));
    assert.deepEqual(new Set(rows.map(({ worker }) => worker)), new Set([name]));
    assert.deepEqual(await client.run(({ worker }) => worker.name, { workers: address }), { [name]: name });
    const [held] = await client.scatter([new Float64Array(20_000)], { workers: address });
    assert.equal(held!.status, 'finished');
  }
});

test('scatter to one worker of many goes to none whose name its name begins with', async () => {
  await using client = await connect({ workers: 11 }, { setAsDefault: false });
  const kept = await client.scatter(new Float64Array(20_000), { workers: 'worker-10' });
  const held = await client.run(({ worker }) => worker.memory.managed);
  assert.deepEqual(
    Object.keys(held).filter((name) => held[name]! > 0),
    ['worker-10'],
  );
  kept.release();
});
