// The dump of a cluster: its tasks and workers, and the signal on which an unchanged program prints the dump.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mock, test } from 'node:test';
import { inspect } from 'node:util';
import { connect } from 'longpole';
import { dumpAndKill, dumpOf, packageUrl, startNode, withFolder } from '../support/programs.js';
import { t } from './clusterTasks.js';
import { clusterTest, open, sharedClusterTest, started, until } from './support.js';

sharedClusterTest(
  'a dump names the running task, the stack of its thread and the task that waits for it',
  async ({ client, folder }) => {
    const held = client.submit(t.hold, folder, 'a', 1, { key: 'the-held' });
    const next = client.submit(t.inc, held, { key: 'the-next' });
    await started(folder, 'a');
    const dump = await client.dump();
    assert.equal(dump.counts['processing'], 2);
    const [first, second] = dump.tasks;
    assert.equal(first?.key, 'the-held');
    assert.equal(second?.key, 'the-next');
    assert.deepEqual(second.waitsFor, ['the-held']);
    // The second task was sent in the same batch as the first.
    assert.equal(second.worker, first.worker);
    const busy = dump.workers.find(({ name }) => name === first.worker);
    assert.deepEqual(
      busy?.scheduler?.batches.map(({ left }) => left),
      [2],
    );
    assert.equal(inspect(dump), String(dump));
    for (const message of ['open', 'batch']) assert.match(String(dump), new RegExp(`type: '${message}'`));
    // A thread without a core does not answer in time, and the file of a task can exist before the main program has
    // read the messages of the thread. So the test requests dumps until one has both.
    await until('the thread shows its stack and its message', async () => {
      const later = String(await client.dump());
      return /inTask: true.*at hold \([^)]*clusterTasks/s.test(later) && /type: 'ready'/.test(later);
    });
    open(folder, 'a');
    assert.equal(await next.result(), 2);
    assert.deepEqual((await client.dump()).tasks, []);
  },
);

sharedClusterTest(
  'a brief dump has at most 40 lines, however many tasks wait',
  async ({ client, folder }) => {
    const held = client.submit(t.hold, folder, 'a', 1, { key: 'the-held' });
    const others = Array.from({ length: 100 }, (_, index) =>
      client.submit(t.inc, held, { key: `next-${index}` }),
    );
    const results = client.gather(others);
    const each = others.map((one) => one.result());
    await started(folder, 'a');
    const dump = await client.dump();
    const lines = dump.brief().split('\n');
    assert.ok(lines.length <= 40, dump.brief());
    assert.match(lines[0] ?? '', /^tasks: processing 101$|^tasks: .*waiting/);
    assert.match(dump.brief(), /\n {2}and 96 more\n/);
    assert.match(dump.brief(), /\n {2}Future\.result\(next-0\) and 99 more, [\d.]+ s\n/);
    assert.match(dump.brief(), /\n {2}Client\.gather\(\), /);
    assert.equal(lines.filter((line) => /^ {2}worker-\d running pid /.test(line)).length, 2);
    open(folder, 'a');
    await Promise.all([results, ...each]);
    assert.deepEqual((await client.dump()).waits, []);
  },
);

clusterTest('a dump shows the current step of close()', async ({ client, cluster }) => {
  const gate = new EventEmitter();
  cluster.onClose(async () => void (await once(gate, 'open')));
  const closed = cluster.close();
  await until('the close waits', () => gate.listenerCount('open') > 0);
  assert.match((await client.dump()).brief(), /LocalCluster\.close\(recordings, /);
  gate.emit('open');
  await closed;
});

test('a waiting program prints a dump of its cluster on the dump signal', { timeout: 300_000 }, async () => {
  await withFolder(async (folder) => {
    const file = join(folder, 'program.mjs');
    writeFileSync(
      file,
      `import { connect } from ${JSON.stringify(packageUrl('index'))};
      const client = await connect({ workers: 1, processes: true });
      const future = client.submit(() => new Promise(() => undefined), { key: 'never-ends' });
      await Promise.resolve();
      console.log(future.status);
      await future.result();`,
    );
    const program = startNode([file]);
    await new Promise((resolve) => program.child.stdout?.once('data', resolve));
    const { child, output } = program;
    // A worker process without a core may not answer in time.
    await until('the worker process answers', async () =>
      /isolate (starting|running)/.test(await dumpOf(child.pid ?? 0, output, () => child.exitCode !== null)),
    );
    const where = await dumpAndKill(program);
    const lines = where.split('\n').filter((line) => line.startsWith('longpole: '));
    assert.ok(lines.length <= 40, where);
    assert.match(where, /^longpole: process \d+, kept alive by \w+/m);
    assert.match(where, /^longpole: {3}never-ends is processing at worker-0$/m);
    assert.match(where, /^longpole: {3}Future\.result\(never-ends\), [\d.]+ s$/m);
    assert.match(where, /^longpole: {3}worker-0 running pid \d+; .*sent .*batch×1 /m);
  });
});

test('a dump is complete after a time limit even if a worker process does not answer', async () => {
  await using client = await connect({ workers: 1, processes: true, workerTtl: false });
  const [pid = 0] = (await client.dump()).workers.map((worker) => worker.pid);
  process.kill(pid, 'SIGSTOP');
  try {
    mock.timers.enable({ apis: ['setTimeout'] });
    const dumped = client.dump();
    mock.timers.tick(3000);
    assert.match((await dumped).brief(), /Worker worker-0 did not answer 'dump' within 3 s/);
    const again = client.dump();
    mock.timers.tick(3000);
    assert.deepEqual(
      (await again).workers.map(({ host }) => 'calls' in host && host.calls),
      [[]],
    );
  } finally {
    mock.timers.reset();
    process.kill(pid, 'SIGCONT');
  }
});

sharedClusterTest(
  'a message that a worker cannot read ends the thread, and a new thread runs the tasks',
  async ({ client, folder }) => {
    const causes: string[] = [];
    client.observe({ event: ({ topic, text }) => void (topic === 'worker-restarted' && causes.push(text)) });
    assert.equal(await client.submit(t.unreadableOnce, join(folder, 'calls')).result(), 2);
    assert.equal(causes.length, 1);
    assert.match(causes[0] ?? '', /A message to the worker could not be read: unknown object/);
  },
);
