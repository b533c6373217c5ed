// Tasks, computations and clusters that end while tasks wait for inputs do not disturb other work.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { type Client, connect, LocalCluster } from 'longpole';
import { isAlive, withFolder } from '../support/programs.js';
import { t } from './clusterTasks.js';
import { clusterTest, open, rejection, started, until } from './support.js';

const LENGTH = 600_000;
/** Index of `cancelled` in the column `state`. */
const CANCELLED = 2;

/** Returns the name and the start time of every worker. */
const startTimes = (client: Client) =>
  Object.values(client.schedulerInfo().workers).map((worker) => [worker.name, worker.started]);

const made = async (client: Client, round: number, workers?: string) => {
  const values = Array.from({ length: 12 }, (_, i) => 100 * round + i);
  const arrays = values.map((value) =>
    client.submit(t.zeros, LENGTH, value, workers === undefined ? {} : { workers }),
  );
  await Promise.all(arrays.map((future) => future.wait()));
  return arrays;
};

test('processes: a computation that fails while its tasks wait for inputs ends no worker', async () => {
  await using client = await connect({ workers: 2, processes: true });
  const before = startTimes(client);
  const [from, to] = Object.keys(client.schedulerInfo().workers);
  for (let round = 0; round < 4; round++) {
    const arrays = await made(client, round, from);
    const sums = arrays.map((array, i) => (i === 1 ? client.submit(t.fail, 'no') : array));
    await rejection(
      client.compute(
        sums.map((sum) => t.total(sum)),
        { workers: to! },
      ),
    );
    // The worker that was fetching the inputs runs the next task.
    assert.equal(await client.submit(t.inc, round, { workers: to! }).result(), round + 1);
    assert.deepEqual(new Set(arrays.map(({ status }) => status)), new Set(['finished']));
  }
  assert.deepEqual(startTimes(client), before);
});

test('threads: tasks can be cancelled, and their cluster closed, while their inputs are read from disk', async () => {
  for (const ends of ['cancelled', 'closed']) {
    const memory = { target: 0.3, spill: false, pause: false, terminate: false } as const;
    await using client = await connect({ workers: 1, memoryLimit: 30e6, memory });
    const arrays = await made(client, 0);
    const sums = arrays.map((array) => client.submit(t.total, array));
    await Promise.race(sums.map((sum) => sum.wait()));
    if (ends === 'closed') continue;
    client.cancel(sums);
    // Gathering reads all inputs from disk, so no input was lost.
    const whole = await client.gather(arrays);
    assert.deepEqual(
      whole.map((values) => values[LENGTH - 1]),
      arrays.map((_, i) => i),
    );
  }
});

clusterTest(
  'endless tasks that are cancelled one after the other do not restart their worker, and its results stay',
  async ({ client, folder }) => {
    const kept = client.submit(t.zeros, LENGTH, 7);
    await kept.wait();
    const before = startTimes(client);
    for (let i = 0; i < 6; i++) {
      const future = client.submit(t.spin, folder, `spin-${i}`);
      await started(folder, `spin-${i}`);
      future.cancel();
      // A new isolate runs this task.
      assert.equal(await client.submit(t.inc, i).result(), i + 1);
    }
    assert.deepEqual(startTimes(client), before);
    assert.equal((await kept.result())[0], 7);
  },
  { workers: 1 },
);

clusterTest(
  'the trace has the run of a task that is cancelled while it runs',
  async ({ client, folder }) => {
    const future = client.submit(t.spin, folder, 'spin');
    await started(folder, 'spin');
    future.cancel();
    assert.equal(await client.submit(t.inc, 1).result(), 2);
    const { tasks } = client.trace;
    const states = Array.from(tasks.state, (state, row) => [tasks.keyOf(row), state]);
    assert.deepEqual(
      states.filter(([, state]) => state === CANCELLED),
      [[future.key, CANCELLED]],
    );
    const row = states.findIndex(([key]) => key === future.key);
    assert.ok(tasks.acknowledged[row]! >= tasks.dispatched[row]!);
    assert.ok(Number.isNaN(tasks.started[row]!));
  },
  { workers: 1 },
);

/** Grace period of a cancelled task, in milliseconds. */
const GRACE_MS = 100;

/**
 * Makes the grace periods of this process end only when the test calls `pass`, which ends all that have begun. Returns
 * their number, too.
 */
function driveGrace(context: TestContext): { readonly count: () => number; readonly pass: () => void } {
  const { setTimeout } = globalThis;
  const ends: (() => void)[] = [];
  let count = 0;
  context.mock.method(globalThis, 'setTimeout', (call: () => void, delay: number) => {
    if (delay !== GRACE_MS) return setTimeout(call, delay);
    count++;
    ends.push(call);
    return setTimeout(() => undefined, 2 ** 30);
  });
  return { count: () => count, pass: () => ends.splice(0).forEach((end) => void end()) };
}

test('threads: an asynchronous task that ends after its cancellation leaves no timer behind', async (context) => {
  await using client = await connect({ workers: 1 });
  assert.equal(await client.submit(t.inc, 1).result(), 2);
  await withFolder(async (folder) => {
    const futures = Array.from({ length: 5 }, (_, i) => client.submit(t.holdAsync, folder, `held-${i}`, i));
    await started(folder, 'held-0');
    const graces = driveGrace(context);
    for (const future of futures) future.cancel();
    open(folder, 'held-0');
    // The thread has answered everything before it runs this task.
    const last = client.submit(t.hold, folder, 'last', 1);
    await started(folder, 'last');
    for (let period = 0; period < 10; period++) {
      graces.pass();
      await turn();
    }
    open(folder, 'last');
    await last.result();
    const count = graces.count();
    assert.ok(count > 0 && count <= futures.length, `${count} timers`);
  });
});

test('processes: a cluster closes although a worker process is stopped', async () => {
  const cluster = await LocalCluster.start({ workers: 2, processes: true });
  const client = await connect(cluster, { setAsDefault: false });
  const pids = Object.values(await client.run(() => process.pid));
  process.kill(pids[0]!, 'SIGSTOP');
  await client.close();
  await cluster.close();
  await until('the processes have ended', () => pids.every((pid) => !isAlive(pid)));
});

clusterTest(
  'a function of client.run() runs in the new thread if a cancelled task ends the old thread',
  async ({ client, folder }) => {
    const frozen = client.submit(t.freeze, folder, 'frozen');
    await started(folder, 'frozen');
    const called = client.run(() => process.version);
    frozen.cancel();
    assert.deepEqual(Object.values(await called), [process.version]);
  },
  { workers: 1 },
);
