// A task that exceeds the memory limit of its worker, and a client that gathers more than its heap holds: each gets an
// error that names the limit and the key, and the cluster remains usable.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KilledWorkerError } from 'longpole';
import { packageUrl, runProgram, withFolder } from '../support/programs.js';
import { t } from './clusterTasks.js';
import { clusterTest, KINDS } from './support.js';

const LIMITED = (processes: boolean) => ({
  workers: 1,
  memoryLimit: processes ? 262e6 : 120e6,
  allowedFailures: 1,
});

clusterTest(
  'a task that exceeds the memory limit while it runs is ended, and its error names the limit',
  async ({ client, folder, processes }) => {
    for (const kind of ['heap', 'buffers'] as const) {
      const future = client.submit(t.hoard, kind, 600, folder, { key: `large-${kind}` });
      const error = await future.exception();
      assert.ok(error instanceof KilledWorkerError, String(error));
      assert.equal(error.attempts, 1);
      assert.ok(error.message.includes(`Task 'large-${kind}' (function hoard)`), error.message);
      assert.match(error.message, processes ? /memory.* 262 MB/ : /memory.* 120 MB/);
    }
    assert.equal(await client.submit(t.inc, 1).result(), 2);
  },
  LIMITED,
);

for (const kind of KINDS) {
  test(`${kind}: gathering more than the heap of the client holds is an error, and the results stay`, () =>
    withFolder(async (folder) => {
      const source = `
        import { connect } from '${packageUrl('index')}';
        const client = await connect({ workers: 1, processes: ${kind === 'processes'} });
        const text = (megabytes, letter) => Buffer.alloc(megabytes * 2 ** 20, letter).toString('latin1');
        const futures = client.map(text, Array(20).fill(8), Array.from({ length: 20 }, (_, index) => String(index % 10)), { key: 'text' });
        const { code, message } = await client.gather(futures).then(() => ({}), (error) => error);
        const last = await futures.at(-1).result();
        console.log(JSON.stringify({ code, message, last: last.length }));
        await client.close();
      `;
      const nodeArguments = ['--max-old-space-size=128'];
      const { code, stdout, stderr } = await runProgram(folder, source, { nodeArguments });
      assert.equal(code, 0, stderr);
      const report = JSON.parse(stdout);
      assert.equal(report.code, 'ERR_LONGPOLE_MEMORY_LIMIT');
      assert.match(
        report.message,
        /^The result 'text-\d+' of 8\.4 MB does not fit into the heap .*--max-old-space-size/,
      );
      assert.equal(report.last, 8 * 2 ** 20);
    }));
}
