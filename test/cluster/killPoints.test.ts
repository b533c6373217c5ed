// Workers that die at given points of a computation: before its tasks arrive, while one runs, after it returned, after it
// reported, and while results travel. Every result is compared with what a plain evaluation gives. The soak kills at random.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Client, Future } from 'longpole';
import { t } from './clusterTasks.js';
import { kill, open, type Setting, sharedClusterTest, started, until } from './support.js';

const LARGE = 100_000;
const NODES = 40;
const LEAVES = 10;
/** A task at the beginning of the graph, one in the middle, and one that little depends on. */
const PLACES = [2, 22, NODES - 1];

/** The two nodes that an inner node adds: a near one and a far one. */
const inputsOf = (node: number): readonly [number, number] => [node - 1 - (node % 5), (node * 5 + 3) % node];

/** What the nodes of the graph are, by a plain evaluation. */
const EXPECTED = Array.from({ length: NODES }, () => 0);
for (const node of EXPECTED.keys()) {
  const [near, far] = inputsOf(node);
  EXPECTED[node] = node < LEAVES ? node + 1 : (EXPECTED[near]! + EXPECTED[far]!) % 1e6;
}

/** Submits the graph, which is computed each time. `through` wraps the nodes at `PLACES` with a task that ends its worker. */
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

/** As many workers as before compute the right results: the next test may have them. */
async function assertAllThere({ client, cluster }: Setting): Promise<void> {
  await until('all workers are there', async () => {
    const answers = await client.run(() => 'here').catch(() => ({}));
    return Object.keys(answers).length === cluster.size;
  });
  assert.equal(cluster.size, 2);
  assert.deepEqual(await client.gather(graph(client)), EXPECTED);
}

/** At least so many tasks have been sent to workers and have not ended. */
function sent(client: Client, count: number): Promise<void> {
  return until(`${count} tasks are sent`, () => client.schedulerInfo().tasks.processing >= count);
}

function pidOf(client: Client, name: string): number {
  return client.schedulerInfo().workers[name]!.pid;
}

sharedClusterTest('a worker dies before the tasks that were sent to it begin', async (setting) => {
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

sharedClusterTest('a process dies before it has read what was sent to it', async (setting) => {
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
  ['after a task returned, before it reports', t.exitBehind],
] as const) {
  sharedClusterTest(`workers die ${when}, at three places of a graph`, async (setting) => {
    const { client, folder } = setting;
    const nodes = graph(client, (node, place) => client.submit(task, join(folder, `${place}`), node));
    assert.deepEqual(await client.gather(nodes), EXPECTED);
    await assertAllThere(setting);
  });
}

sharedClusterTest('all workers die while each runs a task', async (setting) => {
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

sharedClusterTest('workers die one after the other after their tasks have reported', async (setting) => {
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
});

sharedClusterTest(
  'the worker that has a result dies while the result travels to another and to the client',
  async (setting) => {
    const { client, processes } = setting;
    const made = client.submit(t.zeros, LARGE, 2, { workers: 'worker-0' });
    await made.wait();
    // A process that stands still has been asked and cannot answer.
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

sharedClusterTest('the worker that fetches a result dies before it has read it', async (setting) => {
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
