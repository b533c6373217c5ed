// A computation fails with a dump if its tasks could run and no worker runs one for a long time. A computation that waits
// for an event does not fail. In the main process, time passes only when a test advances the mocked timers.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { mock, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { type Client, connect, Event, LocalCluster, Lock } from 'longpole';
import { validateState } from '#internal/engine/scheduler/validate.test.support.js';
import { withFolder } from '../support/programs.js';
import { t } from './clusterTasks.js';
import { c } from './coordinationTasks.js';
import { waiting } from './sharedObjects.js';
import { open, started, until } from './support.js';

/** Seconds of silence after which computations fail. */
const LIMIT = 180;
/** Seconds after which a stalled computation has certainly failed. */
const LONG = 4 * LIMIT;

interface Setting {
  readonly client: Client;
  readonly cluster: LocalCluster;
  readonly folder: string;
  /** Advances the timers of this process by seconds, in small steps. */
  pass(seconds: number): Promise<void>;
  /** Advances the timers until a condition holds. */
  passUntil(isSo: () => boolean): Promise<void>;
}

function stallTest(name: string, body: (setting: Setting) => Promise<void>): void {
  test(name, { timeout: 300_000 }, () =>
    withFolder(async (folder) => {
      mock.timers.enable({ apis: ['setInterval'] });
      try {
        await using cluster = await LocalCluster.start({
          workers: 1,
          workerTtl: 5,
          profile: false,
          localDirectory: folder,
        });
        await using client = await connect(cluster, { setAsDefault: false });
        const step = async (): Promise<void> => {
          mock.timers.tick(5000);
          await turn();
        };
        await body({
          client,
          cluster,
          folder,
          pass: async (seconds) => {
            for (let passed = 0; passed < seconds; passed += 5) await step();
          },
          passUntil: async (isSo) => {
            while (!isSo()) await step();
          },
        });
      } finally {
        mock.timers.reset();
      }
    }),
  );
}

stallTest('tasks that their worker never begins fail with a dump of the cluster', async (setting) => {
  const { client, cluster, passUntil } = setting;
  await client.submit(t.deafen).result();
  const lost = client.submit(t.inc, 1, { key: 'the-lost' });
  const next = client.submit(t.inc, lost, { key: 'the-next' });
  const computed = client.get({ 'the-computed': [t.inc, 1] }, 'the-computed');
  const ends = [lost.result(), next.result(), computed].map((end) => assert.rejects(end, isStalled));
  await passUntil(() => lost.done && next.done);
  await Promise.all(ends);
  assert.deepEqual([lost.status, next.status], ['error', 'error']);
  validateState(cluster.engine.scheduler.state);
  const { counts } = await client.dump();
  assert.equal(counts['processing'], undefined);
});

function isStalled(error: unknown): boolean {
  assert.ok(error instanceof Error);
  assert.equal(Reflect.get(error, 'code'), 'ERR_LONGPOLE_STALLED');
  assert.match(
    error.message,
    /for 180 s no worker ran one or sent a message: .*'the-lost' \(processing at worker-0\)/,
  );
  assert.match(String(error.cause), /key: 'the-lost'/);
  assert.match(String(error.cause), /type: 'batch'/);
  return true;
}

stallTest('an asynchronous task may run for any time', async ({ client, folder, pass }) => {
  const held = client.submit(t.holdAsync, folder, 'a', 7);
  await started(folder, 'a');
  await pass(LONG);
  assert.equal(held.status, 'pending');
  open(folder, 'a');
  assert.equal(await held.result(), 7);
});

stallTest('tasks that wait for a call of client.run() do not fail', async ({ client, folder, pass }) => {
  const called = client.run(t.holdCall);
  await started(folder, 'call');
  const waiting = client.submit(t.inc, 1);
  await pass(LONG);
  assert.equal(waiting.status, 'pending');
  open(folder, 'call');
  await called;
  assert.equal(await waiting.result(), 2);
});

stallTest('tasks that wait for a worker that does not exist do not fail', async ({ client, pass }) => {
  // The first task makes sure that the thread has started before time passes.
  await client.submit(t.inc, 1).result();
  const waiting = client.submit(t.inc, 1, { workers: ['worker-7'] });
  await pass(LONG);
  assert.equal(waiting.status, 'pending');
});

/** Collects the warnings of calls of shared objects. Returns a function that ends that. */
function sharedWarnings(warnings: string[]): () => void {
  const listener = ({ code, message }: Error & { code?: string }): void => {
    if (code === 'LONGPOLE_SHARED_WAIT') warnings.push(message);
  };
  process.on('warning', listener);
  return () => process.off('warning', listener);
}

stallTest(
  'a warning names shared objects for which the whole cluster waits, once until a wait ends',
  async ({ client, cluster, folder, pass, passUntil }) => {
    const warnings: string[] = [];
    const end = sharedWarnings(warnings);
    const [lock, event] = [new Lock('lock', { client }), new Event('event', { client })];
    await lock.acquire();
    const waits = client.submit(c.waitForLock, join(folder, 'code'), { key: 'the-waiting' });
    await waiting(cluster, 'Lock.acquire');
    const { workers } = cluster.engine.scheduler.state;
    await until('the task has seceded', () => [...workers.values()].some(({ seceded }) => seceded.size > 0));
    const released = event.wait();
    await passUntil(() => warnings.length > 0);
    assert.match(
      warnings[0] ?? '',
      /^For 180 s the cluster only waits .*\. Lock 'lock': held by client-\d+; waits: acquire of the-waiting for [\d.]+ s\. Event 'event': waits: wait of client-\d+ for/,
    );
    await pass(LONG);
    assert.equal(warnings.length, 1);
    await lock.release();
    await waits;
    await passUntil(() => warnings.length > 1);
    assert.doesNotMatch(warnings[1] ?? '', /Lock/);
    await event.set();
    assert.equal(await released, true);
    end();
  },
);

stallTest(
  'no warning names a shared object while a task runs that could end the wait, or a time limit does',
  async ({ client, folder, pass }) => {
    const warnings: string[] = [];
    const end = sharedWarnings(warnings);
    const event = new Event('event', { client });
    const held = client.submit(t.holdAsync, folder, 'a', 7);
    await started(folder, 'a');
    const released = event.wait();
    await pass(LONG);
    open(folder, 'a');
    await held;
    const limited = event.wait({ timeout: 1e6 });
    await pass(LONG);
    assert.deepEqual(warnings, []);
    await event.set();
    await Promise.all([released, limited]);
    end();
  },
);
