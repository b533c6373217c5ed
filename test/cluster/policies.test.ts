// Options of submitted tasks: retries, priority, workers, resources, timeout, signal.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect, type Future, LongpoleError, TaskError } from 'longpole';
import { t } from './clusterTasks.js';
import { clusterTest, open, rejection, sharedClusterTest, started, until } from './support.js';

sharedClusterTest(
  'a task is retried `retries` times and then fails with its last error',
  async ({ client, folder }) => {
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
  },
);

clusterTest(
  'tasks of higher priority run first, and tasks of equal priority in the order of submission',
  async ({ client, folder }) => {
    const held = client.submit(t.hold, folder, 'gate', 0);
    await started(folder, 'gate');
    const path = join(folder, 'order');
    const note = (name: string, priority: number): Future<string> =>
      client.submit(t.note, path, name, { priority, retries: 0 });
    // The fillers take the places in the batches that are sent ahead, so that the scheduler can choose among the rest.
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

sharedClusterTest(
  'a task behind one of the same function that takes unusually long runs on an idle worker',
  async ({ client, folder }) => {
    // Many short runs teach the scheduler that the function is short, so that it sends the next two tasks together.
    for (let i = 0; i < 500; i++) await client.submit(t.holdUnlessOdd, folder, 'gate', 1).result();
    const [long, short] = client.map(t.holdUnlessOdd, [folder, folder], ['gate', 'gate'], [2, 3]);
    assert.equal(await short!.result(), 3);
    open(folder, 'gate');
    assert.equal(await long!.result(), 2);
  },
);

clusterTest(
  'the trace names the tasks that an idle worker takes from another one',
  async ({ client, folder }) => {
    open(folder, 'open');
    // The function has no measured duration. So each worker receives one of the first two tasks, then one of the others.
    const gates = ['closed', 'open', 'open', 'open'];
    const futures = client.map(
      t.hold,
      gates.map(() => folder),
      gates,
      gates.map((_, i) => i),
    );
    assert.deepEqual(await client.gather(futures.slice(1)), [1, 2, 3]);
    const { events, strings, workers } = client.trace;
    const rows = Array.from(events.topic.keys()).filter(
      (row) => strings.get(events.topic[row]!) === 'stealing',
    );
    assert.equal(rows.length, 1);
    // The order in which the workers were ready is the order in which they receive tasks.
    const text = strings.get(events.text[rows[0]!]!);
    const thief = /^1 task of expected [\d.e-]+ s to worker-([01])$/.exec(text)?.[1];
    assert.ok(thief !== undefined, text);
    assert.equal(strings.get(workers.name[events.worker[rows[0]!]!]!), `worker-${1 - Number(thief)}`);
    open(folder, 'closed');
    assert.equal(await futures[0]!.result(), 0);
  },
);

/** Returns the worker on which each of these failed tasks ran. */
async function runsOn(futures: readonly Future<unknown>[]): Promise<string[]> {
  const errors = await Promise.all(futures.map((future) => future.exception()));
  return errors.map((error) => (error instanceof TaskError ? error.worker : 'none'));
}

sharedClusterTest(
  'tasks run only on the workers that the option `workers` names, even if these are busy',
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

clusterTest(
  'a task for a worker that does not exist waits until the cluster grows',
  async ({ client, cluster }) => {
    const early = client.submit(t.fail, 'x', { workers: 'worker-2' });
    const behind = client.submit(t.inc, early);
    assert.equal(await client.submit(t.inc, 1).result(), 2);
    assert.equal(early.status, 'pending');
    await cluster.scale(3);
    assert.deepEqual(await runsOn([early, behind]), ['worker-2', 'worker-2']);
    assert.equal(cluster.size, 3);
  },
);

clusterTest(
  'tasks wait if no worker offers their resources, and other tasks run',
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
  'a task that exceeds its timeout is ended and fails, and its worker runs later tasks',
  async ({ client, folder }) => {
    const slow = client.submit(t.spin, folder, 'spin', { timeout: 0.2 });
    const error = await rejection(slow.result());
    assert.ok(error instanceof TaskError);
    assert.equal(error.code, 'ERR_LONGPOLE_TASK_TIMEOUT');
    assert.equal(error.key, slow.key);
    const asleep = client.submit(t.holdAsync, folder, 'asleep', 1, { timeout: 0.2 });
    const second = await rejection(asleep.result());
    assert.ok(second instanceof TaskError && second.code === 'ERR_LONGPOLE_TASK_TIMEOUT');
    assert.deepEqual(await client.gather(client.map(t.inc, [1, 2, 3], { timeout: 3600 })), [2, 3, 4]);
  },
);

sharedClusterTest('a task with retries runs again after a timeout', async ({ client, folder }) => {
  const file = join(folder, 'calls');
  // One retry is enough if the second attempt gets a core in time.
  const slowOnce = client.submit(t.slowOnce, file, { timeout: 0.3, retries: 50 });
  assert.ok((await slowOnce.result()) >= 2);
});

sharedClusterTest(
  'a signal that aborts before or during a task cancels the task, and not afterwards',
  async ({ client, folder }) => {
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
    // Both workers ran an endless loop before.
    assert.deepEqual(await client.gather(client.map(t.inc, [1, 2, 3, 4])), [2, 3, 4, 5]);

    const after = new AbortController();
    const future = client.submit(t.inc, 1, { signal: after.signal });
    assert.equal(await future.result(), 2);
    after.abort();
    assert.equal(future.status, 'finished');
    assert.equal(await client.compute(t.inc(2), { signal: after.signal }).catch(() => 'aborted'), 'aborted');
  },
);

sharedClusterTest(
  'tasks that wait for a running task do not begin after their signal has aborted',
  async ({ client, folder }) => {
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
    // Messages arrive in order, so a worker that answers has received the cancellation. The busy worker is ended.
    await client.run(() => 0).catch(() => undefined);
    open(folder, 'gate');
    open(folder, 'second');
    assert.equal(await held.result(), 0);
    await until('no task is unfinished', () => client.schedulerInfo().tasks.processing === 0);
    assert.ok(names.every((name) => !existsSync(name)));
  },
);

sharedClusterTest('the option `workers` accepts addresses', async ({ client }) => {
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

test('scatter to worker-10 sends nothing to worker-1', async () => {
  await using client = await connect({ workers: 11 }, { setAsDefault: false });
  const kept = await client.scatter(new Float64Array(20_000), { workers: 'worker-10' });
  const held = await client.run(({ worker }) => worker.memory.managed);
  assert.deepEqual(
    Object.keys(held).filter((name) => held[name]! > 0),
    ['worker-10'],
  );
  kept.release();
});
