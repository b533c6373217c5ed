// Questions of running tasks to the scheduler's process.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { type LocalCluster, TaskError } from 'longpole';
import { getThreaded } from 'longpole/local';
import { askCluster, leaveQuestion, noteEnd } from './questionTasks.js';
import { kill, rejection, sharedClusterTest, textOf, until } from './support.js';

sharedClusterTest(
  'a task asks the scheduler and receives the answer',
  async ({ client, cluster, processes }) => {
    const futures = client.map(askCluster, [1, 2, 3, 4]);
    for (const answer of await client.gather(futures))
      assert.deepEqual(answer, { text: String(cluster), threads: !processes });
  },
);

sharedClusterTest('an error of a handler reaches the task with its code', async ({ client, cluster }) => {
  cluster.engine.questions.handle('cluster', () => {
    throw Object.assign(new RangeError('too far'), { code: 'FAR' });
  });
  const error = await rejection(client.submit(askCluster).result());
  assert.ok(error instanceof TaskError && error.cause instanceof RangeError);
  assert.deepEqual([error.cause.message, Reflect.get(error.cause, 'code')], ['too far', 'FAR']);
});

sharedClusterTest('a question ends when its task is cancelled', async ({ client, cluster, folder }) => {
  const file = join(folder, 'code');
  const signals = neverAnswered(cluster);
  const future = client.submit(noteEnd, file);
  await until('the task asks', () => signals.length === 1);
  assert.equal(signals[0]!.aborted, false);
  future.cancel();
  assert.equal(await textOf(file), 'ERR_LONGPOLE_FUTURE');
  assert.equal(signals[0]!.reason.how, 'cancelled');
});

sharedClusterTest('a question ends with its worker, and the task asks again', async (setting) => {
  const { client, cluster } = setting;
  const signals = neverAnswered(cluster);
  const future = client.submit(askCluster, { workers: 'worker-0' });
  await until('the task asks', () => signals.length === 1);
  await kill(setting, 'worker-0');
  await until('the task asks again', () => signals.length === 2);
  assert.equal(signals[0]!.reason.how, 'lost');
  assert.equal(signals[1]!.aborted, false);
  future.cancel();
});

sharedClusterTest(
  'code that asks after the end of its task receives an error',
  async ({ client, folder }) => {
    const file = join(folder, 'code');
    await client.submit(leaveQuestion, file);
    assert.equal(await textOf(file), 'ERR_LONGPOLE_CLOSED');
  },
);

test('a task of a local scheduler cannot ask', async () => {
  const error = await rejection(getThreaded({ a: [askCluster] }, 'a'));
  assert.ok(error instanceof TaskError);
  assert.match(String(error.cause), /does not run in a task of a cluster/);
});

/** Leaves questions without an answer. Returns the signals of the tasks that ask. */
function neverAnswered(cluster: LocalCluster): AbortSignal[] {
  const signals: AbortSignal[] = [];
  cluster.engine.questions.handle('cluster', (_question, { ended }) => {
    signals.push(ended);
    return new Promise(() => undefined);
  });
  return signals;
}
