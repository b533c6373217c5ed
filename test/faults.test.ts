// Workers that die, tasks that fail and programs that end early: every run ends, and the next run works.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { KilledWorkerError, literal } from 'longpole';
import { getThreaded } from 'longpole/local';
import { isAlive, packageUrl, runProgram, withFolder } from './support/programs.js';
import { MULTIPROCESSING, PARALLEL } from './support/schedulers.js';

const inc = (x: number): number => x + 1;

for (const { name, get } of PARALLEL) {
  test(`${name}: a task that calls process.exit() runs three times and then fails`, async () => {
    await withFolder(async (folder) => {
      const file = join(folder, 'attempts');
      const exit = async (path: string): Promise<never> => {
        const { appendFileSync } = await import('node:fs');
        appendFileSync(path, 'x');
        return process.exit(3);
      };
      const error = await get({ a: [inc, 1], b: [exit, literal(file)], c: [inc, 'b'] }, ['a', 'c']).then(
        () => assert.fail('the run did not fail'),
        (thrown: unknown) => thrown,
      );
      assert.ok(error instanceof KilledWorkerError);
      assert.equal(error.code, 'ERR_LONGPOLE_KILLED_WORKER');
      assert.equal(error.key, 'b');
      assert.equal(error.attempts, 3);
      assert.match(error.message, /exit code 3/);
      assert.equal(readFileSync(file, 'utf8'), 'xxx');
      assert.equal(await get({ a: [inc, 1] }, 'a'), 2);
    });
  });

  test(`${name}: allowedFailures limits the number of workers that a task may kill`, async () => {
    const exit = (): never => process.exit(1);
    await assert.rejects(get({ a: [exit] }, 'a', { allowedFailures: 1 }), {
      attempts: 1,
      message: /was running 1 time when/,
    });
  });

  test(`${name}: a dead worker's results are computed again if a task needs them`, async () => {
    await withFolder(async (folder) => {
      const marker = join(folder, 'died');
      const make = (x: number): number[] => [x, x];
      const dieOnce = async (path: string, xs: number[], i: number): Promise<number> => {
        const { existsSync, writeFileSync } = await import('node:fs');
        if (i === 150 && !existsSync(path)) {
          writeFileSync(path, '');
          process.exit(1);
        }
        return xs[0]! + xs[1]!;
      };
      const graph: Record<string, unknown> = {};
      for (let i = 0; i < 300; i++) {
        graph[`made${i}`] = [make, i];
        graph[`used${i}`] = [dieOnce, literal(marker), `made${i}`, i];
      }
      const keys = Array.from({ length: 300 }, (_unused, i) => `used${i}`);
      assert.deepEqual(
        await get(graph, keys),
        keys.map((_key, i) => 2 * i),
      );
      assert.ok(existsSync(marker));
    });
  });

  test(`${name}: a task that exhausts the heap fails with a KilledWorkerError`, async () => {
    await withFolder(async (folder) => {
      const source = `
        import { ${name} } from ${JSON.stringify(packageUrl('local'))};
        // Without large arrays: if one grows by more than 16 MB at the limit, V8 aborts the process instead of the thread.
        const eat = () => { let last; for (let i = 0; ; i++) last = { i, last, list: [i] }; };
        const inc = (x) => x + 1;
        const graph = { a: [inc, 1], b: [eat] };
        await ${name}(graph, ['a', 'b'], { numWorkers: 2 }).catch((error) => console.log(error.name, error.key, error.attempts));
        console.log(await ${name}(graph, 'a', { numWorkers: 2 }));
      `;
      const { stdout, code } = await runProgram(folder, source, {
        nodeArguments: ['--max-old-space-size=64'],
      });
      assert.equal(stdout, 'KilledWorkerError b 3\n2\n');
      assert.equal(code, 0);
    });
  });

  test(`${name}: a task fails with the name of its module if the module calls process.exit() when it is imported`, async () => {
    await withFolder(async (folder) => {
      const source = `
        import { isMainThread } from 'node:worker_threads';
        import { tasks } from ${JSON.stringify(packageUrl('index'))};
        import { ${name} } from ${JSON.stringify(packageUrl('local'))};
        if (!isMainThread) process.exit(4);
        const { one } = tasks(import.meta.url, { one: () => 1 });
        await ${name}({ a: [one] }, 'a', { numWorkers: 2 }).catch((error) => console.log(error.code, error.message));
      `;
      const { stdout, stderr } = await runProgram(folder, source);
      assert.match(
        stdout,
        /^ERR_LONGPOLE_MODULE_TASK .*program\.mjs: process\.exit\(4\) was called while a worker imported/,
        stderr,
      );
    });
  });

  test(`${name}: an uncaught exception outside a task ends the worker, not the run`, async () => {
    await withFolder(async (folder) => {
      const marker = join(folder, 'thrown');
      const throwOnce = async (path: string): Promise<string> => {
        const { existsSync, writeFileSync } = await import('node:fs');
        if (existsSync(path)) return 'second time';
        writeFileSync(path, '');
        setImmediate(() => {
          throw new Error('outside');
        });
        return new Promise(() => undefined);
      };
      assert.equal(await get({ a: [throwOnce, literal(marker)] }, 'a'), 'second time');
    });
  });

  test(`${name}: pretask is called for a long task while the task runs, even directly after a short task`, async () => {
    await withFolder(async (folder) => {
      const { writeFileSync } = await import('node:fs');
      const wait = (path: string): boolean => {
        const { existsSync } = process.getBuiltinModule('node:fs');
        while (!existsSync(path));
        return true;
      };
      for (let round = 0; round < 5; round++) {
        const file = join(folder, `seen${round}`);
        const pretask = (key: string): void => {
          if (key === 'long') writeFileSync(file, '');
        };
        const graph = { short: [inc, 1], long: [wait, literal(file), 'short'] };
        assert.equal(await get(graph, 'long', { callbacks: { pretask } }), true);
      }
    });
  });

  test(`${name}: a failed run stops the tasks that it has sent, and the next run uses its workers`, async () => {
    const fail = (): never => {
      throw new Error('no');
    };
    const graph: Record<string, unknown> = { bad: [fail] };
    for (let i = 0; i < 5000; i++) graph[`t${i}`] = [inc, i];
    for (let round = 0; round < 3; round++)
      await assert.rejects(get(graph, Object.keys(graph)), { code: 'ERR_LONGPOLE_TASK', key: 'bad' });
    assert.equal(await get({ a: [inc, 1] }, 'a'), 2);
  });

  test(`${name}: a finished task is reported while the next task of its batch computes`, async () => {
    // The last of many short tasks ends only when the caller has received the result of the task before it.
    await withFolder(async (folder) => {
      const seen = join(folder, 'seen');
      const work = (i: number, last: boolean, path: string): string => {
        if (last) {
          const { existsSync } = process.getBuiltinModule('node:fs');
          while (!existsSync(path));
        }
        return `result ${i}`;
      };
      const graph: Record<string, unknown> = {};
      const count = 400;
      for (let i = 0; i < count; i++) graph[`t${i}`] = [work, i, i === count - 1, literal(seen)];
      const { writeFileSync } = await import('node:fs');
      let finished = 0;
      const posttask = (): void => {
        finished++;
        if (finished === count - 1) writeFileSync(seen, '');
      };
      const results = await get(graph, Object.keys(graph), { numWorkers: 1, callbacks: { posttask } });
      assert.deepEqual(
        results,
        Array.from({ length: count }, (_unused, i) => `result ${i}`),
      );
    });
  });

  test(`${name}: a program ends after its run, and can call process.exit() during the run`, async () => {
    await withFolder(async (folder) => {
      const head = `
        import { ${name} } from ${JSON.stringify(packageUrl('local'))};
        const spin = () => { for (;;); };
        const inc = (x) => x + 1;
      `;
      const done = await runProgram(folder, `${head} console.log(await ${name}({ a: [inc, 1] }, 'a'));`);
      assert.deepEqual([done.code, done.stdout, done.stderr], [0, '2\n', '']);
      const early = `${head}
        ${name}({ a: [spin] }, 'a', { callbacks: { pretask: () => process.exit(7) } });`;
      assert.equal((await runProgram(folder, early)).code, 7);
    });
  });
}

test('getMultiprocessing: a process that is killed by a signal is replaced, and its task runs again', async () => {
  const { get } = MULTIPROCESSING;
  await withFolder(async (folder) => {
    const marker = join(folder, 'killed');
    const killOnce = async (path: string, x: number): Promise<number> => {
      const { existsSync, writeFileSync } = await import('node:fs');
      if (!existsSync(path)) {
        writeFileSync(path, '');
        process.kill(process.pid, 'SIGKILL');
      }
      return x + 1;
    };
    const graph: Record<string, unknown> = { killer: [killOnce, literal(marker), 1] };
    for (let i = 0; i < 200; i++) graph[`t${i}`] = [inc, 'killer'];
    const keys = Object.keys(graph);
    assert.deepEqual(
      await get(graph, keys),
      keys.map((key) => (key === 'killer' ? 2 : 3)),
    );
    const kill = (): boolean => process.kill(process.pid, 'SIGKILL');
    await assert.rejects(get({ a: [kill] }, 'a'), {
      code: 'ERR_LONGPOLE_KILLED_WORKER',
      key: 'a',
      attempts: 3,
    });
  });
});

test('getMultiprocessing: the worker processes end when the main program is killed', async () => {
  await withFolder(async (folder) => {
    const source = `
      import { getMultiprocessing } from ${JSON.stringify(packageUrl('local'))};
      const spin = (path) => {
        process.getBuiltinModule('node:fs').appendFileSync(path, process.pid + '\\n');
        for (;;);
      };
      const graph = { a: [spin, process.argv[2]], b: [spin, process.argv[2]] };
      const { watch, readFileSync, existsSync } = await import('node:fs');
      getMultiprocessing(graph, ['a', 'b'], { numWorkers: 2 });
      setInterval(() => {
        if (existsSync(process.argv[2]) && readFileSync(process.argv[2], 'utf8').split('\\n').length > 2) process.kill(process.pid, 'SIGKILL');
      }, 10);
    `;
    const file = join(folder, 'pids');
    const ended = await runProgram(folder, source, { arguments: [file] });
    assert.equal(ended.signal, 'SIGKILL');
    const pids = readFileSync(file, 'utf8').trim().split('\n').map(Number);
    const deadline = Date.now() + 200_000;
    while (pids.some(isAlive)) {
      assert.ok(Date.now() < deadline, `still alive: ${pids.filter(isAlive)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
});

test('getMultiprocessing: no task is to blame for processes that do not start', async () => {
  await withFolder(async (folder) => {
    const source = `
      import { getMultiprocessing } from ${JSON.stringify(packageUrl('local'))};
      process.env.NODE_OPTIONS = '--import=data:text/javascript,process.exit(7)';
      const error = await getMultiprocessing({ a: [(x) => x, 1] }, 'a').catch((thrown) => thrown);
      console.log(error.code, error.message);
    `;
    const { stdout } = await runProgram(folder, source);
    assert.match(stdout, /^ERR_LONGPOLE_WORKER_START .*exit code 7/);
  });
});

test('getThreaded: results are reported while a usually short function takes long', async () => {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const work = (i: number, gate: Int32Array | null): string => {
    if (gate !== null) while (Atomics.load(gate, 0) === 0);
    return `result ${i}`;
  };
  const graph: Record<string, unknown> = {};
  const count = 2000;
  for (let i = 0; i < count; i++) graph[`t${i}`] = [work, i, literal(i === count - 1 ? cell : null)];
  let finished = 0;
  const posttask = (): void => {
    finished++;
    if (finished === count - 1) Atomics.store(cell, 0, 1);
  };
  const results = await getThreaded<string[]>(graph, Object.keys(graph), {
    numWorkers: 1,
    callbacks: { posttask },
  });
  assert.equal(results.at(-1), `result ${count - 1}`);
});
