// Tasks that leave the slot of their thread with `secede()`.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { KilledWorkerError, secede, TaskError } from 'longpole';
import { getThreaded } from 'longpole/local';
import { t } from './clusterTasks.js';
import { leave, leaveAndExit, leaveAndFail, leaveLate, leaveSync, outlive } from './secedeTasks.js';
import { clusterTest, kill, open, rejection, sharedClusterTest, started, until } from './support.js';

const ONE = { workers: 1 };

sharedClusterTest(
  'other tasks run while a seceded task waits',
  async ({ client, folder }) => {
    const early = client.submit(leave, folder, 'early', 1);
    const late = client.submit(leaveLate, folder, 'late', 2);
    await started(folder, 'early');
    await started(folder, 'late');
    assert.deepEqual(await client.gather(client.map(t.inc, [1, 2, 3])), [2, 3, 4]);
    assert.equal(await client.submit(t.asyncAdd, 1, 2), 3);
    assert.deepEqual(client.processing()['worker-0']?.sort(), [early.key, late.key].sort());
    open(folder, 'late');
    assert.equal(await late, 2);
    assert.equal(early.status, 'pending');
    // The slot is in use when the task ends.
    const holder = client.submit(t.holdAsync, folder, 'holder', 3);
    await started(folder, 'holder');
    open(folder, 'early');
    assert.equal(await early, 1);
    assert.equal(holder.status, 'pending');
    open(folder, 'holder');
    assert.equal(await holder, 3);
    assert.equal(await client.submit(leaveSync, 4), 4);
  },
  ONE,
);

sharedClusterTest(
  'dependents wait for a seceded task, also those that were sent with it',
  async ({ client, folder }) => {
    // Measured functions travel together with their dependents.
    await client.compute(t.inc(t.inc(1)));
    const result = client.persist(t.add(t.inc(leave(folder, 'first', 1)), t.inc(t.inc(10))));
    const large = client.persist(t.total(t.plus(t.zeros(1000, 1), leave(folder, 'second', 2))));
    await started(folder, 'first');
    await started(folder, 'second');
    open(folder, 'second');
    assert.equal(await large, 3000);
    open(folder, 'first');
    assert.equal(await result, 14);
  },
  ONE,
);

clusterTest(
  'errors, retries and metrics of a seceded task are reported',
  async ({ client, folder }) => {
    open(folder, 'open');
    const error = await rejection(client.submit(leaveAndFail, folder, 'open', 1).result());
    assert.ok(error instanceof TaskError && error.cause instanceof RangeError);
    assert.equal(error.cause.message, 'call 1');
    assert.equal(await client.submit(leaveAndFail, folder, 'open', 3, { retries: 2 }), 4);
    await client.submit(leaveLate, folder, 'open', 100);
    const reported = (): Promise<Map<string, number>> =>
      client.runOnScheduler(
        ({ scheduler }) =>
          new Map(Array.from(scheduler.cumulativeWorkerMetrics, ([key, value]) => [key.join(), value])),
      );
    // Metrics arrive after the result.
    await until(
      'the metrics arrive',
      async () => (await reported()).get('execute,leaveLate,read,bytes') === 100,
    );
    assert.ok((await reported()).has('execute,leaveLate,waiting,seconds'));
  },
  ONE,
);

sharedClusterTest(
  'a cancelled seceded task ends without a restart of its worker',
  async ({ client, folder }) => {
    const restarts = client.getEvents('worker-restarted');
    const future = client.submit(outlive, folder, 'gate');
    await started(folder, 'gate');
    future.cancel();
    assert.equal(await client.submit(t.inc, 1), 2);
    assert.deepEqual(client.processing()['worker-0'], []);
    open(folder, 'gate');
    await until('the code ends', () => existsSync(join(folder, 'gate.ended')));
    assert.equal(await client.submit(t.inc, 2), 3);
    assert.deepEqual(client.getEvents('worker-restarted'), restarts);
  },
  ONE,
);

sharedClusterTest('a seceded task runs again after the death of its worker', async (setting) => {
  const { client, folder } = setting;
  const future = client.submit(leave, folder, 'gate', 5, { workers: 'worker-0' });
  await started(folder, 'gate');
  await kill(setting, 'worker-0');
  open(folder, 'gate');
  assert.equal(await future, 5);
});

sharedClusterTest('a seceded task that repeatedly ends its worker fails', async ({ client, folder }) => {
  open(folder, 'open');
  const error = await rejection(client.submit(leaveAndExit, folder, 'open', 9).result());
  assert.ok(error instanceof KilledWorkerError, String(error));
  assert.equal(await client.submit(t.inc, 1), 2);
});

sharedClusterTest('the time limit of a seceded task holds', async ({ client, folder }) => {
  const bystander = client.submit(leave, folder, 'bystander', 1);
  const error = await rejection(client.submit(leave, folder, 'never', 1, { timeout: 0.2 }).result());
  assert.match(String(error), /time limit|timeout/i);
  open(folder, 'bystander');
  assert.equal(await bystander, 1);
});

clusterTest('a worker leaves after the end of its seceded tasks', async ({ client, cluster, folder }) => {
  const futures = ['worker-0', 'worker-1'].map((workers) =>
    client.submit(leave, folder, workers, 6, { workers: [workers, 'worker-0'] }),
  );
  await started(folder, 'worker-1');
  const scaled = cluster.scale(1);
  open(folder, 'worker-0');
  open(folder, 'worker-1');
  await scaled;
  assert.deepEqual(await client.gather(futures), [6, 6]);
});

clusterTest('a cluster closes while a seceded task waits', async ({ client, cluster, folder }) => {
  const future = client.submit(leave, folder, 'never', 1);
  await started(folder, 'never');
  const error = rejection(future.result());
  await cluster.close();
  assert.match(String(await error), /was closed/);
});

test('secede() works in tasks of a cluster only', async () => {
  const codes = await Promise.all([
    rejection(secede()),
    rejection(getThreaded({ a: [outlive, '/', 'x'] }, 'a')),
  ]);
  assert.ok(codes[1] instanceof TaskError);
  for (const error of [codes[0], codes[1].cause])
    assert.equal(Reflect.get(Object(error), 'code'), 'ERR_LONGPOLE_NO_CLIENT');
});
