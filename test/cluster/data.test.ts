// Values of arguments and results on the workers: copied, shared, scattered, transferred, spilled or refused.
import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { LongpoleError, TaskError } from 'longpole';
import { t } from './clusterTasks.js';
import { heldBytes } from './heldBytes.js';
import { clusterTest, rejection, sharedClusterTest, until } from './support.js';

/** Seconds by which times of other processes may be wrong on a busy machine. */
const CLOCKS = 60;

sharedClusterTest('values of every kind arrive unchanged as arguments and as results', async ({ client }) => {
  const values: readonly unknown[] = [
    0,
    -0,
    Number.NaN,
    true,
    '',
    'text',
    12n,
    null,
    undefined,
    [],
    [1, [2, [3]]],
    {},
    { a: { b: [null, undefined] } },
    new Map<unknown, unknown>([
      [{ k: 1 }, new Set([1, 'x'])],
      ['d', new Date(12)],
    ]),
    new Date(0),
    /x+/gi,
    new Uint8Array([1, 2, 3]),
    new Float64Array([1.5, Number.NaN]),
    new Uint8Array([1, 2, 3, 4]).subarray(1, 3),
    new DataView(new ArrayBuffer(4)),
    new ArrayBuffer(5),
    new Error('as a value'),
    Array.from({ length: 3000 }, (_, i) => `item ${i}`),
    { big: new Float64Array(3000).fill(1), map: new Map([['k', new Int32Array(2000)]]) },
  ];
  for (const value of values) {
    const future = client.submit(t.echo, value);
    assert.deepEqual(await future.result(), value);
    assert.deepEqual(await client.submit(t.echo, future).result(), value);
    assert.deepEqual(await client.submit(t.echo, [future, { deep: future }]).result(), [
      value,
      { deep: value },
    ]);
    assert.equal(future.status, 'finished');
  }
  assert.equal(await client.submit(t.nothing).result(), undefined);
  assert.equal(await client.submit(t.nil).result(), null);
  const nothing = client.submit(t.nothing);
  assert.deepEqual(await client.submit(t.echo, [nothing, nothing]).result(), [undefined, undefined]);
  assert.deepEqual(await client.submit(t.echo, [client.submit(t.nil)]).result(), [null]);
});

sharedClusterTest(
  'a result that contains a function is an error, and an instance of a class becomes a plain object',
  async ({ client }) => {
    for (const task of [t.fn(), t.holder()]) {
      const error = await rejection(client.compute(task));
      assert.ok(error instanceof TaskError);
      assert.equal(error.code, 'ERR_LONGPOLE_NOT_CLONEABLE');
    }
    assert.deepEqual({ ...(await client.compute(t.point())) }, { x: 1, y: 2 });
    assert.equal(await client.submit(t.inc, 1).result(), 2);
  },
);

sharedClusterTest('large arrays, strings and lists of objects arrive complete', async ({ client }) => {
  const objects = client.submit(t.objects, 200_000);
  assert.equal(await client.submit(t.lengthOf, objects).result(), 200_000);
  const fetched = await objects.result();
  assert.deepEqual(fetched[199_999], { id: 199_999, name: 'name 199999' });
  const text = client.submit((n: number) => 'ä'.repeat(n), 5_000_000);
  assert.equal((await text.result()).length, 5_000_000);
  const array = client.submit(t.zeros, 5_000_000, 3);
  const [first] = Object.keys(client.schedulerInfo().workers);
  assert.equal(await client.submit(t.total, array, { workers: first }).result(), 15_000_000);
  assert.equal((await array.result()).length, 5_000_000);
});

sharedClusterTest(
  'threads share results without a copy, and processes receive copies',
  async ({ client, processes }) => {
    const names = Object.keys(client.schedulerInfo().workers);
    const made = client.submit(t.zeros, 100_000, 1, { workers: names[0] });
    await made.wait();
    assert.equal(await client.submit(t.isShared, made, { workers: names[1] }).result(), true);
    assert.equal(await client.submit(t.mark, made, { workers: names[1] }).result(), 100_000);
    const there = await made.result();
    assert.equal(there[0], processes ? 1 : 4711);
    assert.equal(there.length, 100_000);
  },
);

sharedClusterTest('scatter warns of an array whose values become very many futures', async ({ client }) => {
  const warned = once(process, 'warning');
  await client.scatter(new Array(10_000).fill(1));
  const [{ name, code, message }] = await warned;
  assert.deepEqual([name, code], ['LongpoleWarning', 'LONGPOLE_MANY_VALUES']);
  assert.match(message, /an array with 10,000 values, and makes a future of each/);
  const [whole] = await client.scatter([new Array(10_000).fill(1)]);
  assert.equal(await client.submit(t.lengthOf, whole!), 10_000);
});

clusterTest('scatter keeps small and large values on all or on selected workers', async ({ client }) => {
  const names = Object.keys(client.schedulerInfo().workers);
  const small = await client.scatter({ a: 1 });
  assert.equal(small.status, 'finished');
  assert.deepEqual(await small.result(), { a: 1 });
  const large = await client.scatter(new Float64Array(50_000).fill(2));
  assert.equal(large.status, 'finished');
  assert.match(large.key, /^Float64Array-/);
  assert.equal(await client.submit(t.total, large).result(), 100_000);
  assert.equal((await large.result()).length, 50_000);
  const several = await client.scatter([1, 'x', new Float64Array(10_000), null, undefined]);
  assert.deepEqual(await client.gather(several), [1, 'x', new Float64Array(10_000), null, undefined]);
  assert.deepEqual(await client.scatter([]), []);
  const before = await client.run(({ worker }) => worker.memory.managed);
  const everywhere = await client.scatter(new Float64Array(100_000), { broadcast: true });
  const after = await client.run(({ worker }) => worker.memory.managed);
  for (const name of names) assert.ok(after[name]! - before[name]! >= 800_000, name);
  const there = await client.scatter(new Float64Array(200_000), { workers: [names[1]!] });
  const last = await client.run(({ worker }) => worker.memory.managed);
  assert.ok(last[names[1]!]! - after[names[1]!]! >= 1_600_000);
  assert.equal(last[names[0]!], after[names[0]!]);
  for (const future of [small, large, ...several, everywhere, there]) future.release();
  await until('no worker holds a result', async () => (await heldBytes(client)) === 0);
  const nowhere = await rejection(client.scatter(1, { workers: ['no-such-worker'] }));
  assert.ok(nowhere instanceof LongpoleError && nowhere.code === 'ERR_LONGPOLE_INVALID_ARGUMENT');
  await assert.rejects(client.scatter(() => 1));
});

sharedClusterTest(
  'scattered data is a copy: changes of the caller do not reach the cluster',
  async ({ client }) => {
    const values = new Float64Array(10_000).fill(1);
    const future = await client.scatter(values);
    values[0] = 100;
    assert.equal(await client.submit(t.total, future).result(), 10_000);
    const fetched = await future.result();
    assert.equal(fetched[0], 1);
  },
);

clusterTest(
  'the transfer logs of both workers contain the keys, sizes, times and peer of a transfer',
  async ({ client }) => {
    const before = Date.now() / 1000;
    const names = Object.keys(client.schedulerInfo().workers);
    const made = client.submit(t.zeros, 100_000, 1, { workers: names[0], key: 'made' });
    assert.equal(await client.submit(t.total, made, { workers: names[1] }).result(), 100_000);
    const workers = client.schedulerInfo().workers;
    await until('both logs contain the transfer', async () => {
      const logs = await client.run(({ worker }) => [worker.incomingTransferLog, worker.outgoingTransferLog]);
      return logs[names[1]!]![0]!.length > 0 && logs[names[0]!]![1]!.length > 0;
    });
    const incoming = await client.run(({ worker }) => worker.incomingTransferLog, { workers: [names[1]!] });
    const outgoing = await client.run(({ worker }) => worker.outgoingTransferLog, { workers: [names[0]!] });
    // The sender may log the end of the transfer after the receiver has the result.
    const after = Date.now() / 1000;
    for (const [entries, peer] of [
      [incoming[names[1]!]!, workers[names[0]!]!.address],
      [outgoing[names[0]!]!, workers[names[1]!]!.address],
    ] as const) {
      assert.equal(entries.length, 1);
      const [entry] = entries;
      assert.ok(entry !== undefined);
      assert.deepEqual(entry.keys, ['made']);
      assert.equal(entry.peer, peer);
      assert.ok(entry.total >= 800_000, String(entry.total));
      assert.ok(entry.compressed > 0 && entry.compressed <= entry.total + 1000);
      assert.ok(entry.start <= entry.stop);
      // The offset of a worker's clock is estimated, the worse the busier the machine.
      assert.ok(entry.start >= before - CLOCKS && entry.stop <= after + CLOCKS);
    }
  },
);

/** Length of an array, in numbers of 8 bytes. */
const PIECE = 500_000;
/** Returns the memory limit of a worker in bytes. A process needs 140 MB without any result. */
const limitOf = (processes: boolean): number => (processes ? 300e6 : 32e6);

clusterTest(
  'results of twice the memory limit are spilled and read back, and their files are removed',
  async ({ client, cluster, processes }) => {
    const count = Math.ceil((2 * limitOf(processes)) / (8 * PIECE));
    const pieces = Array.from({ length: count }, (_, i) => client.submit(t.zeros, PIECE, i));
    const totals = client.map(t.total, pieces);
    // All pieces exist before a task uses the first piece.
    await Promise.all(pieces.map((piece) => piece.wait()));
    const [info] = Object.values(await client.run(({ worker }) => worker));
    assert.ok(info !== undefined && info.memory.spilled > 0);
    assert.ok(readdirSync(info.localDirectory).some((name) => name.endsWith('.spill')));
    assert.deepEqual(
      await client.gather(totals),
      Array.from({ length: count }, (_, i) => i * PIECE),
    );
    const back = await pieces[7]!.result();
    assert.equal(back[PIECE - 1], 7);
    for (const future of [...pieces, ...totals]) future.release();
    await until('no worker holds a result', async () => (await heldBytes(client)) === 0);
    await until(
      'no spill file is left',
      () => !readdirSync(info.localDirectory).some((name) => name.endsWith('.spill')),
    );
    await cluster.close();
    assert.equal(existsSync(info.localDirectory), false);
  },
  (processes) => ({ workers: 1, memoryLimit: limitOf(processes) }),
);

/** Returns an object that only threads can copy. */
const secretKey = () => createSecretKey(new Uint8Array(8));

sharedClusterTest(
  'scatter refuses system objects, and shared memory if the workers are processes',
  async ({ client, processes }) => {
    const refuses = (value: unknown) =>
      assert.rejects(client.scatter([value]), { code: 'ERR_LONGPOLE_NOT_CLONEABLE' });
    await refuses(secretKey());
    for (const value of [new SharedArrayBuffer(8), { shared: new SharedArrayBuffer(8) }]) {
      if (processes) await refuses(value);
      else assert.equal((await client.scatter([value])).length, 1);
    }
    assert.equal(await client.submit(t.inc, 1).result(), 2);
  },
);

sharedClusterTest(
  'if the client makes a result uncloneable, only the tasks that use the result fail',
  async ({ client }) => {
    const spoilt = client.submit((at: number) => ({ at }), 1);
    Object.assign(await spoilt.result(), { fn: () => 1 });
    const large = client.submit(t.zeros, 200_000, 1);
    await large.wait();
    // More rounds than the number of batches that a worker may hold.
    for (let round = 0; round < 5; round++) {
      const futures = [
        client.submit(t.echo, spoilt),
        // These tasks also need a result of another worker.
        ...client.cluster.workers.map((workers) => client.submit(t.echo, [large, spoilt], { workers })),
      ];
      for (const future of futures)
        await assert.rejects(future.result(), { name: 'TaskError', code: 'ERR_LONGPOLE_NOT_CLONEABLE' });
    }
    const both = client.map(t.echo, [spoilt, 2]);
    await rejection(both[0]!.result());
    assert.equal(await both[1]!.result(), 2);
  },
);

sharedClusterTest(
  'an argument whose size cannot be measured fails its task, and the worker runs later tasks',
  async ({ client }) => {
    class Broken {
      get nbytes(): number {
        throw new RangeError('no size');
      }
    }
    client.observe({ transfer: () => undefined });
    for (let round = 0; round < 5; round++) {
      const bad = client.submit(t.echo, new Broken());
      await assert.rejects(bad.result(), {
        name: 'TaskError',
        code: 'ERR_LONGPOLE_NOT_CLONEABLE',
        message: /Task 'echo-.* no size/,
      });
    }
    assert.equal(await client.submit(t.inc, 1).result(), 2);
  },
  { workers: 1 },
);

sharedClusterTest(
  'a result that a process cannot send fails its task, and the process runs later tasks',
  async ({ client, processes }) => {
    let removed = 0;
    client.observe({ workerRemoved: () => removed++ });
    const refused = { name: 'TaskError', code: 'ERR_LONGPOLE_NOT_CLONEABLE' };
    const bare = client.submit(() => new SharedArrayBuffer(8));
    const nested = client.map(
      (i: number) => (i === 1 ? { shared: new SharedArrayBuffer(8) } : { i }),
      [0, 1, 2],
    );
    for (const future of [bare, nested[1]!]) {
      if (processes) await assert.rejects(future.result(), refused);
      else await future.result();
    }
    assert.deepEqual(await client.gather([nested[0]!, nested[2]!]), [{ i: 0 }, { i: 2 }]);
    for (const fn of [
      () => ({ shared: new SharedArrayBuffer(8) }),
      () => [process.getBuiltinModule('node:crypto').createSecretKey(new Uint8Array(8))],
    ]) {
      if (processes) await assert.rejects(client.run<unknown>(fn), { code: 'ERR_LONGPOLE_NOT_CLONEABLE' });
      else await client.run<unknown>(fn);
    }
    assert.equal(await client.submit(t.inc, 1).result(), 2);
    assert.equal(removed, 0);
  },
);
