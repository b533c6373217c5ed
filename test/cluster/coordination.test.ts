// Locks and semaphores that the main program and tasks share.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Client, connect, Event, Lock, Queue, Semaphore, Variable } from 'longpole';
import { c } from './coordinationTasks.js';
import { codeOf, unused, waiting } from './sharedObjects.js';
import { clusterTest, kill, rejection, sharedClusterTest, textOf, until } from './support.js';

sharedClusterTest('a lock has one holder at a time', async ({ client, cluster, folder }) => {
  const file = join(folder, 'lines');
  const names = Array.from({ length: 8 }, (_, index) => `task ${index}`);
  await client.gather(names.map((name) => client.submit(c.twoLines, file, name)));
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const inside = lines.filter((_, index) => index % 2 === 0).map((line) => line.replace(' in', ''));
  assert.deepEqual(
    lines,
    inside.flatMap((name) => [`${name} in`, `${name} out`]),
  );
  assert.deepEqual([...inside].sort(), names);
  await unused(cluster);
});

sharedClusterTest('the main program and a task share a lock', async ({ client }) => {
  const lock = new Lock('lock', { client });
  assert.equal(await lock.acquire(), true);
  assert.deepEqual(await client.submit(c.tryLock).result(), { acquired: false, locked: true });
  await lock.release();
  assert.equal(await lock.locked(), false);
  assert.deepEqual(await client.submit(c.tryLock).result(), { acquired: true, locked: true });
});

function sharedMetrics({ trace }: Client): Map<string, number> {
  return new Map(
    trace.totals.metrics
      .filter(({ context }) => context === 'shared')
      .map(({ prefix, activity, unit, value }) => [[prefix, activity, unit].join(), value]),
  );
}

const WAIT = "waitForLock,wait for Lock 'lock',seconds";
const CONTENDED = ",contended Lock 'lock',seconds";

/** Checks that waitForLock has waited for the lock, and tryLock has not. */
function assertWaited(client: Client): void {
  const metrics = sharedMetrics(client);
  assert.ok(metrics.get(WAIT)! > 0 && metrics.get(CONTENDED)! >= metrics.get(WAIT)!);
  assert.ok([...metrics.keys()].every((metric) => !metric.startsWith('tryLock')));
}

sharedClusterTest(
  'a trace has the time in which tasks waited for a lock, and none for calls that did not wait',
  async ({ client, cluster, folder }) => {
    const lock = new Lock('lock', { client });
    await lock.acquire();
    await client.submit(c.tryLock).result();
    const waits = client.submit(c.waitForLock, join(folder, 'waits'));
    await waiting(cluster, 'Lock.acquire');
    await lock.release();
    await waits.result();
    await until('the trace has both times', () =>
      [WAIT, CONTENDED].every((metric) => sharedMetrics(client).has(metric)),
    );
    assertWaited(client);
  },
);

sharedClusterTest(
  'a trace has the time in which tasks waited for events, queues and variables, by name',
  async ({ client, cluster }) => {
    const calls = [client.submit(c.waitForEvent), client.submit(c.consume, 1), client.submit(c.getValue)];
    for (const call of ['Event.wait', 'Queue.get', 'Variable.get']) await waiting(cluster, call);
    const [event, value] = [new Event('event', { client }), new Variable('value', { client })];
    await event.set();
    await new Queue<number>('queue', { client, maxSize: 2 }).put(1);
    await value.set(1);
    await client.gather(calls);
    await event.clear();
    await value.delete();
    await unused(cluster);
    const expected = [
      "consume,wait for Queue 'queue',seconds",
      "getValue,wait for Variable 'value',seconds",
      "waitForEvent,wait for Event 'event',seconds",
    ];
    await until('the trace has the times', () =>
      expected.every((metric) => sharedMetrics(client).get(metric)! > 0),
    );
    // Only leases are limits.
    assert.ok(![...sharedMetrics(client).keys()].some((metric) => /contended [^LS]/.test(metric)));
  },
);

sharedClusterTest(
  'a trace has the number and time of calls of tasks that are answered at once, by name of the object',
  async ({ client }) => {
    const lock = new Lock('lock', { client });
    await lock.acquire();
    await client.submit(c.tryLock, { key: 'calls' }).result();
    await lock.release();
    const of = (unit: string): number | undefined =>
      client.trace.totals.metrics.find(
        (one) => one.prefix === 'calls' && one.activity === "call Lock 'lock'" && one.unit === unit,
      )?.value;
    await until('the trace has the calls', () => of('count')! > 0 && of('milliseconds')! > 0);
  },
);

clusterTest(
  'a trace has the time in which a task waited for a lock until its cluster closed',
  async ({ client, cluster, folder }) => {
    await new Lock('lock', { client }).acquire();
    const waits = client.submit(c.waitForLock, join(folder, 'waits'));
    await waiting(cluster, 'Lock.acquire');
    const ended = rejection(waits.result());
    await cluster.close();
    await ended;
    assertWaited(client);
  },
);

sharedClusterTest('waiting calls get a lock in their order', async ({ client }) => {
  const order: number[] = [];
  const lock = new Lock('ordered', { client });
  await lock.acquire();
  const calls = Array.from({ length: 20 }, (_, index) => lock.withLock(() => order.push(index)));
  await lock.release();
  await Promise.all(calls);
  assert.deepEqual(order, [...calls.keys()]);
});

for (const how of ['return', 'throw'] as const)
  sharedClusterTest(`a lock is free after its task has ended: ${how}`, async ({ client, cluster }) => {
    await client.submit(c.leaveLocked, how).wait();
    const lock = new Lock('lock', { client });
    assert.equal(await lock.acquire(), true);
    await lock.release();
    await unused(cluster);
  });

sharedClusterTest(
  'a task gets the lock that the task before it on its thread has left',
  async ({ client }) => {
    const [left, inside] = [client.submit(c.leaveLocked, 'return'), client.submit(c.leaveLocked, 'return')];
    assert.deepEqual(await client.gather([left, inside]), ['return', 'return']);
  },
  { workers: 1 },
);

sharedClusterTest(
  'a task that waits leaves its slot to the task that ends the wait',
  async ({ client }) => {
    const first = client.submit(c.waitForEvent);
    const second = client.submit(c.setEvent);
    assert.deepEqual(await client.gather([first, second]), [true, undefined]);
  },
  { workers: 1 },
);

sharedClusterTest('a lock is free after the death of its worker', async (setting) => {
  const { client } = setting;
  const lock = new Lock('lock', { client });
  const future = client.submit(c.keepLock, { workers: 'worker-0' });
  await until('the task has the lock', () => lock.locked());
  const acquired = lock.acquire();
  await kill(setting, 'worker-0');
  assert.equal(await acquired, true);
  future.cancel();
  await lock.release();
});

sharedClusterTest('a cancelled task keeps its lock until its code has ended', async ({ client, cluster }) => {
  const lock = new Lock('lock', { client });
  const future = client.submit(c.keepLock);
  await until('the task has the lock', () => lock.locked());
  future.cancel();
  assert.equal(await lock.locked(), true);
  assert.equal(await lock.acquire(), true);
  await lock.release();
  await unused(cluster);
});

sharedClusterTest('a cancelled task waits no longer', async ({ client, cluster, folder }) => {
  const file = join(folder, 'code');
  const lock = new Lock('lock', { client });
  await lock.acquire();
  const future = client.submit(c.waitForLock, file);
  await waiting(cluster, 'Lock.acquire');
  future.cancel();
  assert.equal(await textOf(file), 'ERR_LONGPOLE_FUTURE');
  await lock.release();
  await unused(cluster);
});

sharedClusterTest('a dead task waits no longer', async (setting) => {
  const { client, cluster, folder } = setting;
  const lock = new Lock('lock', { client });
  await lock.acquire();
  const file = join(folder, 'code');
  const future = client.submit(c.waitForLock, file, { workers: 'worker-0' });
  await waiting(cluster, 'Lock.acquire');
  await kill(setting, 'worker-0');
  await until('the task runs again', () => readFileSync(`${file}.begun`, 'utf8') === 'xx');
  await waiting(cluster, 'Lock.acquire');
  future.cancel();
  // The task writes this file into the folder, which the end of the test removes.
  assert.equal(await textOf(file), 'ERR_LONGPOLE_FUTURE');
  await lock.release();
  await unused(cluster);
});

sharedClusterTest('a call ends at its time limit', async ({ client, cluster }) => {
  const lock = new Lock('limited', { client });
  await lock.acquire();
  assert.equal(await lock.acquire({ timeout: 0.01 }), false);
  assert.equal(await lock.acquire({ timeout: 0 }), false);
  const error = await rejection(lock.withLock(() => 1, { timeout: 0.01 }));
  assert.equal(codeOf(error), 'ERR_LONGPOLE_TIMEOUT');
  assert.match(String(error), /Lock 'limited' was not free within 0\.01 s/);
  await lock.release();
  assert.equal(await lock.withLock(() => 1, { timeout: 0.01 }), 1);
  await unused(cluster);
});

sharedClusterTest('only the holder of a lease can release it', async ({ client }) => {
  const lock = new Lock('lock', { client });
  await lock.acquire();
  assert.equal(codeOf(await rejection(client.submit(c.releaseLock).result())), 'ERR_LONGPOLE_NOT_ACQUIRED');
  assert.equal(await lock.locked(), true);
  await lock.release();
  assert.equal(codeOf(await rejection(lock.release())), 'ERR_LONGPOLE_NOT_ACQUIRED');
});

sharedClusterTest('a semaphore has at most max leases', async ({ client, cluster }) => {
  const pool = new Semaphore('pool', { client, max: 2 });
  const counts = await client.gather(Array.from({ length: 12 }, () => client.submit(c.usePool)));
  for (const count of counts) assert.ok(count === 1 || count === 2, `${count} leases in use`);
  assert.equal(await pool.acquire(), true);
  assert.equal(await pool.acquire(), true);
  assert.equal(await pool.getValue(), 2);
  assert.equal(await pool.acquire({ timeout: 0 }), false);
  const error = await rejection(client.submit(c.poolOf, 3).result());
  assert.equal(codeOf(error), 'ERR_LONGPOLE_INVALID_ARGUMENT');
  assert.match(String(error), /Semaphore 'pool' is in use with max: 2, and this call expects max: 3/);
  await pool.release();
  await pool.release();
  assert.equal(await client.submit(c.poolOf, 3).result(), true);
  await unused(cluster);
});

sharedClusterTest(
  'a client that closes releases its locks and ends its waits',
  async ({ client, cluster }) => {
    const other = await connect(cluster, { setAsDefault: false });
    const [mine, its] = [new Lock('closed', { client }), new Lock('closed', { client: other })];
    await its.acquire();
    const acquired = mine.acquire();
    const pending = rejection(its.acquire());
    await other.close();
    assert.equal(await acquired, true);
    assert.equal(codeOf(await pending), 'ERR_LONGPOLE_CLOSED');
    assert.equal(codeOf(await rejection(its.release())), 'ERR_LONGPOLE_CLOSED');
    await mine.release();
    await unused(cluster);
  },
);

clusterTest('a cluster that closes ends all waits', async ({ client, cluster, folder }) => {
  const file = join(folder, 'code');
  const lock = new Lock('lock', { client });
  await lock.acquire();
  const future = client.submit(c.waitForLock, file);
  const ended = rejection(future.result());
  const pending = rejection(lock.acquire());
  await waiting(cluster, 'Lock.acquire', 2);
  await cluster.close();
  assert.equal(codeOf(await pending), 'ERR_LONGPOLE_CLOSED');
  assert.equal(codeOf(await ended), 'ERR_LONGPOLE_CLOSED');
  assert.equal(codeOf(await rejection(lock.acquire())), 'ERR_LONGPOLE_CLOSED');
});

sharedClusterTest('a shared object is no argument of a task', async ({ client }) => {
  const error = await rejection(client.submit((lock: Lock) => lock.locked(), new Lock('x')).result());
  assert.equal(codeOf(error), 'ERR_LONGPOLE_NOT_CLONEABLE');
  assert.match(String(error), /A Lock is not copied\. Create it in the task/);
});

test('a shared object uses the most recently connected client, and needs one', async () => {
  const lock = new Lock('x');
  const error = await rejection(lock.acquire());
  assert.equal(codeOf(error), 'ERR_LONGPOLE_NO_CLIENT');
  assert.match(String(error), /or call `await connect\(\)` first/);
  await using client = await connect({ workers: 1 });
  assert.equal(await lock.acquire(), true);
  assert.equal(await new Lock('x', { client }).locked(), true);
});

sharedClusterTest(
  'withLock throws the error of its function, also if the function has released the lock',
  async ({ client }) => {
    const lock = new Lock('released', { client });
    const error = new Error('of the function');
    const failed = lock.withLock(async () => {
      await lock.release();
      throw error;
    });
    assert.equal(await rejection(failed), error);
  },
);
