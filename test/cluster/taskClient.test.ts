// Tasks that submit tasks to their own cluster with `getClient()`.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { getClient, span, TaskError } from 'longpole';
import { criticalPath } from 'longpole/analysis';
import { getThreaded } from 'longpole/local';
import { t } from './clusterTasks.js';
import { clusterTest, kill, open, rejection, sharedClusterTest, started, until } from './support.js';
import { inner, outer } from './taskClientTasks.js';

const LIFE = ['started', 'seceded', 'resumed', 'stopped'] as const;

clusterTest(
  'a recursive task waits for its own tasks on a single worker',
  async ({ client, cluster }) => {
    const root = span('recursion', () => client.submit(outer.fib, 8));
    assert.equal(await root, 21);
    root.release();
    await until('the results of inner tasks are released', () => cluster.engine.results.byKey.size === 0);
    const runs = client.getTaskStream().filter(({ key }) => key.startsWith('fib-'));
    assert.equal(runs.length, 67);
    const { trace } = client;
    const { tasks } = trace;
    const row = Array.from({ length: tasks.length }, (_, at) => tasks.keyOf(at)).indexOf(root.key);
    const [started = 0, seceded = 0, resumed = 0, stopped = 0] = LIFE.map((name) => tasks[name][row]);
    assert.ok(started <= seceded && seceded < resumed && resumed <= stopped, 'the root waits');
    const waited = tasks.waited[row]!;
    assert.ok(waited > 0 && waited <= stopped - seceded, `waited ${waited} s`);
    assert.equal(tasks.duration[row], stopped - started - waited);
    const { parts } = criticalPath(trace);
    assert.ok(new Set(parts.map(({ task }) => task)).size > 7, 'the critical path follows the recursion');
    // Inner tasks have the span of the task that submits them.
    await client.runOnScheduler(({ scheduler }) => {
      assert.equal(scheduler.spans.get(['recursion'])?.tasks, 67);
    });
  },
  { workers: 1 },
);

sharedClusterTest('the calls of the client of a task', async ({ client }) => {
  assert.deepEqual(await client.submit(outer.forms), {
    one: 1,
    two: 2,
    map: [2, 3, 4],
    nested: { a: [1, { b: 2 }], c: 5 },
    large: 20_000,
    length: 10_000,
    text: 'TEXT',
    scattered: 4,
    broadcast: 5000,
    single: { x: 7 },
    compute: 3,
    several: [2, 3],
    persist: 3,
    get: [4, [1]],
    status: ['finished', true, true, '<TaskClient>'],
  });
});

sharedClusterTest('calls that only the program has throw in a task', async ({ client }) => {
  const codes = await client.submit(outer.otherCalls, ['retry', 'run', 'dump', 'close', 'trace', 'adapt']);
  assert.deepEqual(new Set(codes), new Set(['ERR_LONGPOLE_TASK_CLIENT']));
  const error = await rejection(client.submit(outer.sharesFunctions).result());
  assert.match(
    String(error),
    /A value of scatter\(\) cannot be copied: .*An argument of a submitted task cannot/s,
  );
});

sharedClusterTest('compute() inside a task runs on the cluster of the task', async ({ client }) => {
  const before = client.trace.computations.length;
  assert.deepEqual(await client.submit(outer.computes), [[2, 4], 3, 8]);
  assert.equal(client.trace.computations.length - before, 4);
});

sharedClusterTest('errors of inner tasks keep their code and cause', async ({ client }) => {
  assert.deepEqual(await client.submit(outer.errors), {
    name: 'TaskError',
    code: 'ERR_LONGPOLE_TASK',
    cause: 'FAR',
    codes: [
      'ERR_LONGPOLE_TASK',
      'ERR_LONGPOLE_TASK',
      'ERR_LONGPOLE_FREE_VARIABLE',
      'ERR_LONGPOLE_NOT_CLONEABLE',
      'ERR_LONGPOLE_FUTURE',
      'ERR_LONGPOLE_FUTURE',
    ],
    skipped: [undefined, 2],
  });
});

sharedClusterTest('wait() and asCompleted() inside a task', async ({ client, folder }) => {
  assert.deepEqual(await client.submit(outer.waits, folder), [
    [1, 1, true],
    [2, 'held'],
  ]);
});

sharedClusterTest('progress() inside a task counts its futures', async ({ client, folder }) => {
  const shares = await client.submit(outer.showsProgress, folder);
  assert.deepEqual([shares.includes('50%'), shares.at(-1)], [true, '100%']);
});

sharedClusterTest(
  'cancelling a task cancels the tasks for which it waits',
  async ({ client, cluster, folder }) => {
    const future = client.submit(outer.waitFor, folder, 'inner');
    await started(folder, 'inner');
    const other = client.submit(t.inc, 1);
    assert.equal(await other, 2);
    future.cancel();
    await until('no task is left', () =>
      Object.values(client.processing()).every((keys) => keys.length === 0),
    );
    await until('only the other result is left', () =>
      isDeepStrictEqual([...cluster.engine.results.byKey.keys()], [other.key]),
    );
    assert.equal(await client.submit(t.inc, 1), 2);
  },
);

sharedClusterTest('a task submits again after the death of its worker', async (setting) => {
  const { client, folder } = setting;
  const future = client.submit(outer.waitFor, folder, 'inner', { workers: 'worker-0' });
  await started(folder, 'inner');
  await kill(setting, 'worker-0');
  open(folder, 'inner');
  assert.equal(await future, 'inner again');
});

sharedClusterTest(
  'work that a task leaves behind runs even if the task is forgotten before the submission arrives',
  async ({ client, cluster, folder }) => {
    assert.equal(await client.compute(t.inc(1)), 2);
    const path = join(folder, 'calls');
    for (let round = 1; round <= 5; round++) {
      const done = client.compute(outer.submits(path));
      // On threads the end of the task is read before the messages that wait.
      const pause = new Int32Array(new SharedArrayBuffer(4));
      await new Promise((resolve) => setImmediate(resolve));
      Atomics.wait(pause, 0, 0, 30);
      await done;
      await until('the work ends', () => existsSync(path) && readFileSync(path, 'utf8').length === round);
    }
    await until(
      'nothing is left',
      () => cluster.engine.results.byKey.size === 0 && [...cluster.engine.computations].length === 0,
    );
  },
  { workers: 1 },
);

sharedClusterTest('work that a task leaves behind runs to its end', async ({ client, cluster, folder }) => {
  const future = client.submit(outer.leaveWork, folder, 'left');
  await future;
  future.release();
  open(folder, 'left');
  await until('the work ends', () => existsSync(join(folder, 'left.ended')));
  await until('its result is released', () => cluster.engine.results.byKey.size === 0);
});

sharedClusterTest('a future cannot be a result', async ({ client }) => {
  const error = await rejection(client.submit(outer.returnFuture).result());
  assert.ok(error instanceof TaskError);
  assert.match(String(error.cause), /Future.*gather/);
  assert.equal(Reflect.get(Object(error.cause), 'code'), 'ERR_LONGPOLE_NOT_CLONEABLE');
});

sharedClusterTest('equal pure calls of several tasks run once', async ({ client, folder }) => {
  const path = join(folder, 'calls');
  const own = client.submit(inner.once, path, { pure: true });
  assert.deepEqual([await own, await client.submit(outer.pureTwice, path)], [1, [1, 1]]);
});

clusterTest('a cluster closes while a task waits for its own task', async ({ client, cluster, folder }) => {
  const future = client.submit(outer.waitFor, folder, 'inner');
  await started(folder, 'inner');
  const error = rejection(future.result());
  await cluster.close();
  assert.match(String(await error), /was closed/);
});

test('getClient() needs a cluster', async () => {
  assert.throws(() => getClient(), { code: 'ERR_LONGPOLE_NO_CLIENT' });
  assert.throws(() => inner.inc(1).persist(), { code: 'ERR_LONGPOLE_NO_CLIENT' });
  const error = await rejection(getThreaded({ a: [outer.returnFuture] }, 'a'));
  assert.equal(Reflect.get(Object(Reflect.get(Object(error), 'cause')), 'code'), 'ERR_LONGPOLE_NO_CLIENT');
});
