// Futures in variables and queues. The cluster keeps their results as long as an object or a caller has them.
import assert from 'node:assert/strict';
import { Future, type LocalCluster, Queue, Variable } from 'longpole';
import { t } from './clusterTasks.js';
import { c } from './coordinationTasks.js';
import { codeOf } from './sharedObjects.js';
import { rejection, sharedClusterTest, until } from './support.js';

/** Waits until the cluster keeps no result. */
function nothingKept({ engine }: LocalCluster): Promise<void> {
  return until('the cluster keeps no result', () => [...engine.computations].length === 0);
}

/** Returns the result of a future, and releases the future. */
async function resultOf<T>(future: Future<T>): Promise<T> {
  using held = future;
  return await held.result();
}

sharedClusterTest('a variable keeps the result of its future', async ({ client, cluster }) => {
  const variable = new Variable<Future<Float64Array>>('future', { client });
  const first = client.submit(t.zeros, 1000, 1);
  await variable.set(first);
  first.release();
  const [received, again] = [await variable.get(), await variable.get()];
  assert.ok(received instanceof Future);
  assert.equal(received.key, first.key);
  assert.equal((await resultOf(received))[0], 1);
  const second = client.submit(t.zeros, 1000, 2);
  await variable.set(second);
  second.release();
  assert.equal((await resultOf(again))[0], 1);
  assert.equal((await resultOf(await variable.get()))[0], 2);
  await variable.delete();
  await nothingKept(cluster);
});

sharedClusterTest('a queue passes futures from the main program to tasks', async ({ client, cluster }) => {
  const queue = new Queue<Future<Float64Array>>('futures', { client });
  const sums = [client.submit(c.sumOfFuture), client.submit(c.sumOfFuture)];
  for (const value of [1, 2]) {
    const future = client.submit(t.zeros, 1000, value);
    await queue.put(future);
    future.release();
  }
  assert.deepEqual((await Promise.all(sums.map(resultOf))).sort(), [1000, 2000]);
  await nothingKept(cluster);
});

sharedClusterTest('a queue keeps the result of a task that has ended', async ({ client, cluster }) => {
  const queue = new Queue<Future<Float64Array>>('futures', { client });
  await resultOf(client.submit(c.putFuture));
  assert.equal((await resultOf(await queue.get()))[0], 4);
  await resultOf(client.submit(c.putFuture));
  assert.match(await resultOf(client.submit(c.takeFuture)), /^zeros-/);
  await nothingKept(cluster);
});

sharedClusterTest('a future without a result cannot be shared', async ({ client }) => {
  const queue = new Queue<unknown>('futures', { client });
  const future = client.submit(t.inc, 1);
  future.cancel();
  assert.equal(codeOf(await rejection(queue.put(future))), 'ERR_LONGPOLE_FUTURE');
  const released = client.submit(t.inc, 1);
  released.release();
  assert.equal(codeOf(await rejection(queue.put(released))), 'ERR_LONGPOLE_FUTURE');
  assert.equal(codeOf(await rejection(queue.put([client.submit(t.inc, 1)]))), 'ERR_LONGPOLE_NOT_CLONEABLE');
  assert.equal(await queue.qsize(), 0);
});
