// Events, variables and queues that the main program and tasks share.
import assert from 'node:assert/strict';
import { Event, Queue, Variable } from 'longpole';
import { c } from './coordinationTasks.js';
import { codeOf, unused, waiting } from './sharedObjects.js';
import { clusterTest, kill, rejection, sharedClusterTest, until } from './support.js';

sharedClusterTest('an event lets tasks and the main program continue', async ({ client, cluster }) => {
  const event = new Event('event', { client });
  assert.equal(await event.wait({ timeout: 0.01 }), false);
  assert.equal(await client.submit(c.waitForEvent, 0.01).result(), false);
  const futures = Array.from({ length: 3 }, () => client.submit(c.waitForEvent));
  const own = event.wait();
  await waiting(cluster, 'Event.wait', 4);
  await event.set();
  assert.deepEqual(await client.gather(futures), [true, true, true]);
  assert.equal(await own, true);
  assert.equal(await event.isSet(), true);
  assert.equal(await event.wait({ timeout: 0 }), true);
  await event.clear();
  assert.equal(await event.isSet(), false);
  await unused(cluster);
});

sharedClusterTest('a variable passes values between tasks and the main program', async (setting) => {
  const { client, cluster } = setting;
  const variable = new Variable('value', { client });
  const error = await rejection(variable.get({ timeout: 0 }));
  assert.equal(codeOf(error), 'ERR_LONGPOLE_TIMEOUT');
  assert.match(String(error), /Variable 'value' had no value within 0 s/);
  const early = client.submit(c.getValue);
  await waiting(cluster, 'Variable.get');
  const large = new Float64Array(20_000).fill(7);
  for (const value of [1, undefined, { a: [new Date(0), new Set([1])] }, large]) {
    await variable.set(value);
    assert.deepEqual(await client.submit(c.getValue).result(), value);
    await client.submit(c.setValue, value);
    assert.deepEqual(await variable.get(), value);
  }
  assert.equal(await early.result(), 1);
  for (const call of [() => client.submit(c.setNothing).result(), () => variable.set(() => 1)]) {
    const refused = await rejection(call());
    assert.equal(codeOf(refused), 'ERR_LONGPOLE_NOT_CLONEABLE');
    assert.match(
      String(refused),
      /Variable\.set\(\) of 'value': the value cannot be copied: \(\) => 1 could not/,
    );
  }
  await variable.delete();
  assert.equal(codeOf(await rejection(variable.get({ timeout: 0 }))), 'ERR_LONGPOLE_TIMEOUT');
  await unused(cluster);
});

sharedClusterTest('a queue passes items in their order, and waits while it is full', async (setting) => {
  const { client, cluster } = setting;
  const queue = new Queue<number>('queue', { client, maxSize: 2 });
  const producer = client.submit(c.produce, 10);
  await waiting(cluster, 'Queue.put');
  assert.equal(await queue.qsize(), 2);
  assert.equal(codeOf(await rejection(queue.put(11, { timeout: 0 }))), 'ERR_LONGPOLE_TIMEOUT');
  assert.deepEqual(await client.submit(c.consume, 4).result(), [0, 1, 2, 3]);
  assert.deepEqual(await queue.get({ batch: 4 }), [4, 5, 6, 7]);
  await producer;
  assert.deepEqual(await queue.get({ batch: true }), [8, 9]);
  assert.deepEqual(await queue.get({ batch: true }), []);
  assert.equal(codeOf(await rejection(queue.get({ timeout: 0.01 }))), 'ERR_LONGPOLE_TIMEOUT');
  await unused(cluster);
});

clusterTest('items of a call that ends before its answer return to the queue', async (setting) => {
  const { client, cluster } = setting;
  const queue = new Queue<number>('queue', { client });
  for (const end of ['timeout', 'cancel', 'kill']) {
    await queue.put(1);
    await queue.put(2);
    if (end === 'timeout') {
      assert.equal(codeOf(await rejection(queue.get({ batch: 3, timeout: 0.01 }))), 'ERR_LONGPOLE_TIMEOUT');
    } else {
      const future = client.submit(c.takeBatch, 3, { workers: 'worker-0' });
      await until('the call has taken items', async () => (await queue.qsize()) === 0);
      if (end === 'kill') await kill(setting, 'worker-0');
      future.cancel();
    }
    await until('the items are back', async () => (await queue.qsize()) === 2);
    assert.deepEqual(await queue.get({ batch: 2 }), [1, 2]);
    await unused(cluster);
  }
});
