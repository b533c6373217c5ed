// `Client.retry`: failed tasks run again, and the same futures get the new outcome.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, connect, delayed, type Future, KilledWorkerError, TaskError } from 'longpole';
import { t } from './clusterTasks.js';
import { clusterTest, kill, open, rejection, sharedClusterTest, started, textOf, until } from './support.js';

const LARGE = 100_000;

/** Number of calls that a task has counted in a file. */
function calls(path: string): number {
  return readFileSync(path, 'utf8').length;
}

async function failed(...futures: readonly Future<unknown>[]): Promise<void> {
  for (const future of futures) {
    await future.wait();
    assert.equal(future.status, 'error', future.key);
  }
}

/** Returns the attempts and the states of a key's runs. */
function runsOf({ trace }: Client, key: string): [number, string][] {
  const { tasks } = trace;
  const rows = Array.from(tasks.key.keys()).filter((row) => tasks.keyOf(row) === key);
  return rows.map((row) => [tasks.attempt[row]!, ['memory', 'erred'][tasks.state[row]!] ?? '']);
}

sharedClusterTest('retry runs a failed task again, and its future gets the new outcome', async (setting) => {
  const { client, folder } = setting;
  const path = join(folder, 'calls');
  const future = client.submit(t.failTimes, path, 2);
  const first = await rejection(future.result());
  assert.ok(first instanceof TaskError);
  assert.match(first.message, /call 1/);
  const retried = client.retry(future);
  assert.equal(future.status, 'pending');
  await retried;
  assert.match(String(await rejection(future.result())), /call 2/);
  assert.match(String(await future.exception()), /call 2/);
  await client.retry([future]);
  assert.equal(await future.result(), 3);
  assert.equal(await future.exception(), undefined);
  assert.equal(future.status, 'finished');
  assert.deepEqual(runsOf(client, future.key), [
    [1, 'erred'],
    [2, 'erred'],
    [3, 'memory'],
  ]);
});

sharedClusterTest(
  'a retry recovers the futures that depend on the task, in any computation',
  async (setting) => {
    const { client, folder } = setting;
    const path = join(folder, 'calls');
    const bad = client.submit(t.failTimes, path, 1);
    await failed(bad);
    const behind = client.submit(t.inc, bad);
    const farBehind = client.submit(t.zeros, LARGE, behind);
    const total = client.submit(t.total, farBehind);
    const good = client.submit(t.count, join(folder, 'good'));
    await failed(behind, farBehind, total);
    assert.equal(await good.result(), 1);
    await client.retry([bad, good]);
    assert.deepEqual(await client.gather([bad, behind, total, good]), [2, 3, 3 * LARGE, 1]);
    assert.deepEqual([calls(path), calls(join(folder, 'good'))], [2, 1]);
  },
);

sharedClusterTest(
  'the retry of a dependent retries the task that failed, and recovers its siblings',
  async (setting) => {
    const { client, folder } = setting;
    const root = t.failTimes(join(folder, 'root'), 1);
    const middle = t.inc(root);
    const other = t.failTimes(join(folder, 'other'), 2);
    const [left, right, both, lone] = client.persist([
      t.inc(middle),
      t.add(middle, 10),
      t.add(middle, other),
      t.inc(other),
    ]);
    await failed(left!, right!, both!, lone!);
    await client.retry(left!);
    assert.deepEqual(await client.gather([left, right]), [4, 13]);
    await failed(both!, lone!);
    assert.deepEqual([calls(join(folder, 'root')), calls(join(folder, 'other'))], [2, 1]);
    await client.retry(lone!);
    await failed(lone!);
    await client.retry([lone!, both!]);
    assert.equal(await lone!.result(), 4);
    await both!.result();
  },
);

sharedClusterTest('a retry computes released inputs again, and has its own retries', async (setting) => {
  const { client, folder } = setting;
  const input = client.submit(t.countZeros, join(folder, 'input'), LARGE);
  const path = join(folder, 'calls');
  const bad = client.submit(t.failTimes, path, 3, { retries: 1 });
  const behind = client.submit(t.totalAfter, input, bad);
  await input.wait();
  await failed(bad, behind);
  assert.equal(calls(path), 2);
  const { key } = input;
  input.release();
  await until('the input is released', () => client.whoHas()[key] === undefined);
  await client.retry(behind);
  assert.equal(await behind.result(), LARGE);
  assert.deepEqual([calls(path), calls(join(folder, 'input'))], [4, 2]);
});

sharedClusterTest('a retry leaves futures that have not failed as they are', async ({ client, folder }) => {
  const held = client.submit(t.hold, folder, 'gate', 5);
  const done = client.submit(t.inc, 1);
  await done.wait();
  await client.retry([held, done]);
  assert.deepEqual([held.status, done.status], ['pending', 'finished']);
  writeFileSync(join(folder, 'gate.open'), '');
  assert.deepEqual(await client.gather([held, done]), [5, 2]);
});

sharedClusterTest('a gather that waits for another future gets the outcome of a retry', async (setting) => {
  const { client, folder } = setting;
  const held = client.submit(t.hold, folder, 'gate', 5);
  const bad = client.submit(t.failTimes, join(folder, 'calls'), 1);
  const gathered = client.gather([held, bad]);
  await failed(bad);
  await client.retry(bad);
  writeFileSync(join(folder, 'gate.open'), '');
  assert.deepEqual(await gathered, [5, 2]);
});

sharedClusterTest(
  'a future that cannot be retried is refused before any task runs again',
  async (setting) => {
    const { client, cluster, folder } = setting;
    const path = join(folder, 'calls');
    const retriable = client.submit(t.failTimes, path, 1);
    const [released, cancelled, late] = client.map(t.fail, ['a', 'b', 'c']);
    const data = await client.scatter(7);
    const needsData = client.submit(t.add, data, t.failTimes(join(folder, 'other'), 1));
    await failed(retriable, released!, late!, needsData);
    released!.release();
    cancelled!.cancel();
    late!.cancel();
    data.release();
    const done = client.submit(t.inc, 1);
    await done.wait();
    done.release();
    const notSubmitted = client.submit(t.inc, done);
    await using stranger = await connect(cluster, { setAsDefault: false });
    const refused: [Future<unknown>, string, RegExp][] = [
      [released!, 'ERR_LONGPOLE_FUTURE', /was released/],
      [cancelled!, 'ERR_LONGPOLE_FUTURE', /was cancelled/],
      [late!, 'ERR_LONGPOLE_FUTURE', /cannot run again.*was cancelled/],
      [needsData, 'ERR_LONGPOLE_DATA_LOST', new RegExp(`needs the scattered data '${data.key}'`)],
      [notSubmitted, 'ERR_LONGPOLE_FUTURE', new RegExp(`'${done.key}' .*was released or cancelled`)],
    ];
    for (const [future, code, message] of refused)
      await assert.rejects(stranger.retry([retriable, future]), { code, message }, String(message));
    assert.equal(calls(path), 1);
    await stranger.retry(retriable);
    assert.equal(await retriable.result(), 2);
  },
);

sharedClusterTest(
  'a task that has killed its worker is retried with a new count of deaths',
  async ({ client, folder }) => {
    const future = client.submit(t.exitTimes, join(folder, 'calls'), 3);
    const behind = client.submit(t.inc, future);
    assert.ok((await rejection(future.result())) instanceof KilledWorkerError);
    await client.retry(behind);
    assert.deepEqual(await client.gather([future, behind]), [4, 5]);
  },
  { allowedFailures: 2 },
);

clusterTest('a retried task runs again if its worker dies meanwhile', async (setting) => {
  const { client, folder } = setting;
  const [first] = Object.keys(client.schedulerInfo().workers);
  const step = delayed((path: string, folder_: string) => [path, folder_])(join(folder, 'calls'), folder);
  const future = client.submit(t.failTimes, join(folder, 'calls'), 1, { workers: first! });
  const held = client.submit(t.hold, folder, 'gate', future, { workers: first! });
  await failed(held);
  assert.equal((await client.compute(step))[1], folder);
  await client.retry(held);
  await until('the dependent runs', () => client.processing(first)[first!]!.includes(held.key));
  await kill(setting, first!);
  writeFileSync(join(folder, 'gate.open'), '');
  // The second call is repeated if its end was not reported before the death.
  assert.ok([2, 3].includes(Number(await held.result())));
});

sharedClusterTest('a task that is retried does not get the error of its cancelled run', async (setting) => {
  const { client, folder } = setting;
  const [here, elsewhere] = Object.keys(client.schedulerInfo().workers);
  // With another unfinished task the computation stays open on the worker. Without one it is closed and opened again.
  for (const name of ['alone', 'beside']) {
    const bad = client.submit(t.holdAndFail, folder, `${name}-bad`, { workers: elsewhere! });
    const held = client.submit(t.hold, folder, `${name}-held`, 5, { workers: elsewhere! });
    const sum = t.add(bad, t.holdAndFail(folder, name));
    const [future, behind] = client.persist(name === 'alone' ? [sum] : [sum, t.inc(held)], {
      workers: here!,
    });
    await Promise.all([started(folder, name), started(folder, `${name}-bad`)]);
    open(folder, `${name}-bad`);
    await failed(future!);
    await client.retry(future!);
    open(folder, name);
    open(folder, `${name}-held`);
    assert.ok(Number(await future!.result()) >= 4);
    await behind?.result();
  }
});

sharedClusterTest('a cancelled run that does not end does not hold up its retry', async (setting) => {
  const { client, folder } = setting;
  const [here, elsewhere] = Object.keys(client.schedulerInfo().workers);
  const bad = client.submit(t.holdAndFail, folder, 'bad', { workers: elsewhere! });
  const held = client.submit(t.hold, folder, 'held', 5, { workers: elsewhere! });
  const path = join(folder, 'slow');
  // The task behind the held one keeps the computation open on the worker.
  const [sum, behind] = client.persist([t.add(bad, t.slowOnce(path)), t.inc(held)], { workers: here! });
  await Promise.all([started(folder, 'bad'), textOf(path)]);
  open(folder, 'bad');
  await failed(sum!);
  await client.retry(sum!);
  open(folder, 'held');
  assert.ok(Number(await sum!.result()) >= 4);
  await behind!.result();
});
