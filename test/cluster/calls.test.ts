// Calls of Dask's client that do not start tasks: waiting for several futures, showing their progress, annotating tasks.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  annotate,
  asCompleted,
  compute,
  connect,
  delayed,
  Future,
  LongpoleError,
  progress,
  wait,
} from 'longpole';
import { t } from './clusterTasks.js';
import { open, rejection, sharedClusterTest, started } from './support.js';

sharedClusterTest('a future is awaitable', async ({ client }) => {
  assert.equal(await client.submit(t.inc, 1), 2);
  assert.deepEqual(await Promise.all(client.map(t.inc, [1, 2, 3])), [2, 3, 4]);
  const error = await client.submit(t.fail, 'no').catch((reason: unknown) => reason);
  assert.match(String(error), /no/);
  let ended = false;
  const value = await client.submit(t.inc, 2).finally(() => {
    ended = true;
  });
  assert.deepEqual([value, ended], [3, true]);
});

sharedClusterTest('scatter of one value returns a future', async ({ client }) => {
  const scattered = await client.scatter({ a: 1 });
  assert.ok(scattered instanceof Future);
  assert.deepEqual(await scattered.result(), { a: 1 });
  const handedOn = await (async () => client.scatter(5))();
  assert.equal(await client.submit(t.inc, handedOn), 6);
  const [first] = await client.scatter([7]);
  assert.equal(await first, 7);
});

sharedClusterTest('asCompleted yields futures in the order in which they end', async ({ client, folder }) => {
  const held = client.submit(t.hold, folder, 'gate', 1);
  await started(folder, 'gate');
  const quick = client.submit(t.inc, 1);
  const ended = asCompleted([held, quick]);
  assert.equal(ended.count, 2);
  const order: number[] = [];
  for await (const future of ended) {
    assert.ok(future instanceof Future);
    order.push(await future);
    if (future === quick) ended.add(client.submit(t.inc, 10));
    if (order.length === 2) open(folder, 'gate');
  }
  assert.deepEqual(order, [2, 11, 1]);
  assert.equal(ended.count, 0);
});

sharedClusterTest('asCompleted answers several calls of next() at once', async ({ client, folder }) => {
  const futures = ['a', 'b'].map((gate) => client.submit(t.hold, folder, gate, 1));
  const ended = asCompleted(futures);
  const steps = Promise.all([ended.next(), ended.next(), ended.next()]);
  open(folder, 'a');
  open(folder, 'b');
  const [first, second, third] = await steps;
  assert.deepEqual(new Set([first.value, second.value]), new Set(futures));
  assert.deepEqual(third, { done: true, value: undefined });
});

sharedClusterTest('asCompleted yields results, batches and failed futures', async ({ client }) => {
  const results = new Map<string, number>();
  const futures = client.map(t.inc, [1, 2, 3]);
  for await (const [future, result] of asCompleted(futures, { withResults: true }))
    results.set(future.key, result);
  assert.deepEqual(
    futures.map(({ key }) => results.get(key)),
    [2, 3, 4],
  );
  await wait(futures);
  const batches: Future<number>[][] = [];
  for await (const batch of asCompleted(futures, { batches: true })) batches.push(batch);
  assert.deepEqual(new Set(batches.flat()), new Set(futures));
  const failed = client.submit(t.fail, 'no');
  for await (const future of asCompleted([failed])) assert.equal(future.status, 'error');
  const withResults = asCompleted([failed], { withResults: true });
  assert.match(String(await rejection(withResults.next())), /no/);
});

sharedClusterTest('wait returns the futures that have ended and the others', async ({ client, folder }) => {
  const held = client.submit(t.hold, folder, 'gate', 1);
  const failed = client.submit(t.fail, 'no');
  assert.deepEqual(await wait([held, failed], { returnWhen: 'first' }), { done: [failed], notDone: [held] });
  assert.deepEqual(await wait([held, failed], { timeout: 0 }), { done: [failed], notDone: [held] });
  // These limits are longer than the longest timer of Node.
  const patient = [2 ** 31, Number.POSITIVE_INFINITY].map((timeout) => wait([held], { timeout }));
  assert.equal(await client.submit(t.inc, 1), 2);
  open(folder, 'gate');
  assert.deepEqual(await wait([held, failed]), { done: [held, failed], notDone: [] });
  for (const waited of patient) assert.deepEqual(await waited, { done: [held], notDone: [] });
  assert.deepEqual(await wait([], { returnWhen: 'first' }), { done: [], notDone: [] });
});

sharedClusterTest(
  'progress prints the share of ended futures, and resolves when all futures have ended',
  async ({ client }) => {
    const lines: string[] = [];
    const out = { write: (text: string) => lines.push(text) };
    await progress(client.map(t.inc, [1, 2, 3]), { out });
    // A run of more than five seconds has more lines.
    assert.match(lines.at(-1) ?? '', /^\[#{40}\] \| 100% Completed \| .* s\n$/);
    await progress(client.submit(t.fail, 'no'), { out });
  },
);

const inc = delayed((x: number) => x + 1);
const add = delayed((a: number, b: number) => a + b);

sharedClusterTest(
  'annotate sets options of the tasks that its function creates',
  async ({ client, cluster }) => {
    const [first = '', second = ''] = cluster.workers;
    const there = annotate({ workers: second }, () => inc(1));
    const here = annotate({ workers: first }, () => add(there, 1));
    const total = add(here, there);
    assert.equal(await client.compute(total), 5);
    const ran = new Map(client.getTaskStream().map(({ key, worker }) => [key, worker]));
    assert.deepEqual([ran.get(there.key), ran.get(here.key)], [second, first]);
    const persisted = client.persist(here);
    assert.equal(await persisted, 3);

    const submitted = await annotate({ workers: first, retries: 1 }, async () => {
      await Promise.resolve();
      return [client.submit(t.inc, 1), client.submit(t.inc, 2, { workers: second })];
    });
    await wait(submitted);
    const later = new Map(client.getTaskStream().map(({ key, worker }) => [key, worker]));
    assert.deepEqual(
      submitted.map(({ key }) => later.get(key)),
      [first, second],
    );
    const error = await rejection(compute(there, { scheduler: 'sync' }));
    assert.ok(error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_INVALID_ARGUMENT');
  },
);

sharedClusterTest(
  'the visualize method of a Delayed draws its graph without running it',
  async ({ folder }) => {
    const one = inc(1);
    const path = add(one, inc(one)).visualize({ filename: join(folder, 'graph.svg') });
    const image = readFileSync(path, 'utf8');
    assert.equal(image.split('class="box"').length - 1, 3);
    assert.equal(image.split('class="edge"').length - 1, 3);
  },
);

sharedClusterTest(
  'a function of client.run() runs during a long task although another cluster has a worker of the same name',
  async ({ client, folder, processes }) => {
    await using other = await connect({ workers: 1, processes }, { setAsDefault: false });
    assert.equal(await other.submit(t.inc, 1).result(), 2);
    const held = client.submit(t.hold, folder, 'gate', 1, { workers: 'worker-0' });
    await started(folder, 'gate');
    assert.deepEqual(await client.run(() => 'here', { workers: 'worker-0' }), { 'worker-0': 'here' });
    open(folder, 'gate');
    assert.equal(await held.result(), 1);
  },
);

sharedClusterTest(
  'a function of client.run() is called once on a worker that is named twice',
  async ({ client }) => {
    const [[name, { address }] = ['', { address: '' }]] = Object.entries(client.schedulerInfo().workers);
    const calls = await client.run(
      () => {
        const counter: typeof globalThis & { callsOfRun?: number } = globalThis;
        counter.callsOfRun = (counter.callsOfRun ?? 0) + 1;
        return counter.callsOfRun;
      },
      { workers: [name, address, name] },
    );
    assert.deepEqual(calls, { [name]: 1 });
  },
);
