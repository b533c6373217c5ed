// Computations that could go on and do not fail with where the cluster stands; those that wait for something go on waiting.
// Time is driven: in the main process it passes only when a test says so.
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { type Client, connect, LocalCluster } from 'longpole';
import { withFolder } from '../support/programs.js';
import { t } from './clusterTasks.js';
import { open, started } from './support.js';

/** Least seconds of silence after which computations fail, and more of them. */
const LIMIT = 180;
const LONG = 4 * LIMIT;

interface Setting {
  readonly client: Client;
  readonly cluster: LocalCluster;
  readonly folder: string;
  /** Lets seconds pass in this process, a few at a time. */
  pass(seconds: number): Promise<void>;
  /** Lets them pass until it is so. */
  passUntil(isSo: () => boolean): Promise<void>;
}

function stallTest(name: string, body: (setting: Setting) => Promise<void>): void {
  test(name, { timeout: 60_000 }, () =>
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

stallTest(
  'tasks that a worker has and does not begin fail with where the cluster stands',
  async (setting) => {
    const { client, cluster, passUntil } = setting;
    await client.submit(t.deafen).result();
    const lost = client.submit(t.inc, 1, { key: 'the-lost' });
    const next = client.submit(t.inc, lost, { key: 'the-next' });
    const computed = client.get({ 'the-computed': [t.inc, 1] }, 'the-computed');
    const ends = [lost.result(), next.result(), computed].map((end) => assert.rejects(end, isStalled));
    await passUntil(() => lost.done && next.done);
    await Promise.all(ends);
    assert.deepEqual([lost.status, next.status], ['error', 'error']);
    cluster.engine.scheduler.validate();
    const { counts } = await client.dump();
    assert.equal(counts['processing'], undefined);
  },
);

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

stallTest('an asynchronous task may run for as long as it likes', async ({ client, folder, pass }) => {
  const held = client.submit(t.holdAsync, folder, 'a', 7);
  await started(folder, 'a');
  await pass(LONG);
  assert.equal(held.status, 'pending');
  open(folder, 'a');
  assert.equal(await held.result(), 7);
});

stallTest('tasks wait for a call of client.run', async ({ client, folder, pass }) => {
  const called = client.run(t.holdCall);
  await started(folder, 'call');
  const waiting = client.submit(t.inc, 1);
  await pass(LONG);
  assert.equal(waiting.status, 'pending');
  open(folder, 'call');
  await called;
  assert.equal(await waiting.result(), 2);
});

stallTest('tasks wait for a worker that offers what they need', async ({ client, pass }) => {
  // A thread that has to start before much time passes.
  await client.submit(t.inc, 1).result();
  const waiting = client.submit(t.inc, 1, { workers: ['worker-7'] });
  await pass(LONG);
  assert.equal(waiting.status, 'pending');
});
