// A real Dask cluster, observed: the trace agrees with Dask's counts, and nothing stays on the cluster. Skipped if no
// Python has distributed. recordedRows.test.ts checks the same with the recorded rows of a real cluster.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { criticalPath, failedTasks, skippedTasks, workerShares } from 'longpole/analysis';
import { openTrace } from 'longpole/trace';
import { stolenWork } from '#internal/analysis/stolenWork.js';
import { TASK_CANCELLED } from '#internal/protocol/clusterObserver.js';
import { TASK_FAILED } from '#internal/protocol/eventTopics.js';
import { repositoryPath } from '../support/repository.js';
import { changedPython } from './changedPython.js';
import { assertCounted, assertPlausible } from './counted.js';
import { outputWith, useLongpoleDask } from './longpoleDask.js';
import { nothingLeft, sharedCluster } from './realCluster.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-dask-'));
after(() => rmSync(folder, { recursive: true }));
const { longpoleDask, started } = useLongpoleDask(folder);

const withSharedCluster = sharedCluster(1);

describe('a Dask cluster', () => {
  // This test must be the first, because workers count their transfers from their start.
  it(
    'is recorded until Ctrl-C, and the trace agrees with its own counts',
    withSharedCluster(async (cluster) => {
      const child = longpoleDask('record', [cluster.address, '-o', 'one.trace'], cluster.python);
      assert.match(await outputWith(child.stderr!, /Ctrl-C/), /2 workers/);
      const counted = await cluster.run();
      child.kill('SIGINT');
      const [code] = await once(child, 'close');
      assert.equal(code, 0);
      const trace = openTrace(join(folder, 'one.trace'));
      assert.equal(trace.damage, undefined);
      assertCounted(trace, counted);
      assertPlausible(trace);
      const [failed] = failedTasks(trace);
      assert.match(failed?.key ?? '', /^fail-/);
      assert.equal(failed?.error, "ValueError('boom 3')");
      const event = trace.events.topic.findIndex((topic) => trace.strings.get(topic) === TASK_FAILED);
      assert.match(
        trace.strings.get(trace.events.text[event]!),
        /^Task 'fail-.*' \(function fail, worker [01]\) failed\. ValueError\('boom 3'\)\n/,
      );
      await nothingLeft(cluster);
    }),
  );

  it(
    'has a complete trace when the terminal of `longpole dask record` closes',
    withSharedCluster(async (cluster, name) => {
      const child = longpoleDask('record', [cluster.address, '-o', 'hangup.trace'], name, true);
      await outputWith(child.stderr!, /Ctrl-C/);
      // Nothing can be written to a terminal that has closed.
      child.stderr!.destroy();
      // The system sends the signal to every process of the terminal, also to the bridge.
      process.kill(-child.pid!, 'SIGHUP');
      assert.deepEqual(await once(child, 'close'), [0, null]);
      assert.equal(openTrace(join(folder, 'hangup.trace')).damage, undefined);
      await nothingLeft(cluster);
    }),
  );

  it(
    'is not recorded any longer if the trace cannot be written',
    withSharedCluster(async (cluster, name) => {
      const command = [process.execPath, repositoryPath('dist/bundle/main.js'), 'dask', 'record'];
      const limited = ['-c', 'trap "" XFSZ; ulimit -f 8; exec "$0" "$@"', ...command];
      const child = spawn('bash', [...limited, cluster.address, '-o', 'full.trace', '--python', name], {
        cwd: folder,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      started.push(child);
      await outputWith(child.stderr!, /Ctrl-C/);
      const ended = Promise.all([
        outputWith(child.stderr!, /full\.trace.* cannot be written/),
        once(child, 'close'),
      ]);
      await cluster.run();
      const [, [code]] = await ended;
      assert.equal(code, 1);
      await nothingLeft(cluster);
    }),
  );

  it(
    'can be observed when it runs tasks and others wait, which were submitted at an unknown time before',
    withSharedCluster(async (cluster) => {
      const { tasks: submitted } = await cluster.ask<{ tasks: number }>('fill');
      await using dask = await cluster.observe();
      await cluster.ask('drain');
      await dask.close();
      const { tasks, computations } = dask.trace;
      assert.deepEqual([tasks.length, computations.length], [submitted, 1]);
      assert.ok(tasks.submitted.every(Number.isNaN));
      assert.ok(!criticalPath(dask.trace).byKind.some(({ kind }) => kind === 'client time'));
      assert.ok(workerShares(dask.trace).every(({ busy }) => busy <= 1));
      await nothingLeft(cluster);
    }),
  );

  it(
    'can be observed if the scheduler gives its rows in many parts',
    withSharedCluster(async (cluster, name) => {
      const wrapper = changedPython(join(folder, 'few-rows'), name, {
        'scheduler_tap.MAX_TAKEN': 3,
        'bridge.WORKER_SECONDS': 20,
      });
      const { tasks: submitted } = await cluster.ask<{ tasks: number }>('fill');
      await using dask = await cluster.observe(wrapper);
      await cluster.ask('drain');
      assert.equal(await dask.close(), 'asked');
      assert.equal(dask.trace.tasks.length, submitted);
      await nothingLeft(cluster);
    }),
  );

  it(
    'has no more threads in its trace than its workers have slots, although long-running tasks keep their threads',
    withSharedCluster(async (cluster) => {
      await using dask = await cluster.observe();
      const { away, others } = await cluster.ask<{ away: number; others: number }>('secedes');
      await dask.close();
      const { tasks } = dask.trace;
      assert.equal(tasks.length, away + others);
      assert.deepEqual([...new Set(tasks.thread)], [0]);
      assert.equal(tasks.seceded.filter((time) => !Number.isNaN(time)).length, away);
      assert.ok(workerShares(dask.trace).every(({ busy }) => busy <= 1));
    }),
  );

  it(
    'has the steals in its trace that Dask logs',
    withSharedCluster(async (cluster) => {
      await using dask = await cluster.observe();
      const { steals } = await cluster.ask<{ steals: readonly string[][] }>('steal');
      await dask.close();
      const { rows } = stolenWork(dask.trace);
      const recorded = rows.flatMap(({ From, To, Tasks }) => new Array(Number(Tasks)).fill([From, To]));
      assert.ok(steals.length >= 3);
      assert.deepEqual(recorded.sort(), steals.toSorted());
      await nothingLeft(cluster);
    }),
  );

  it(
    'counts the tasks that did not run because another one failed, and cancelled tasks that no worker had',
    withSharedCluster(async (cluster) => {
      await using dask = await cluster.observe();
      const expected = await cluster.ask<{ skipped: number; cancelled: number }>('dropped');
      await dask.close();
      const { recorded, others, cancelled } = skippedTasks(dask.trace);
      const runs = dask.trace.totals.states[TASK_CANCELLED]! - recorded;
      assert.deepEqual({ skipped: recorded + others, cancelled: runs + cancelled }, expected);
      assert.ok(cancelled > 0 && others > 0);
      const { events, strings } = dask.trace;
      const texts = Array.from(events.text, (id) => strings.get(id));
      assert.ok(texts.some((text) => /^Task 'unrunnable' .*failed\. No worker that may run it/.test(text)));
      await nothingLeft(cluster);
    }),
  );

  it(
    'is shown by `longpole dask attach`, and nothing stays on it when that command is killed',
    withSharedCluster(async (cluster, name) => {
      const child = longpoleDask('attach', [cluster.address, '--no-open', '--port', '0'], name);
      const link = (await outputWith(child.stdout!, /\n/)).trim();
      await cluster.run();
      const metrics = await (await fetch(new URL('/metrics', link))).text();
      assert.match(metrics, /dask_worker_tasks\{[^}]*\} \d/);
      // The states of the workers can be older than the end of the run.
      const states = [...metrics.matchAll(/^dask_scheduler_workers\{.*\} (\d+)$/gm)];
      assert.equal(
        states.reduce((sum, [, workers]) => sum + Number(workers), 0),
        2,
      );
      const page = await fetch(link);
      assert.equal(page.status, 200);
      assert.ok((await cluster.left()).names.length > 0);
      child.kill('SIGKILL');
      await once(child, 'close');
      await nothingLeft(cluster);
    }),
  );

  it(
    'is observed until the command ends if SIGTERM reaches its whole process group',
    withSharedCluster(async (cluster, name) => {
      const child = longpoleDask('record', [cluster.address, '-o', 'group.trace'], name, true);
      let output = await outputWith(child.stderr!, /Ctrl-C/);
      child.stderr!.on('data', (text: string) => {
        output += text;
      });
      process.kill(-child.pid!, 'SIGTERM');
      await once(child, 'close');
      assert.doesNotMatch(output, /ended early|killed/);
      await nothingLeft(cluster);
    }),
  );

  it(
    'keeps nothing of the bridge when the bridge is killed',
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

  it(
    'has a readable trace even if the bridge is killed, and the command ends with code 1',
    withSharedCluster(async (cluster, name) => {
      // The wrapper writes the id of the Python process, so that the test can kill it.
      const wrapper = join(folder, 'python');
      writeFileSync(wrapper, `#!/bin/sh\necho $$ > '${join(folder, 'bridge.pid')}'\nexec '${name}' "$@"\n`);
      chmodSync(wrapper, 0o755);
      const child = longpoleDask('record', [cluster.address, '-o', 'killed.trace'], wrapper);
      let output = await outputWith(child.stderr!, /Ctrl-C/);
      process.kill(Number(readFileSync(join(folder, 'bridge.pid'), 'utf8')), 'SIGKILL');
      child.stderr!.on('data', (text: string) => {
        output += text;
      });
      const [code] = await once(child, 'close');
      assert.equal(code, 1);
      assert.match(output, /^longpole: the observation ended early: The bridge to .* was killed/m);
      assert.equal(openTrace(join(folder, 'killed.trace')).damage, undefined);
      await nothingLeft(cluster);
    }),
  );

  // This test must be the last, because it ends the cluster.
  it(
    'ends the report when it closes, and the command ends with code 1',
    withSharedCluster(async (cluster, name) => {
      const child = longpoleDask('report', [cluster.address, '-o', 'one.html'], name);
      await outputWith(child.stderr!, /Ctrl-C/);
      const counted = await cluster.run();
      // The command may end before the processes of the cluster.
      const [[code]] = await Promise.all([once(child, 'close'), cluster[Symbol.asyncDispose]()]);
      assert.equal(code, 1);
      const trace = openTrace(join(folder, 'one.html'));
      assert.ok(trace.tasks.length >= counted.tasks);
    }),
  );
});
