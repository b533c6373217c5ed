// A real Dask cluster, watched: the trace has what Dask counted, and nothing stays on the cluster. Skipped where no Python has
// distributed; recordedRows.test.ts checks the same of a recorded one.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { after, describe, it, type TestContext } from 'node:test';
import { observeDask, openTrace } from 'longpole/trace';
import { repositoryPath } from '../support/repository.js';
import { assertBelievable, assertCounted } from './counted.js';
import { NO_PYTHON, nothingLeft, python, Workload } from './realCluster.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-dask-'));
after(() => rmSync(folder, { recursive: true }));

/** The cluster of one thread a worker that most tests share: Python takes seconds to start one. */
let shared: Promise<Workload> | undefined;
after(async () => (await shared)?.[Symbol.asyncDispose]());

const withSharedCluster =
  (test: (cluster: Workload, python: string) => Promise<void>) =>
  async (context: TestContext): Promise<void> => {
    if (python === undefined) return context.skip(NO_PYTHON);
    shared ??= new Workload(python, 1).start();
    await test(await shared, python);
  };

function longpoleDask(command: string, args: readonly string[], name: string): ChildProcess {
  return spawn(
    process.execPath,
    [repositoryPath('dist/cli/main.js'), 'dask', command, ...args, '--python', name],
    {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
}

/** Until a process has said something that matches. */
async function says(stream: Readable, pattern: RegExp): Promise<string> {
  let text = '';
  for await (const chunk of stream.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    text += chunk;
    if (pattern.test(text)) return text;
  }
  throw new Error(`It ended and said: ${text}`);
}

describe('a Dask cluster', () => {
  // First: workers count their transfers from their start.
  it(
    'is recorded with what it counted itself, until Ctrl-C',
    withSharedCluster(async (cluster, name) => {
      const child = longpoleDask('record', [cluster.address, '-o', 'one.trace'], name);
      assert.match(await says(child.stderr!, /Ctrl-C/), /2 workers/);
      const counted = await cluster.run();
      child.kill('SIGINT');
      const [code] = await once(child, 'close');
      assert.equal(code, 0);
      const trace = openTrace(join(folder, 'one.trace'));
      assert.equal(trace.damage, undefined);
      assertCounted(trace, counted);
      assertBelievable(trace);
      await nothingLeft(cluster);
    }),
  );

  it('is watched with several threads a worker, and while it works already', async (context) => {
    if (python === undefined) return context.skip(NO_PYTHON);
    await using cluster = await new Workload(python, 2).start();
    const running = cluster.run();
    await using dask = await observeDask(cluster.address, { python });
    await running;
    const counted = await cluster.run();
    assert.equal(await dask.close(), 'asked');
    const { tasks } = dask.trace;
    assert.ok(tasks.length >= counted.tasks);
    assert.deepEqual([...new Set(tasks.thread)].sort(), [0, 1]);
    assert.equal(dask.facts['Scheduler'], cluster.address);
    await nothingLeft(cluster);
  });

  it(
    'has its dashboard, and is left as it was when the watcher is killed',
    withSharedCluster(async (cluster, name) => {
      const child = longpoleDask('attach', [cluster.address, '--no-open', '--port', '0'], name);
      const link = (await says(child.stdout!, /\n/)).trim();
      await cluster.run();
      const metrics = await (await fetch(new URL('/metrics', link))).text();
      assert.match(metrics, /dask_worker_tasks\{[^}]*\} \d/);
      assert.match(metrics, /dask_scheduler_workers\{[^}]*\} 2/);
      const page = await fetch(link);
      assert.equal(page.status, 200);
      assert.ok((await cluster.left()).names.length > 0);
      child.kill('SIGKILL');
      await once(child, 'close');
      await nothingLeft(cluster);
    }),
  );

  it(
    'is left as it was when the bridge is killed',
    withSharedCluster(async (cluster, name) => {
      const bridge = spawn(name, ['-m', 'longpole_dask', cluster.address], {
        stdio: ['pipe', 'pipe', 'ignore'],
        env: { ...process.env, PYTHONPATH: repositoryPath('python') },
      });
      await once(bridge.stdout, 'data');
      assert.ok((await cluster.left()).names.length > 0);
      bridge.kill('SIGKILL');
      await once(bridge, 'close');
      await nothingLeft(cluster);
    }),
  );

  // Last: it ends the cluster.
  it(
    'ends the report when it goes',
    withSharedCluster(async (cluster, name) => {
      const child = longpoleDask('report', [cluster.address, '-o', 'one.html'], name);
      await says(child.stderr!, /Ctrl-C/);
      const counted = await cluster.run();
      await cluster[Symbol.asyncDispose]();
      const [code] = await once(child, 'close');
      assert.equal(code, 0);
      const trace = openTrace(join(folder, 'one.html'));
      assert.ok(trace.tasks.length >= counted.tasks);
    }),
  );
});
