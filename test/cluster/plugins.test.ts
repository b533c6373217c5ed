// Plugins of the scheduler and of the workers, with Dask's hooks, from their registration to their removal.
import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { LongpoleError, type SchedulerPlugin, type TransitionInfo } from 'longpole';
import { t } from './clusterTasks.js';
import { clusterTest, rejection, sharedClusterTest, until } from './support.js';

const url = new URL('./workerPlugins.js', import.meta.url).href;

/** Extends the time limit of teardowns, so that a worker without a core does not end before its teardown. */
function waitForTeardowns(context: TestContext): void {
  const { setTimeout } = globalThis;
  context.mock.method(globalThis, 'setTimeout', (call: () => void, delay: number) =>
    setTimeout(call, delay === 3000 ? 200_000 : delay),
  );
}

function notes(path: string): string[][] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

sharedClusterTest('a scheduler plugin receives the details of each run that ends', async ({ client }) => {
  const infos = new Map<string, TransitionInfo>();
  const remove = await client.registerPlugin({
    transition: (key, start, finish, info) => {
      if (start === 'processing') infos.set(`${key} ${finish}`, info);
      else assert.equal(info.startstops, undefined, `${key}: ${start} to ${finish}`);
    },
  });
  const [first, second] = client.cluster.workers;
  const zeros = client.submit(t.zeros, 100_000, 1, { key: 'zeros', workers: [first!] });
  await zeros.wait();
  await client.submit(t.total, zeros, { key: 'total', workers: [second!] }).result();
  await rejection(client.submit(t.fail, 'boo', { key: 'failed' }).result());
  const made = infos.get('zeros memory');
  assert.deepEqual([made?.type, made?.thread, made?.worker], ['Float64Array', 0, first]);
  assert.ok(made!.nbytes! >= 800_000);
  const rows = new Map(client.getTaskStream().map((row) => [row.key, row]));
  for (const [name, actions] of [
    ['zeros memory', ['compute']],
    ['total memory', ['transfer', 'compute']],
    ['failed erred', ['compute']],
  ] as const) {
    const { startstops = [], nbytes, type, thread } = infos.get(name)!;
    assert.deepEqual(
      startstops.map(({ action }) => action),
      actions,
      name,
    );
    const row = rows.get(name.split(' ')[0]!)!;
    assert.deepEqual([nbytes, thread], [row.nbytes, row.thread], name);
    if (!name.startsWith('failed')) assert.equal(type, row.type);
    for (const one of startstops)
      assert.ok(
        row.startstops.some((other) => isDeepStrictEqual(one, other)),
        name,
      );
  }
  await remove();
});

sharedClusterTest(
  "a scheduler plugin receives every transition of a task between Dask's states",
  async (setting) => {
    const { client, cluster } = setting;
    const seen = new Map<string, string[]>();
    const calls: string[] = [];
    const plugin: SchedulerPlugin = {
      start: () => calls.push('start'),
      addWorker: (worker) => calls.push(`add ${worker}`),
      removeWorker: (worker) => calls.push(`remove ${worker}`),
      close: () => calls.push('close'),
      transition(key, start, finish, { worker, prefix }) {
        const states = seen.get(key) ?? seen.set(key, [start]).get(key)!;
        assert.equal(states.at(-1), start);
        states.push(finish);
        if (finish === 'memory') assert.ok(worker !== undefined && cluster.workers.includes(worker));
        assert.equal(prefix, key);
      },
    };
    const remove = await client.registerPlugin(plugin);
    assert.ok(calls.includes('start'));
    const first = client.submit(t.inc, 1, { key: 'first' });
    const second = client.submit(t.inc, first, { key: 'second' });
    assert.equal(await second.result(), 3);
    // Alone, so that no idle worker takes the task back from a slow one.
    const bad = client.submit(t.fail, 'boo', { key: 'bad' });
    await rejection(bad.result());
    assert.deepEqual(seen.get('first'), ['released', 'waiting', 'queued', 'processing', 'memory']);
    // The second task need not queue if it is sent in the batch of the first.
    assert.match(seen.get('second')!.join(' '), /^released waiting (queued )?processing memory$/);
    assert.deepEqual(seen.get('bad'), ['released', 'waiting', 'queued', 'processing', 'erred']);
    for (const future of [first, second, bad]) future.release();
    await until('all tasks are forgotten', () =>
      [...seen.values()].every((states) => states.at(-1) === 'forgotten'),
    );
    await cluster.scale(3);
    await cluster.scale(2);
    assert.ok(calls.includes('add worker-2') && calls.includes('remove worker-2'));
    await remove();
    assert.equal(calls.at(-1), 'close');
    await client.submit(t.inc, 1, { key: 'later' }).result();
    assert.equal(seen.has('later'), false);
  },
);

clusterTest(
  'a worker plugin is set up, receives transitions, and is torn down when its worker leaves',
  async (setting) => {
    const { client, cluster, context, folder } = setting;
    waitForTeardowns(context);
    const path = join(folder, 'notes');
    await client.registerPlugin({ url, export: 'Noting', options: { path } });
    assert.deepEqual(notes(path).sort(), [
      ['setup', 'worker-0'],
      ['setup', 'worker-1'],
    ]);
    const on = { workers: 'worker-1' };
    await client.submit(t.inc, 1, { key: 'good', ...on }).result();
    await rejection(client.submit(t.fail, 'boo', { key: 'bad', ...on }).result());
    const of = (key: string) => notes(path).filter(([first]) => first === key);
    for (const [key, end] of [
      ['good', 'memory'],
      ['bad', 'error'],
    ] as const) {
      assert.deepEqual(of(key), [
        [key, 'ready', 'executing', 'worker-1'],
        [key, 'executing', end, 'worker-1'],
      ]);
    }
    await cluster.scale(1);
    assert.deepEqual(of('teardown'), [['teardown', 'worker-1']]);
    await cluster.close();
    assert.deepEqual(of('teardown'), [
      ['teardown', 'worker-1'],
      ['teardown', 'worker-0'],
    ]);
  },
);

sharedClusterTest(
  'the time of a worker plugin in a task has its name in the trace, and is no time of the function',
  async ({ client, folder }) => {
    const plugin = { url, export: 'Noting', options: { path: join(folder, 'notes') }, name: 'notes' };
    const remove = await client.registerPlugin(plugin);
    await client.submit(t.inc, 1, { key: 'noted' }).result();
    const seconds = (activity: string): number | undefined =>
      client.trace.totals.metrics.find((one) => one.prefix === 'noted' && one.activity === activity)?.value;
    await until('the trace has the time', () => seconds('plugin notes')! > 0);
    await remove();
  },
);

sharedClusterTest(
  'a removed worker plugin is torn down and receives no more transitions',
  async (setting) => {
    const { client, context, folder } = setting;
    waitForTeardowns(context);
    const path = join(folder, 'notes');
    const remove = await client.registerPlugin({ url, export: 'makesOne', options: { path } });
    await remove();
    await client.submit(t.inc, 1).result();
    assert.deepEqual(
      notes(path).map(([what]) => what),
      ['setup', 'setup', 'teardown', 'teardown'],
    );
  },
);

sharedClusterTest(
  'an exported object may be the plugin, and an export that is no plugin is refused',
  async ({ client }) => {
    const remove = await client.registerPlugin({ url, export: 'ready' });
    const there = await client.run(() => Reflect.get(globalThis, 'readyMade'));
    assert.deepEqual(Object.values(there), ['is there', 'is there']);
    for (const name of ['nothing', 'noSuchExport']) {
      const error = await rejection(client.registerPlugin({ url, export: name }));
      assert.ok(
        error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_INVALID_ARGUMENT',
        String(error),
      );
    }
    await remove();
  },
);

sharedClusterTest(
  'a worker plugin receives the name of its worker after the isolate was replaced, too',
  async (setting) => {
    const { client, folder } = setting;
    const path = join(folder, 'notes');
    const remove = await client.registerPlugin({ url, export: 'Noting', options: { path } });
    const on = { workers: 'worker-1' };
    await rejection(client.submit(t.exit, 1, on).result());
    await client.submit(t.inc, 1, { key: 'after', ...on }).result();
    const [first] = notes(path).filter(([key]) => key === 'after');
    assert.deepEqual(first, ['after', 'ready', 'executing', 'worker-1']);
    await remove();
  },
);

sharedClusterTest(
  'the tasks of a replaced isolate wait for the setup of its worker plugins',
  async ({ client, folder }) => {
    const [path, gate] = [join(folder, 'notes'), join(folder, 'gate')];
    const on = { workers: 'worker-1' };
    const begun = (): number =>
      notes(path).filter(([what, worker]) => what === 'begins' && worker === 'worker-1').length;
    writeFileSync(gate, '');
    const remove = await client.registerPlugin({ url, export: 'Gated', options: { path, gate } });
    rmSync(gate);
    await rejection(client.submit(t.exit, 1, on).result());
    const after = client.submit(t.inc, 1, { key: 'after', ...on });
    await until('the setup begins again', () => begun() > 1);
    // The worker receives the task before this call.
    await client.run(() => 1, { workers: ['worker-1'] });
    assert.deepEqual(
      notes(path).filter(([what]) => what === 'after'),
      [],
    );
    writeFileSync(gate, '');
    assert.equal(await after.result(), 2);
    const seen = notes(path).map(([what]) => what);
    assert.ok(seen.indexOf('after') > seen.lastIndexOf('setup'), String(seen));
    await remove();
  },
  { allowedFailures: 1 },
);

sharedClusterTest(
  'a plugin that is removed while a new isolate imports it stays removed',
  async (setting) => {
    const { client, folder } = setting;
    const [path, gate, file] = ['notes', 'gate', 'plugin.mjs'].map((name) => join(folder, name));
    assert.ok(path !== undefined && gate !== undefined && file !== undefined);
    writeFileSync(
      file,
      `import { appendFileSync, existsSync } from 'node:fs';
    const note = (what) => appendFileSync(${JSON.stringify(path)}, JSON.stringify([what]) + '\\n');
    note('imports');
    while (!existsSync(${JSON.stringify(gate)})) await new Promise((resolve) => setTimeout(resolve, 2));
    export default { transition: note };`,
    );
    writeFileSync(gate, '');
    const remove = await client.registerPlugin({ url: pathToFileURL(file).href });
    rmSync(gate);
    const on = { workers: 'worker-1' };
    await rejection(client.submit(t.exit, 1, on).result());
    await until(
      'the new isolate imports',
      () => notes(path).filter(([what]) => what === 'imports').length > 2,
    );
    await remove();
    writeFileSync(gate, '');
    assert.equal(await client.submit(t.inc, 1, on).result(), 2);
    assert.ok(!notes(path).some(([what]) => what === 'inc'), JSON.stringify(notes(path)));
  },
  { allowedFailures: 1 },
);

clusterTest('a plugin whose options cannot be sent is not registered', async ({ client, processes }) => {
  const topics: string[] = [];
  client.observe({ event: ({ topic }) => topics.push(topic) });
  const uncloneable = [
    { fn: () => 1 },
    ...(processes ? [{ secret: createSecretKey(new Uint8Array(8)) }] : []),
  ];
  for (const options of uncloneable)
    await assert.rejects(client.registerPlugin({ url, export: 'ready', options }), {
      name: 'LongpoleError',
      code: 'ERR_LONGPOLE_NOT_CLONEABLE',
    });
  const on = { workers: 'worker-1' };
  await rejection(client.submit(t.exit, 1, on).result());
  assert.equal(await client.submit(t.inc, 1, on).result(), 2);
  assert.ok(topics.includes('worker-restarted'));
  await client.cluster.close();
  assert.equal(topics.includes('plugin-error'), false);
});

clusterTest('a plugin that one worker cannot set up is removed from all workers', async (setting) => {
  const { client, cluster, context, folder } = setting;
  waitForTeardowns(context);
  const path = join(folder, 'notes');
  await assert.rejects(client.registerPlugin({ url, export: 'Failing', options: { path } }), /not here/);
  const there = [
    ['setup', 'worker-0'],
    ['teardown', 'worker-0'],
  ];
  assert.deepEqual(notes(path), there);
  for (const workers of cluster.workers) {
    await rejection(client.submit(t.exit, 1, { workers }).result());
    await client.submit(t.inc, 1, { workers }).result();
  }
  await cluster.close();
  assert.deepEqual(notes(path), there);
});

clusterTest(
  'a scheduler plugin starts before it receives workers, and receives nothing after close',
  async ({ client, cluster }) => {
    const calls: string[] = [];
    const note = (text: string) => () => calls.push(text);
    const plugin = {
      start: note('start'),
      addWorker: note('add'),
      removeWorker: note('remove'),
      close: note('close'),
    };
    await client.registerPlugin(plugin);
    await client.registerPlugin(plugin);
    await cluster.close();
    assert.deepEqual(calls, ['start', 'add', 'add', 'close']);
  },
  {},
  ['threads'],
);

sharedClusterTest(
  'a scheduler plugin whose hooks throw stays registered, and its errors are events',
  async ({ client, cluster }) => {
    const fail = (): never => {
      throw new RangeError('from a hook');
    };
    const remove = await client.registerPlugin({ name: 'failing', addWorker: fail, removeWorker: fail });
    await cluster.scale(3);
    await cluster.scale(2);
    await remove();
    const errors = client.getEvents('plugin-error').map(({ message }) => String(message));
    assert.equal(errors.filter((text) => text.startsWith('failing: RangeError: from a hook')).length, 4);
    for (const hook of ['start', 'transition', 'close'])
      await assert.rejects(client.registerPlugin(JSON.parse(`{ "${hook}": 3 }`)), {
        code: 'ERR_LONGPOLE_INVALID_ARGUMENT',
        message: `Client.registerPlugin: ${hook}: expected a function, not 3.`,
      });
  },
);
