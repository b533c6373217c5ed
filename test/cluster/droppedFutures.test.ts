// A dropped future never loses its work: whether submitted work runs does not depend on the garbage collector.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Client, connect, type Future } from 'longpole';
import { collectGarbage, dropped } from '../support/garbage.js';
import { packageUrl, runProgram, withFolder } from '../support/programs.js';
import { t } from './clusterTasks.js';
import { heldBytes } from './heldBytes.js';
import { clusterTest, KINDS, open, rejection, started, until } from './support.js';

const LARGE = 100_000;
const ONE_WORKER = { workers: 1 };

/** Keeps the only worker busy, so that what is submitted next has not begun when garbage is collected. */
async function block(client: Client, folder: string): Promise<{ gate: Future<number> }> {
  const gate = client.submit(t.hold, folder, 'gate', 1);
  await started(folder, 'gate');
  return { gate };
}

/** Opens the gate, and waits until the cluster has nothing left to do. */
async function unblock(client: Client, folder: string, gate: Future<number>): Promise<void> {
  open(folder, 'gate');
  assert.equal(await gate.result(), 1);
  await until('all tasks are settled', () => {
    const { waiting, queued, processing } = client.schedulerInfo().tasks;
    return waiting + queued + processing === 0;
  });
}

/** How often tasks ran that count with a file. */
function calls(folder: string, name: string): number {
  const path = join(folder, name);
  return existsSync(path) ? readFileSync(path, 'utf8').length : 0;
}

/** Has futures collected before their tasks can begin. Returns how often each of the named files was counted in the end. */
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
  // A computation that is awaited holds its Delayed, and with it their futures: they are not collected yet.
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
    // Asks for its state, so that it is sent to the cluster before the next is submitted.
    assert.equal(first.status, 'pending');
    return [first, ...paths.map((path) => client.submit(t.countAfter, path, first))];
  },
};

for (const [way, make] of Object.entries(EACH_WAY))
  clusterTest(
    `dropped before it begins, a task of ${way} runs`,
    async (setting) => {
      const names = ['a', 'b', 'c'];
      const { client } = setting;
      assert.deepEqual(await callsAfterDrop(setting, names, (paths) => make(client, paths)), [1, 1, 1]);
    },
    ONE_WORKER,
  );

clusterTest(
  'dropped data of scatter stays for the tasks that were submitted with it',
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

clusterTest(
  'futures that are only awaited bring what held ones bring',
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

clusterTest(
  'a dropped future: its result is released when it is there',
  async ({ client, folder }) => {
    const { gate } = await block(client, folder);
    await dropped(() => [client.submit(t.zeros, LARGE, 1, { key: 'large' }), client.submit(t.fail, 'so')]);
    await unblock(client, folder, gate);
    await until('nothing is held', async () => (await heldBytes(client)) === 0);
    const keys = await client.runOnScheduler(({ scheduler }) => [...scheduler.tasks.keys()]);
    assert.deepEqual(keys, [gate.key]);
    await dropped(() => [client.submit(t.inc, 1)]);
  },
  ONE_WORKER,
);

clusterTest(
  'a dropped task that fails is tried again, and is an event in the end',
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
  'a dropped task whose worker dies runs again',
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
    await until('nothing is held', async () => (await heldBytes(client)) === 0);
  },
  ONE_WORKER,
);

clusterTest(
  'a dropped future and a held one of the same key: releasing the held one cancels nothing, cancel() does',
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

clusterTest(
  'what still stops a dropped task: a signal, and a time limit',
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
      [...names, 'slow'].map((name) => calls(folder, name)),
      [0, 1, 1],
    );
  },
  ONE_WORKER,
);

function aborter(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

clusterTest(
  'close of a client cancels what it has dropped, unless another client holds it',
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
  test(`${kind}: a program ends after the work that it has dropped`, () =>
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
