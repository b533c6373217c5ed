// Submitted tasks run even if the program drops their futures: the garbage collector does not decide which tasks run.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Client, connect, type Future } from 'longpole';
import { collectGarbage, dropped } from '../support/garbage.js';
import { packageUrl, runProgram, withFolder } from '../support/programs.js';
import { t } from './clusterTasks.js';
import { heldBytes } from './heldBytes.js';
import { clusterTest, KINDS, open, rejection, sharedClusterTest, started, until } from './support.js';

const LARGE = 100_000;
const ONE_WORKER = { workers: 1 };

/** Keeps the only worker busy, so that later tasks have not begun when garbage is collected. */
async function block(client: Client, folder: string): Promise<{ gate: Future<number> }> {
  const gate = client.submit(t.hold, folder, 'gate', 1);
  await started(folder, 'gate');
  return { gate };
}

/** Opens the gate, and waits until no task is unfinished. */
async function unblock(client: Client, folder: string, gate: Future<number>): Promise<void> {
  // Workers answer in the order of messages, so they have received earlier cancellations then.
  await client.profile();
  open(folder, 'gate');
  assert.equal(await gate.result(), 1);
  await until('all tasks are settled', () => {
    const { waiting, queued, processing } = client.schedulerInfo().tasks;
    return waiting + queued + processing === 0;
  });
}

/** Returns how often tasks counted a call in this file. */
function calls(folder: string, name: string): number {
  const path = join(folder, name);
  return existsSync(path) ? readFileSync(path, 'utf8').length : 0;
}

/** Drops futures before their tasks can begin. Returns the final number of calls that tasks counted in each named file. */
async function callsAfterDrop(
  { client, folder }: { readonly client: Client; readonly folder: string },
  names: readonly string[],
  make: (paths: readonly string[]) => readonly object[],
): Promise<number[]> {
  const { gate } = await block(client, folder);
  const paths = names.map((name) => join(folder, name));
  await dropped(() => make(paths));
  await unblock(client, folder, gate);
  return names.map((name) => calls(folder, name));
}

const EACH_WAY: Readonly<Record<string, (client: Client, paths: readonly string[]) => readonly object[]>> = {
  submit: (client, paths) => paths.map((path) => client.submit(t.count, path)),
  map: (client, paths) => client.map(t.count, paths),
  persist: (client, paths) => client.persist(paths.map((path) => t.count(path))),
  // A pending computation holds its Delayed and their futures, so these are not collected.
  compute: (client, paths) => {
    for (const path of paths) void client.compute(t.count(path));
    return [];
  },
  'compute with a future as argument': (client, paths) => {
    for (const path of paths) void client.compute(t.countAfter(path, client.submit(t.inc, 1)));
    return [];
  },
  'submit with futures as arguments': (client, paths) => {
    const futures: Future<number>[] = [];
    for (const path of paths)
      futures.push(client.submit(t.countAfter, path, futures.at(-1) ?? client.submit(t.inc, 1)));
    return futures;
  },
  'submit with a future in a later turn': (client, paths) => {
    const first = client.submit(t.inc, 1);
    // Reading the status sends the task to the cluster before the next one is submitted.
    assert.equal(first.status, 'pending');
    return [first, ...paths.map((path) => client.submit(t.countAfter, path, first))];
  },
};

for (const [way, make] of Object.entries(EACH_WAY))
  sharedClusterTest(
    `a task of ${way} runs even if its future is dropped before the task begins`,
    async (setting) => {
      const names = ['a', 'b', 'c'];
      const { client } = setting;
      assert.deepEqual(await callsAfterDrop(setting, names, (paths) => make(client, paths)), [1, 1, 1]);
    },
    ONE_WORKER,
  );

sharedClusterTest(
  'scattered data whose future is dropped stays until the tasks that use the data have run',
  async ({ client, folder }) => {
    const { gate } = await block(client, folder);
    const submitted = async () => {
      const large = await client.scatter(new Float64Array(LARGE).fill(2));
      const small = await client.scatter(5);
      return { total: client.submit(t.totalAfter, large, client.submit(t.add, small, gate)) };
    };
    const { total } = await submitted();
    await collectGarbage();
    await collectGarbage();
    await unblock(client, folder, gate);
    assert.equal(await total.result(), 2 * LARGE);
  },
  ONE_WORKER,
);

sharedClusterTest(
  'awaited calls of a dropped future return the same values as those of a held future',
  async ({ client, folder }) => {
    const { gate } = await block(client, folder);
    const waits = [
      client.submit(t.inc, 1).result(),
      client
        .submit(t.zeros, LARGE, 3)
        .result()
        .then((values) => values[LARGE - 1]),
      client.submit(t.inc, 1).wait(),
      client.submit(t.inc, 1).exception(),
      client.submit(t.fail, 'on purpose').exception().then(String),
      rejection(client.submit(t.fail, 'on purpose').result()).then(String),
      client.gather(client.map(t.inc, [1, 2, 3])),
      client.gather({ one: client.submit(t.zeros, LARGE, 1) }).then(({ one }) => one.length),
    ];
    await collectGarbage();
    await collectGarbage();
    await unblock(client, folder, gate);
    const error = /TaskError: .*on purpose/;
    const [result, large, wait, none, exception, thrown, gathered, nested] = await Promise.all(waits);
    assert.deepEqual(
      [result, large, wait, none, gathered, nested],
      [2, 3, undefined, undefined, [2, 3, 4], LARGE],
    );
    assert.match(String(exception), error);
    assert.match(String(thrown), error);
  },
  ONE_WORKER,
);

sharedClusterTest(
  'the result of a dropped future is released when its task has ended',
  async ({ client, folder }) => {
    const { gate } = await block(client, folder);
    await dropped(() => [client.submit(t.zeros, LARGE, 1, { key: 'large' }), client.submit(t.fail, 'so')]);
    await unblock(client, folder, gate);
    await until('no worker holds a result', async () => (await heldBytes(client)) === 0);
    const keys = await client.runOnScheduler(({ scheduler }) => [...scheduler.tasks.keys()]);
    assert.deepEqual(keys, [gate.key]);
    await dropped(() => [client.submit(t.inc, 1)]);
  },
  ONE_WORKER,
);

sharedClusterTest(
  'a failed task whose future was dropped is retried, and its last failure is logged as an event',
  async ({ client, folder }) => {
    const events: string[] = [];
    const stop = client.observe({ event: ({ topic, text }) => void events.push(`${topic}: ${text}`) });
    const { gate } = await block(client, folder);
    const path = join(folder, 'calls');
    await dropped(() => [client.submit(t.failTimes, path, 2, { retries: 1 })]);
    await unblock(client, folder, gate);
    stop();
    assert.equal(calls(folder, 'calls'), 2);
    const erred = events.filter((text) => text.startsWith('task-erred'));
    assert.match(erred.at(-1) ?? '', /failTimes.*call 2/s);
  },
  ONE_WORKER,
);

clusterTest(
  'a task whose future was dropped runs again after the death of its worker',
  async ({ client, folder, processes }) => {
    const exits = join(folder, 'exits');
    const gate = client.submit(t.holdAndExit, folder, 'gate', 1);
    await started(folder, 'gate');
    const before = join(folder, 'before');
    const after = join(folder, 'after');
    await dropped(() => {
      const large = client.submit(t.countZeros, before, LARGE);
      return [
        large,
        client.submit(t.countAfter, after, client.submit(t.lengthOf, large)),
        client.submit(t.exitOnce, exits, 1),
      ];
    });
    if (processes)
      for (const { pid } of Object.values(client.schedulerInfo().workers)) process.kill(pid, 'SIGKILL');
    await unblock(client, folder, gate);
    assert.deepEqual([calls(folder, 'after'), calls(folder, 'exits')], [1, 2]);
    await until('no worker holds a result', async () => (await heldBytes(client)) === 0);
  },
  ONE_WORKER,
);

sharedClusterTest(
  'if one future of a key is dropped, release() of the other does not cancel the task, but cancel() does',
  async ({ client, folder }) => {
    const { gate } = await block(client, folder);
    for (const key of ['released', 'cancelled']) {
      const path = join(folder, key);
      const held = client.submit(t.count, path, { key });
      await dropped(() => [client.submit(t.count, path, { key })]);
      if (key === 'released') held.release();
      else held.cancel();
    }
    await unblock(client, folder, gate);
    assert.deepEqual([calls(folder, 'released'), calls(folder, 'cancelled')], [1, 0]);
  },
  ONE_WORKER,
);

sharedClusterTest(
  'a signal and a time limit stop a task whose future was dropped',
  async ({ client, folder }) => {
    const { gate } = await block(client, folder);
    const { signal, abort } = aborter();
    const names = ['aborted', 'kept'];
    await dropped(() => [
      client.submit(t.count, join(folder, 'aborted'), { signal }),
      client.submit(t.count, join(folder, 'kept')),
      client.submit(t.slowOnce, join(folder, 'slow'), { timeout: 0.2 }),
    ]);
    abort();
    await unblock(client, folder, gate);
    assert.deepEqual(
      names.map((name) => calls(folder, name)),
      [0, 1],
    );
    // The time limit may pass before the task has counted its call.
    assert.ok(calls(folder, 'slow') <= 1);
  },
  ONE_WORKER,
);

function aborter(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

sharedClusterTest(
  'closing a client cancels the tasks of its dropped futures, unless another client holds their futures',
  async ({ client, cluster, folder }) => {
    const { gate } = await block(client, folder);
    const other = await connect(cluster, { setAsDefault: false });
    const shared = client.submit(t.count, join(folder, 'shared'), { key: 'shared' });
    assert.equal(shared.status, 'pending');
    await dropped(() => [
      other.submit(t.count, join(folder, 'shared'), { key: 'shared' }),
      other.submit(t.count, join(folder, 'own')),
    ]);
    await other.close();
    await unblock(client, folder, gate);
    assert.equal(await shared.result(), 1);
    assert.deepEqual([calls(folder, 'shared'), calls(folder, 'own')], [1, 0]);
  },
  ONE_WORKER,
);

for (const kind of KINDS)
  test(`${kind}: a program ends after the tasks of its dropped futures have run`, () =>
    withFolder(async (folder) => {
      const source = `
        import { connect, tasks } from ${JSON.stringify(packageUrl('index'))};
        import { existsSync, writeFileSync } from 'node:fs';
        import { join } from 'node:path';
        export const { hold, write } = tasks(import.meta.url, {
          hold(folder) { while (!existsSync(join(folder, 'open'))) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2); },
          write(folder, name) { writeFileSync(join(folder, name), ''); },
        });
        const folder = process.argv[2];
        const client = await connect({ workers: 1, processes: ${kind === 'processes'} });
        client.submit(hold, folder);
        client.submit(write, folder, 'a');
        await new Promise((resolve) => setImmediate(resolve));
        for (let i = 0; i < 5; i++) {
          globalThis.gc();
          await new Promise((resolve) => setImmediate(resolve));
        }
        client.submit(write, folder, 'b');
        writeFileSync(join(folder, 'open'), '');
      `;
      const { stderr, code } = await runProgram(folder, source, {
        nodeArguments: ['--expose-gc'],
        arguments: [folder],
      });
      assert.equal(code, 0, stderr);
      assert.ok(existsSync(join(folder, 'a')) && existsSync(join(folder, 'b')), stderr);
    }));
