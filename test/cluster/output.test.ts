// Output and uncaught errors of tasks, as the program prints them and as the trace records them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packageUrl, runProgram, withFolder } from '../support/programs.js';

for (const processes of [false, true]) {
  const kind = processes ? 'processes' : 'threads';
  /** Returns a program that prints the first event of each topic without its stack, and ends after the last of them. */
  const program = (tasks: string, topics: readonly string[]): string => `
    import { connect } from ${JSON.stringify(packageUrl('index'))};
    const client = await connect({ workers: 1, processes: ${processes}, allowedFailures: 1 });
    const wanted = new Set(${JSON.stringify(topics)});
    const { promise, resolve } = (() => { let resolve; const promise = new Promise((r) => { resolve = r; }); return { promise, resolve }; })();
    client.observe({ event({ topic, text }) {
      if (!wanted.delete(topic)) return;
      console.log('event', topic, text.split('\\n')[0]);
      if (wanted.size === 0) resolve();
    } });
    ${tasks}
    // An idle cluster does not keep the program alive.
    const alive = setInterval(() => undefined, 1e6);
    await promise;
    clearInterval(alive);
    await client.close();
  `;

  test(`${kind}: an unhandled rejection of a task is printed on stderr and recorded with the task`, async () => {
    await withFolder(async (folder) => {
      const source = program(
        `const failed = client.submit(function forgets() {
          Promise.reject(new Error('lost promise'));
          return new Promise(() => setInterval(() => undefined, 1e6));
        }, { key: 'forgets-1' });
        const error = await failed.exception();
        console.log('error', error.message);
        console.log('cause', String(error.cause));`,
        ['uncaught-error'],
      );
      const { stdout, stderr } = await runProgram(folder, source);
      assert.match(
        stdout,
        /^error .*worker-0: An error was not caught: Error: lost promise\. Await every promise .*\ncause Error: lost promise$/m,
      );
      assert.match(stdout, /^event uncaught-error \[forgets-1\] Error: lost promise$/m);
      assert.match(
        stderr,
        /^longpole: unhandled rejection in \S+, caused by a task of 'forgets':\nError: lost promise$/m,
      );
      assert.match(stderr, /^ {4}at forgets /m);
      assert.doesNotMatch(stderr, /isolateRun|evaluator/);
    });
  });

  test(`${kind}: an error that a timer of a task throws after the end of the task names the task`, async () => {
    await withFolder(async (folder) => {
      const source = program(
        `await client.submit(function leaves() { setTimeout(() => { throw new Error('late'); }, 50); return 1; }, { key: 'leaves-1' }).result();`,
        ['uncaught-error'],
      );
      const { stdout, stderr } = await runProgram(folder, source);
      assert.match(stdout, /^event uncaught-error .*Error: late$/m);
      assert.match(stderr, /^longpole: uncaught error in \S+, caused by a task of 'leaves':\nError: late$/m);
    });
  });

  test(`${kind}: the output of tasks is printed and recorded with the task`, async () => {
    await withFolder(async (folder) => {
      const source = program(
        `await client.submit(async function prints() {
          console.log('first\\nsecond');
          await undefined;
          console.error('third');
        }, { key: 'prints-1' }).result();`,
        ['stdout', 'stderr'],
      );
      const { stdout, stderr } = await runProgram(folder, source);
      assert.match(stdout, /^event stdout \[prints-1\] first$/m);
      assert.match(stdout, /^event stderr \[prints-1\] third$/m);
      assert.match(stdout, /^first\nsecond$/m);
      assert.match(stderr, /^third$/m);
    });
  });
}

test('local threads: an unhandled rejection of a task is printed on stderr', async () => {
  await withFolder(async (folder) => {
    const source = `
      import { delayed } from ${JSON.stringify(packageUrl('index'))};
      const forgets = delayed(() => { Promise.reject(new Error('lost promise')); return new Promise(() => setInterval(() => undefined, 1e6)); });
      await forgets().compute({ numWorkers: 1, allowedFailures: 1 }).catch((error) => console.log(error.code));
    `;
    const { stdout, stderr } = await runProgram(folder, source);
    assert.equal(stdout, 'ERR_LONGPOLE_KILLED_WORKER\n');
    assert.match(stderr, /^longpole: unhandled rejection in threads-0:\nError: lost promise$/m);
  });
});
