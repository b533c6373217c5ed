// `Client.recreateTaskLocally`: the task of a future runs in the program, with the inputs that its worker had.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Future, TaskError } from 'longpole';
import { t } from './clusterTasks.js';
import { open, rejection, type Setting, sharedClusterTest, started } from './support.js';

const LARGE = 100_000;

declare global {
  /** Inputs that `check` has received in this process. */
  var checked: unknown[] | undefined;
}

/** Fails on a worker, where the program has not set `checked`. Returns the sum there. */
function check(values: Float64Array, more: { readonly by: number }): number {
  if (globalThis.checked === undefined) throw new RangeError(`${values.length} values`);
  globalThis.checked.push(values.length, more.by);
  values[0] = 99;
  return values.reduce((sum, value) => sum + value, 0) + more.by;
}

/** Runs `body` while `check` does not fail in this process. Returns the inputs that `check` has received. */
async function whileMended(body: () => Promise<void>): Promise<unknown[]> {
  const seen: unknown[] = [];
  globalThis.checked = seen;
  try {
    await body();
  } finally {
    globalThis.checked = undefined;
  }
  return seen;
}

async function failing({ client, folder }: Setting): Promise<{ path: string; future: Future<number> }> {
  const path = join(folder, 'calls');
  const [future] = client.persist([t.inc(t.failWith(t.countZeros(path, LARGE)))]);
  await future!.wait();
  return { path, future: future! };
}

sharedClusterTest(
  'a failed task runs again in the program, and throws the error of its function',
  async (setting) => {
    const { client, processes } = setting;
    const values = client.submit(t.zeros, LARGE, 2);
    const future = client.submit(check, values, { by: 5 });
    assert.ok((await rejection(future.result())) instanceof TaskError);
    const error = await rejection(client.recreateTaskLocally(future));
    assert.ok(error instanceof RangeError);
    assert.equal(error.message, `${LARGE} values`);
    // A debugger shows this file, not a copy of the function.
    assert.match(error.stack ?? '', /at check \(.*recreate\.test\.[jt]s:\d+/);
    const seen = await whileMended(async () => {
      assert.equal(await client.recreateTaskLocally(future), 2 * (LARGE - 1) + 99 + 5);
    });
    assert.deepEqual(seen, [LARGE, 5]);
    assert.equal(future.status, 'error');
    // The task has changed a copy of its input. Threads share the memory of large arrays.
    if (processes) assert.equal(await client.submit(t.total, values).result(), 2 * LARGE);
  },
);

sharedClusterTest(
  'the task that failed runs, with released inputs computed again, for futures that depend on it',
  async (setting) => {
    const { client } = setting;
    const { path, future } = await failing(setting);
    const behind = client.submit(t.inc, future);
    await behind.wait();
    for (const one of [future, behind]) {
      const error = await rejection(client.recreateTaskLocally(one));
      assert.match(String(error), /^RangeError: 100000 values/);
      assert.match(error instanceof Error ? (error.stack ?? '') : '', /clusterTasks\.[jt]s:\d+/);
    }
    assert.equal(readFileSync(path, 'utf8').length, 3);
    assert.deepEqual(client.whoHas()[future.key], undefined);
  },
);

sharedClusterTest('a task that has finished runs again in the program', async ({ client }) => {
  const list = client.map(t.inc, [1, 2, 3]);
  const sum = client.submit(
    async (values: number[], more: Map<string, number>) => {
      await Promise.resolve();
      return values.reduce((a, b) => a + b, 0) + more.get('x')! + process.pid;
    },
    list,
    new Map([['x', list[0]!]]),
  );
  await sum.wait();
  for (const future of list) future.release();
  assert.equal(await client.recreateTaskLocally(sum), 11 + process.pid);
  const table = client.persist(t.total(t.zeros(LARGE, 1)));
  assert.equal(await table.result(), LARGE);
  assert.equal(await client.recreateTaskLocally(table), LARGE);
  const largest = client.submit(Math.max, 3, 7);
  await largest.wait();
  assert.equal(await client.recreateTaskLocally(largest), 7);
});

sharedClusterTest('a future whose task cannot run in the program is refused', async ({ client, folder }) => {
  const held = client.submit(t.hold, folder, 'gate', 5);
  await started(folder, 'gate');
  const data = await client.scatter(3);
  const kept = await client.scatter(4);
  const needsData = client.submit(t.add, data, 1);
  const [released, cancelled, failed] = client.map(t.fail, ['a', 'b', 'c']);
  await Promise.all([released!.wait(), failed!.wait(), needsData.wait()]);
  released!.release();
  cancelled!.cancel();
  failed!.cancel();
  data.release();
  const refused: [Future<unknown>, string, RegExp][] = [
    [held, 'ERR_LONGPOLE_FUTURE', /'hold-.*has not ended.*future\.wait\(\)/],
    [released!, 'ERR_LONGPOLE_FUTURE', /was released/],
    [cancelled!, 'ERR_LONGPOLE_FUTURE', /was cancelled/],
    [failed!, 'ERR_LONGPOLE_FUTURE', /was cancelled/],
    [kept, 'ERR_LONGPOLE_INVALID_ARGUMENT', /scattered data/],
    [needsData, 'ERR_LONGPOLE_DATA_LOST', new RegExp(data.key)],
  ];
  for (const [future, code, message] of refused)
    await assert.rejects(client.recreateTaskLocally(future), { code, message }, String(message));
  open(folder, 'gate');
  assert.equal(await held.result(), 5);
  assert.equal(await client.recreateTaskLocally(held), 5);
});
