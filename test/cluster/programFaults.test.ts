// Faults that need a separate program: a module that ends its workers, an exhausted heap, a main program that is killed.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isAlive, packageUrl, runProgram, withFolder } from '../support/programs.js';
import { until } from './support.js';

test('threads: if the system refuses all threads, tasks fail with this reason, and none is blamed', async () => {
  await withFolder(async (folder) => {
    const source = `
      import { createRequire, syncBuiltinESMExports } from 'node:module';
      createRequire(import.meta.url)('node:worker_threads').Worker = class {
        constructor() {
          throw Object.assign(new Error('EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' });
        }
      };
      syncBuiltinESMExports();
      const { connect } = await import(${JSON.stringify(packageUrl('index'))});
      const client = await connect({ workers: 2 });
      await client.submit((x) => x, 1).result().catch((error) => console.log(error.code, error.message));
      await client.close();`;
    const { stdout, stderr, code } = await runProgram(folder, source);
    assert.match(
      stdout,
      /^ERR_LONGPOLE_WORKER_START Worker \S+ failed to start 10 times and is not tried again\. .* could not be started: EAGAIN\. Use fewer workers.*\n$/,
      stderr,
    );
    assert.equal(code, 0);
  });
});

for (const processes of [false, true]) {
  const kind = processes ? 'processes' : 'threads';

  test(`${kind}: a task fails with the name of its module if the module calls process.exit() when it is imported`, async () => {
    await withFolder(async (folder) => {
      const source = `
        import { isMainThread, parentPort } from 'node:worker_threads';
        import { tasks, connect } from ${JSON.stringify(packageUrl('index'))};
        if (!isMainThread) process.exit(4);
        const { one } = tasks(import.meta.url, { one: () => 1 });
        const client = await connect({ workers: 1, processes: ${processes} });
        await client.submit(one).result().catch((error) => console.log(error.code, error.message));
        await client.close();
        console.log('closed');
      `;
      const { stdout, stderr } = await runProgram(folder, source);
      assert.match(
        stdout,
        /^ERR_LONGPOLE_MODULE_TASK .*program\.mjs: process\.exit\(4\) .*\nclosed\n$/,
        stderr,
      );
    });
  });

  for (const call of ['cancel', 'release'])
    test(`${kind}: a program ends after ${call}() of its last unfinished future`, async () => {
      await withFolder(async (folder) => {
        const source = `
          import { isMainThread } from 'node:worker_threads';
          import { tasks, connect } from ${JSON.stringify(packageUrl('index'))};
          const { hang } = tasks(import.meta.url, { hang: (i) => (i > 0 ? i : new Promise((resolve) => setTimeout(resolve, 1e8))) });
          const client = await connect({ workers: 2, processes: ${processes} });
          const [last, ...others] = client.map(hang, [0, 2, 3]);
          globalThis.held = others;
          console.log(await others[0], await others[1]);
          last.${call}();
        `;
        const { stdout, code } = await runProgram(folder, source);
        assert.deepEqual([stdout, code], ['2 3\n', 0]);
      });
    });

  test(`${kind}: the error of a program is not hidden by calls of shared objects that wait when its client closes`, async () => {
    await withFolder(async (folder) => {
      const source = `
        import { connect, Event, Lock, Queue, Variable } from ${JSON.stringify(packageUrl('index'))};
        const client = await connect({ workers: 1, processes: ${processes} });
        const lock = new Lock('lock');
        try {
          await lock.acquire();
          void lock.acquire();
          void lock.hold();
          void lock.withLock(() => 1);
          void new Event('event').wait();
          void new Variable('variable').get();
          void new Queue('queue').get();
          throw new Error('that of the program');
        } finally {
          await client.close();
        }
      `;
      const { stderr, code } = await runProgram(folder, source);
      assert.match(stderr, /Error: that of the program/);
      assert.doesNotMatch(stderr, /ERR_LONGPOLE_CLOSED/);
      assert.equal(code, 1);
    });
  });

  test(`${kind}: a module of tasks can read the arguments of the program`, async () => {
    await withFolder(async (folder) => {
      const source = `
        import { basename } from 'node:path';
        import { tasks, connect } from ${JSON.stringify(packageUrl('index'))};
        const [, main, n] = process.argv;
        if (n === undefined) {
          console.log('usage: program N');
          process.exit(2);
        }
        const { double } = tasks(import.meta.url, { double: () => [2 * Number(n), basename(main)] });
        const client = await connect({ workers: 1, processes: ${processes} });
        console.log(await client.submit(double).result(), await double().compute({ scheduler: '${kind}' }));
        await client.close();
      `;
      const { stdout, stderr } = await runProgram(folder, source, { arguments: ['21'] });
      // In workers, `process.argv[1]` is a file of Longpole. So if a program checks whether it is the main module, the
      // check is false there, and a worker that imports the program does not run it again.
      assert.equal(stdout, "[ 42, 'threadMain.start.cjs' ] [ 42, 'threadMain.start.cjs' ]\n", stderr);
    });
  });

  test(`${kind}: an exhausted heap fails the task, and the cluster remains usable`, {
    timeout: 300_000,
  }, async () => {
    await withFolder(async (folder) => {
      const source = `
        import { connect } from ${JSON.stringify(packageUrl('index'))};
        const client = await connect({ workers: 1, processes: ${processes}, allowedFailures: 2 });
        // Without large arrays: if one grows by more than 16 MB at the limit, V8 aborts the process instead of the thread.
        const eat = () => { let last; for (let i = 0; ; i++) last = { i, last, list: [i] }; };
        const futures = client.map((x) => x + 1, [1, 2, 3]);
        await client.submit(eat).result().catch((error) => console.log(error.name, error.attempts));
        console.log(await client.gather(futures));
        console.log(await client.submit((x) => x + 1, 1).result());
        await client.close();
      `;
      // Worker processes inherit the limit from the arguments of the main program.
      const { stdout, code } = await runProgram(folder, source, {
        nodeArguments: ['--max-old-space-size=64'],
      });
      assert.equal(stdout, 'KilledWorkerError 2\n[ 2, 3, 4 ]\n2\n');
      assert.equal(code, 0);
    });
  });

  test(`${kind}: the workers of a killed program end, and the next program removes its files`, async () => {
    await withFolder(async (folder) => {
      const source = `
        import { connect } from ${JSON.stringify(packageUrl('index'))};
        const memory = { terminate: false };
        const client = await connect({ workers: 1, processes: ${processes}, localDirectory: process.argv[2], memoryLimit: '90 MB', memory });
        const info = client.schedulerInfo();
        const kept = client.map((n) => new Float64Array(500_000).fill(n), Array.from({ length: 20 }, (_, i) => i));
        await Promise.all(kept.map((future) => future.wait()));
        if (process.argv[3] === 'die') {
          console.log(JSON.stringify(Object.values(info.workers).map(({ pid }) => pid)));
          process.kill(process.pid, 'SIGKILL');
        }
        await client.close();
      `;
      const files = join(folder, 'files');
      mkdirSync(files);
      const { stdout, signal } = await runProgram(folder, source, { arguments: [files, 'die'] });
      assert.equal(signal, 'SIGKILL');
      const pids: unknown = JSON.parse(stdout);
      assert.ok(Array.isArray(pids));
      await until('the workers have ended', () => pids.every((pid) => !isAlive(Number(pid))));
      assert.ok(readdirSync(files).length > 0);
      await runProgram(folder, source, { arguments: [files, 'live'] });
      assert.deepEqual(readdirSync(files), []);
    });
  });
}

test('a worker process in a native call ends when the main program is killed', async () => {
  await withFolder(async (folder) => {
    const source = `
      import { existsSync } from 'node:fs';
      import { tasks, connect } from ${JSON.stringify(packageUrl('index'))};
      import { execFileSync } from 'node:child_process';
      import { writeFileSync } from 'node:fs';
      const { sleep } = tasks(import.meta.url, {
        sleep(path) { writeFileSync(path, ''); execFileSync('sleep', ['100']); },
      });
      const client = await connect({ workers: 1, processes: true });
      const [{ pid }] = Object.values(client.schedulerInfo().workers);
      const path = process.argv[2];
      client.submit(sleep, path);
      while (!existsSync(path)) await new Promise((resolve) => setTimeout(resolve, 5));
      console.log(pid);
      process.kill(process.pid, 'SIGKILL');
    `;
    const { stdout, signal } = await runProgram(folder, source, { arguments: [join(folder, 'begun')] });
    assert.equal(signal, 'SIGKILL');
    await until('the worker has ended', () => !isAlive(Number(stdout)));
  });
});

test('tasks run where native addons are forbidden', async () => {
  await withFolder(async (folder) => {
    const source = `
      import { connect } from ${JSON.stringify(packageUrl('index'))};
      const client = await connect({ workers: 1, processes: process.argv[2] === 'processes' });
      console.log(await client.submit((x) => x + 1, 1).result());
      await client.close();
    `;
    const ended = ['threads', 'processes'].map((kind) =>
      runProgram(folder, source, { nodeArguments: ['--no-addons'], arguments: [kind] }),
    );
    for (const { stdout, stderr } of await Promise.all(ended)) assert.equal(stdout, '2\n', stderr);
  });
});

test('a program whose pending calls nothing can end says which they are', async () => {
  await withFolder(async (folder) => {
    const source = `
      import { connect } from ${JSON.stringify(packageUrl('index'))};
      const client = await connect({ workers: 1, profile: false });
      const options = { resources: { GPU: 1 } };
      const first = client.submit((x) => x, 1, { key: 'first-1', ...options }).result();
      const all = client.gather([client.submit((x) => x, 2, { key: 'second-1', ...options })]);
      if (process.argv[2] === 'awaited') await Promise.all([first, all]);
      await client.submit((x) => x, 3).result();
    `;
    for (const [kind, code] of [
      ['awaited', 13],
      ['dropped', 0],
    ] as const) {
      const ended = await runProgram(folder, source, { arguments: [kind] });
      assert.equal(ended.code, code, ended.stderr);
      assert.match(ended.stderr, /LONGPOLE_PENDING_CALLS/);
      assert.match(ended.stderr, /pending: Future\.result of 'first-1', Client\.gather\. /);
    }
  });
});
