// Workers import the file of a program that defines tasks. Its computations must run in the program only.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packageUrl, runProgram, withFolder } from './support/programs.js';

/**
 * In a worker, the module awaits the start of the task `first`, and computes while that task awaits. The task returns whether
 * this computation ended. A computation with the scheduler `sync` ends within the same turn of the event loop.
 */
const program = (how: string): string => `
  import { compute, connect, tasks } from '${packageUrl('index')}';
  import { isMainThread } from 'node:worker_threads';
  let begin;
  const begun = new Promise((resolve) => { begin = resolve; });
  let ended = false;
  const { first, second } = tasks(import.meta.url, {
    async first() {
      begin();
      await new Promise((resolve) => setImmediate(resolve));
      const [inside] = await compute(second(), { scheduler: 'sync' });
      return { ended, inside };
    },
    second: () => 2,
  });
  async function main() {
    if (!isMainThread) {
      await begun;
      await compute(second(), { scheduler: 'sync' });
      ended = true;
    }
    ${how}
  }
  main();`;

const LOCAL = `console.log(JSON.stringify(await compute(first(), { scheduler: 'threads' })));`;
const CLUSTER = `
  const client = await connect({ workers: 1 });
  console.log(JSON.stringify(await client.gather([client.submit(first)])));
  await client.close();`;

test('a worker does not repeat computations of the program that follow an await of its module', () =>
  withFolder(async (folder) => {
    for (const how of [LOCAL, CLUSTER]) {
      const { stdout, stderr } = await runProgram(folder, program(how));
      // The task itself may compute.
      assert.deepEqual([stdout, stderr], ['[{"ended":false,"inside":2}]\n', '']);
    }
  }));
