// Workers that die at given points of a computation: before tasks arrive, while a task runs, after it returned, after it
// was reported, and during a transfer. Every result is compared with a direct evaluation. The soak kills at random times.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Client, Future } from 'longpole';
import { t } from './clusterTasks.js';
import { kill, open, type Setting, sharedClusterTest, started, until } from './support.js';

const LARGE = 100_000;
const NODES = 40;
const LEAVES = 10;
/** Nodes at the beginning, in the middle and at the end of the graph. */
const PLACES = [2, 22, NODES - 1];

/** Returns the two nodes that an inner node adds: a near one and a far one. */
const inputsOf = (node: number): readonly [number, number] => [node - 1 - (node % 5), (node * 5 + 3) % node];

/** Values of the nodes, computed directly. */
const EXPECTED = Array.from({ length: NODES }, () => 0);
for (const node of EXPECTED.keys()) {
  const [near, far] = inputsOf(node);
  EXPECTED[node] = node < LEAVES ? node + 1 : (EXPECTED[near]! + EXPECTED[far]!) % 1e6;
}

/** Submits the graph with new keys. `through` wraps the nodes at `PLACES` with a task that ends its worker. */
function graph(
  client: Client,
  through?: (node: Future<number>, place: number) => Future<number>,
): Future<number>[] {
  const nodes: Future<number>[] = [];
  for (let node = 0; node < NODES; node++) {
    const [near, far] = inputsOf(node);
    const made =
      node < LEAVES
        ? client.submit(t.inc, node, { pure: false })
        : client.submit(t.addModulo, nodes[near]!, nodes[far]!, { pure: false });
    nodes.push(through !== undefined && PLACES.includes(node) ? through(made, node) : made);
  }
  return nodes;
}

/** Waits until both workers run, and checks their results, so that the next test can use them. */
async function assertAllThere({ client, cluster }: Setting): Promise<void> {
  await until('all workers answer', async () => {
    const answers = await client.run(() => 'here').catch(() => ({}));
    return Object.keys(answers).length === cluster.size;
  });
  assert.equal(cluster.size, 2);
  assert.deepEqual(await client.gather(graph(client)), EXPECTED);
}

/** Waits until at least `count` unfinished tasks have been sent to workers. */
function sent(client: Client, count: number): Promise<void> {
  return until(`${count} tasks are sent`, () => client.schedulerInfo().tasks.processing >= count);
}

function pidOf(client: Client, name: string): number {
  return client.schedulerInfo().workers[name]!.pid;
}

sharedClusterTest('tasks run again if their worker dies before they begin', async (setting) => {
  const { client, folder } = setting;
  const last = client.submit(t.holdAndExit, folder, 'last', 1, { workers: 'worker-1' });
  await started(folder, 'last');
  const behind = Array.from({ length: 5 }, (_, i) => client.submit(t.add, i, 10, { workers: 'worker-1' }));
  await sent(client, 2);
  const nodes = graph(client);
  open(folder, 'last');
  assert.deepEqual(await client.gather(nodes), EXPECTED);
  assert.deepEqual(await client.gather(behind), [10, 11, 12, 13, 14]);
  assert.equal(await last.result(), 1);
  await assertAllThere(setting);
});

sharedClusterTest('tasks run again if their worker process dies before it reads them', async (setting) => {
  const { client, processes } = setting;
  if (!processes) return;
  const pid = pidOf(client, 'worker-1');
  process.kill(pid, 'SIGSTOP');
  const behind = Array.from({ length: 5 }, (_, i) => client.submit(t.add, i, 10, { workers: 'worker-1' }));
  await sent(client, 1);
  const nodes = graph(client);
  process.kill(pid, 'SIGKILL');
  assert.deepEqual(await client.gather(nodes), EXPECTED);
  assert.deepEqual(await client.gather(behind), [10, 11, 12, 13, 14]);
  await assertAllThere(setting);
});

for (const [when, task] of [
  ['while a task runs', t.exitOnce],
  ['after a task has returned and before it is reported', t.exitBehind],
] as const) {
  sharedClusterTest(`a graph is computed correctly if workers die ${when}`, async (setting) => {
    const { client, folder } = setting;
    const nodes = graph(client, (node, place) => client.submit(task, join(folder, `${place}`), node));
    assert.deepEqual(await client.gather(nodes), EXPECTED);
    await assertAllThere(setting);
  });
}

sharedClusterTest('a graph is computed correctly if all workers die at once', async (setting) => {
  const { client, cluster, folder } = setting;
  const held = cluster.workers.map((name, i) =>
    client.submit(t.holdAndExit, folder, name, i, { workers: name }),
  );
  await Promise.all(cluster.workers.map((name) => started(folder, name)));
  const nodes = graph(client);
  for (const name of cluster.workers) open(folder, name);
  assert.deepEqual(await client.gather(nodes), EXPECTED);
  assert.deepEqual(await client.gather(held), [0, 1]);
  await assertAllThere(setting);
});

sharedClusterTest(
  'results are computed again if all workers die after their tasks have ended',
  async (setting) => {
    const { client, cluster } = setting;
    const nodes = graph(client);
    const arrays = nodes.map((node, i) =>
      client.submit(t.zeros, LARGE, node, { workers: cluster.workers[i % 2]! }),
    );
    await Promise.all(arrays.map((array) => array.wait()));
    for (const name of cluster.workers) await kill(setting, name);
    const totals = arrays.map((array) => client.submit(t.total, array));
    assert.deepEqual(
      await client.gather(totals),
      EXPECTED.map((value) => LARGE * value),
    );
    await assertAllThere(setting);
  },
);

sharedClusterTest(
  'a result is computed again if its worker dies during transfers to another worker and to the client',
  async (setting) => {
    const { client, processes } = setting;
    const made = client.submit(t.zeros, LARGE, 2, { workers: 'worker-0' });
    await made.wait();
    // A stopped process receives the request and cannot answer.
    if (processes) process.kill(pidOf(client, 'worker-0'), 'SIGSTOP');
    const total = client.submit(t.total, made, { workers: 'worker-1' });
    const fetched = made.result();
    await until(
      'the task is sent',
      () => total.status === 'finished' || client.schedulerInfo().tasks.processing > 0,
    );
    await kill(setting, 'worker-0');
    assert.equal(await total.result(), 2 * LARGE);
    assert.deepEqual(await fetched, new Float64Array(LARGE).fill(2));
    await assertAllThere(setting);
  },
);

sharedClusterTest('tasks run again if their worker dies while it fetches their input', async (setting) => {
  const { client, folder, processes } = setting;
  const made = client.submit(t.zeros, LARGE, 2, { workers: 'worker-0' });
  await made.wait();
  const last = client.submit(t.holdAndExit, folder, 'last', 1, { workers: 'worker-1' });
  await started(folder, 'last');
  if (processes) process.kill(pidOf(client, 'worker-1'), 'SIGSTOP');
  const totals = [1, 2, 3].map((by) =>
    client.submit(t.total, client.submit(t.plus, made, by, { workers: 'worker-1' }), {
      workers: 'worker-1',
    }),
  );
  await sent(client, 2);
  if (processes) process.kill(pidOf(client, 'worker-1'), 'SIGKILL');
  open(folder, 'last');
  assert.deepEqual(await client.gather(totals), [3 * LARGE, 4 * LARGE, 5 * LARGE]);
  assert.equal(await last.result(), 1);
  await assertAllThere(setting);
});
