// What the code of tasks says beside its results: where the user reads it, and in the trace with the task.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packageUrl, runProgram, withFolder } from '../support/programs.js';

for (const processes of [false, true]) {
  const kind = processes ? 'processes' : 'threads';
  /** Prints the events with the topic, as `topic text` without stacks, once the wanted number is there. */
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
    // A cluster in which nothing runs does not keep the program alive.
    const alive = setInterval(() => undefined, 1e6);
    await promise;
    clearInterval(alive);
    await client.close();
  `;

  test(`${kind}: a promise that a task rejects and does not await is on stderr and in the trace, with the task`, async () => {
    await withFolder(async (folder) => {
      const source = program(
        `const failed = client.submit(function forgets() {
          Promise.reject(new Error('lost promise'));
          return new Promise(() => setInterval(() => undefined, 1e6));
        }, { key: 'forgets-1' });
        await failed.wait();`,
        ['uncaught-error'],
      );
      const { stdout, stderr } = await runProgram(folder, source);
      assert.match(stdout, /^event uncaught-error \[forgets-1\] Error: lost promise$/m);
      assert.match(
        stderr,
        /^longpole: unhandled rejection in \S+, caused by a task of 'forgets':\nError: lost promise$/m,
      );
    });
  });

  test(`${kind}: an error that a task throws from a timer after its end names that task`, async () => {
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

  test(`${kind}: what tasks print is printed, and is in the trace with its task`, async () => {
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

test('local threads: an error that a task does not catch is on stderr', async () => {
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
