// Results that were lost with their worker, as the trace shows them. Results of threads are shared and outlive their worker.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { failedTaskCount, failedTasks } from 'longpole/analysis';
import { diedTasks } from '#internal/analysis/diedTasks.js';
import { lostWorkers } from '#internal/analysis/lostWork.js';
import { t } from './clusterTasks.js';
import { kill, processClusterTest } from './support.js';

const LARGE = 100_000;

processClusterTest(
  'the trace records a second attempt for a lost result and names the lost worker',
  async (setting) => {
    const { client, folder } = setting;
    const [first, second] = Object.keys(client.schedulerInfo().workers);
    const made = client.submit(t.countZeros, join(folder, 'calls'), LARGE, { workers: first });
    await made.wait();
    assert.deepEqual(lostWorkers(client.trace), []);
    await kill(setting, first!);
    assert.equal(await client.submit(t.total, made, { workers: second }).result(), LARGE);
    const { trace } = client;
    const { tasks, workers, strings } = trace;
    const runs = Array.from(tasks.key.keys()).filter((row) => tasks.keyOf(row) === made.key);
    assert.deepEqual(
      runs.map((row) => tasks.attempt[row]),
      [1, 2],
    );
    const lost = lostWorkers(trace);
    assert.deepEqual(
      lost.map(({ row, again }) => [strings.get(workers.name[row]!), again]),
      [[first, [runs[1]]]],
    );
  },
);

processClusterTest(
  'a task that kills its process at once has a lost run for each attempt, and is a failed task',
  async ({ client }) => {
    const dying = client.submit(() => process.kill(process.pid, 'SIGKILL'));
    await assert.rejects(dying.result(), { code: 'ERR_LONGPOLE_KILLED_WORKER' });
    const [died] = diedTasks(client.trace);
    assert.equal(died?.lost.length, 3);
    assert.equal(failedTaskCount(client.trace), 1);
    const [failed] = failedTasks(client.trace);
    assert.equal(failed?.key, dying.key);
    assert.match(failed.error, /^was running 3 times when its worker died/);
  },
);
