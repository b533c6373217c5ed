// Errors of a program remain visible when its client closes.
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Client, connect, LocalCluster, performanceReport } from 'longpole';
import { packageUrl, runProgram, withFolder } from '../support/programs.js';
import { t } from './clusterTasks.js';
import { codeOf } from './sharedObjects.js';
import { KINDS, rejection, started, until } from './support.js';

/** A program with one pending call of each kind. */
const PENDING = `
  import { compute, connect, delayed } from ${JSON.stringify(packageUrl('index'))};
  const never = () => new Promise(() => setInterval(() => undefined, 1e6));
  const client = await connect({ workers: 1 });
  const future = client.submit(never);
  const pending = [
    future.result(),
    client.gather([future]),
    client.compute(delayed(never)()),
    client.get({ a: [never] }, 'a'),
    compute(delayed(never)()),
    delayed(never)().compute(),
  ];
`;

test('an error of the program is printed although its client closes with pending calls', async () => {
  await withFolder(async (folder) => {
    const { code, stderr } = await runProgram(
      folder,
      `${PENDING}
      try {
        JSON.parse('{mistake');
      } finally {
        await client.close();
      }`,
    );
    assert.match(stderr, /SyntaxError/);
    assert.doesNotMatch(stderr, /ERR_LONGPOLE/);
    assert.equal(code, 1);
  });
});

test('an error of the program is printed although promises derived from a future are pending when its client closes', async () => {
  await withFolder(async (folder) => {
    const { stderr } = await runProgram(
      folder,
      `${PENDING}
      future.then(console.log);
      future.catch((error) => { throw error; });
      future.finally(() => undefined);
      try {
        JSON.parse('{mistake');
      } finally {
        await client.close();
      }`,
    );
    assert.match(stderr, /SyntaxError/);
    assert.doesNotMatch(stderr, /ERR_LONGPOLE/);
  });
});

test('an error that a callback of a future throws is not hidden by the end of its client', async () => {
  await withFolder(async (folder) => {
    const { code, stderr } = await runProgram(
      folder,
      `import { connect } from ${JSON.stringify(packageUrl('index'))};
      const client = await connect({ workers: 1 });
      const future = client.submit(() => 1);
      const closed = future.then(() => client.close());
      future.then(async () => { await closed; throw new Error('of the program'); });
      await closed;
      await new Promise(() => setInterval(() => undefined, 1e6));`,
    );
    assert.match(stderr, /of the program/);
    assert.equal(code, 1);
  });
});

test('pending calls reject when their client closes, and their errors name the closed client or cluster', async () => {
  await withFolder(async (folder) => {
    const { code, stdout, stderr } = await runProgram(
      folder,
      `${PENDING}
      const ends = Promise.allSettled([...pending, client.run(never)]);
      await client.close();
      for (const { status, reason } of await ends) console.log(status, reason.code, reason.message.slice(0, 22));`,
    );
    assert.equal(stderr, '');
    const lines = stdout.trimEnd().split('\n');
    assert.equal(lines.length, 7);
    for (const line of lines)
      assert.match(line, /^rejected ERR_LONGPOLE_CLOSED The (client|cluster) (was|is) closed/);
    assert.equal(code, 0);
  });
});

test('the failure of a task ends the program if the program does not handle the failure', async () => {
  await withFolder(async (folder) => {
    const source = `
      import { connect } from ${JSON.stringify(packageUrl('index'))};
      const client = await connect({ workers: 1 });
      client.submit(() => { throw new Error('boom'); }).result();
      await new Promise(() => setInterval(() => undefined, 1e6));
    `;
    const { code, stderr } = await runProgram(folder, source);
    assert.match(stderr, /boom/);
    assert.equal(code, 1);
  });
});

test('a close records the tasks that it ends before they have ended', async () => {
  await withFolder(async (folder) => {
    const texts: string[] = [];
    const cluster = await LocalCluster.start({ workers: 1 });
    cluster.engine.observe({
      event: ({ topic, text }) => void (topic === 'tasks-cut-off' && texts.push(text)),
    });
    const [first, second] = [
      await connect(cluster, { setAsDefault: false }),
      await connect(cluster, { setAsDefault: false }),
    ];
    const held = first.submit(t.holdAsync, folder, 'a', 1);
    await started(folder, 'a');
    const next = first.map(t.inc, [held, held]);
    const ends = Promise.allSettled([...next, held].map((future) => future.result()));
    const shared = second.submit(t.holdAsync, folder, 'b', 1, { key: 'shared' });
    // The submissions of a turn are sent at its end.
    await new Promise((resolve) => setImmediate(resolve));
    first.submit(t.holdAsync, folder, 'b', 1, { key: 'shared' });
    await first.close();
    // The task of the other client continues.
    assert.deepEqual(texts, ['3 tasks had not ended when the client closed: 1 holdAsync, 2 inc.']);
    assert.equal(shared.status, 'pending');
    await cluster.close();
    assert.deepEqual(texts.slice(1), ['1 task had not ended when the cluster closed: 1 shared.']);
    await ends;
    await second.close();
  });
});

test('a cluster that cannot start leaves no worker process', async () => {
  const start = LocalCluster.start({ workers: 2, processes: true, localDirectory: '/dev/null/files' });
  await assert.rejects(start, { code: 'ERR_LONGPOLE_LOCAL_DIRECTORY' });
  await until('the processes have ended', () => !process.getActiveResourcesInfo().includes('ProcessWrap'));
});

test('a TMPDIR that cannot be used is an error with a code and advice, with threads and with processes', async () => {
  await withFolder(async (folder) => {
    // A socket cannot have a path in this folder, so that its directory is in TMPDIR.
    const long = join(folder, 'x'.repeat(120));
    const { stdout, stderr } = await runProgram(
      folder,
      `import { connect } from ${JSON.stringify(packageUrl('index'))};
      process.env.TMPDIR = ${JSON.stringify(join(folder, 'program.mjs'))};
      for (const localDirectory of [undefined, ${JSON.stringify(long)}])
        for (const processes of [false, true]) {
          const started = connect({ workers: 1, processes, localDirectory, dashboard: false });
          console.log(await started.then((client) => client.close().then(() => 'started'), ({ code }) => code));
        }`,
    );
    const local = 'ERR_LONGPOLE_LOCAL_DIRECTORY';
    assert.equal(stdout, `${local}\n${local}\nstarted\nERR_LONGPOLE_WORKER_START\n`, stderr);
    assert.match(
      stderr,
      /^LongpoleError: .* too long for a socket, .* Pass a shorter localDirectory, or set TMPDIR /m,
    );
    assert.match(stderr, new RegExp(`code: '${local}'`));
    assert.doesNotMatch(stderr, /^Error: /m);
  });
});

/** Starts a recording that cannot be written. */
function recordUnwritable(client: Client, folder: string): () => Promise<void> {
  const directory = join(folder, 'recorded.trace');
  const stop = client.record(directory);
  rmSync(directory, { recursive: true });
  writeFileSync(directory, '');
  return stop;
}

for (const kind of KINDS)
  test(`${kind}: a cluster ends its workers although a recording of it cannot be written`, async () => {
    await withFolder(async (folder) => {
      const client = await connect({ workers: 1, processes: kind === 'processes' }, { setAsDefault: false });
      const ended: string[] = [];
      client.observe({ workerRemoved: ({ name }) => ended.push(name) });
      recordUnwritable(client, folder);
      assert.equal(await client.submit(t.inc, 1), 2);
      assert.equal(codeOf(await rejection(client.close())), 'ERR_LONGPOLE_TRACE_FILE');
      assert.deepEqual(ended, ['worker-0']);
    });
  });

test('a client whose closing step fails still ends its cluster', async () => {
  const client = await connect({ workers: 1 }, { setAsDefault: false });
  const ended: string[] = [];
  client.observe({ workerRemoved: ({ name }) => ended.push(name) });
  client.onClose(() => assert.fail('The step fails.'));
  await assert.rejects(client.close(), /The step fails/);
  assert.deepEqual(ended, ['worker-0']);
});

test('a recording that has ended with an error does not fail the close of its cluster', async () => {
  await withFolder(async (folder) => {
    const client = await connect({ workers: 1 }, { setAsDefault: false });
    const stop = recordUnwritable(client, folder);
    assert.equal(codeOf(await rejection(stop())), 'ERR_LONGPOLE_TRACE_FILE');
    await client.close();
  });
});

test('performanceReport throws the error of its function, also if the page cannot be written', async () => {
  await withFolder(async (folder) => {
    await using client = await connect({ workers: 1 }, { setAsDefault: false });
    const error = new Error('of the function');
    const reported = performanceReport({ client, filename: folder }, () => {
      throw error;
    });
    assert.equal(await rejection(reported), error);
  });
});
