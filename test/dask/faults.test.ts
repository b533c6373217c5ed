// Traces of a real Dask cluster with failures, lost workers, P2P shuffles, bursts of submissions, and sleeping tasks.
import assert from 'node:assert/strict';
import { after, describe, it, type TestContext } from 'node:test';
import { criticalPath, scaling } from 'longpole/analysis';
import type { Trace } from 'longpole/trace';
import { pausesOf } from '#internal/analysis/workerLives.js';
import { summarise } from '#internal/cli/run/summary.js';
import { NO_PYTHON, python, Workload } from './realCluster.js';

/** The cluster that the tests share, with two workers of two threads. */
let shared: Promise<Workload> | undefined;
after(async () => (await shared)?.[Symbol.asyncDispose]());

/** Returns a test that observes the cluster while it runs a command, and checks the trace with the command's answer. */
const watching =
  <T>(command: string, check: (trace: Trace, answer: T) => void) =>
  async (context: TestContext): Promise<void> => {
    if (python === undefined) return context.skip(NO_PYTHON);
    shared ??= new Workload(python, 2).start();
    const cluster = await shared;
    await using dask = await cluster.observe();
    const answer = await cluster.ask<T>(command);
    await dask.close();
    check(dask.trace, answer);
  };

describe('the trace of a Dask cluster', () => {
  it(
    'lists tasks as cancelled that were released because another task failed',
    watching<{ siblings: number }>('siblings', (trace, { siblings }) => {
      const { erred, cancelled, memory } = summarise(trace).tasks;
      assert.deepEqual({ erred, cancelled, memory }, { erred: 1, cancelled: siblings, memory: 0 });
    }),
  );

  it(
    'contains all tasks of a P2P shuffle, and the bytes that the shuffle moved',
    watching<{ sent: number }>('shuffled', (trace, { sent }) => {
      const { tasks, moved } = summarise(trace);
      assert.deepEqual([tasks.lost, tasks.cancelled, tasks.erred], [0, 0, 0]);
      assert.ok(sent > 0);
      assert.equal(moved?.shuffled, sent);
    }),
  );

  it(
    'has the tasks that were computed again, the reason for the loss of their worker, and their time on the critical path',
    watching<{ lost: number; address: string }>('lose', (trace, { lost, address }) => {
      const { tasks, workers, strings } = trace;
      const again = Array.from(tasks.attempt.keys()).filter(
        (row) => tasks.attempt[row]! > 1 && tasks.state[row] === 0 && tasks.keyOf(row).startsWith('held-'),
      );
      assert.equal(again.length, lost);
      const gone = workers.address.findIndex((id) => strings.get(id) === address);
      assert.match(strings.get(workers.reason[gone]!), /its (connection broke|nanny closed it)/);
      // Their share of the run depends on how fast the loss is noticed, so that a finding may leave them out.
      assert.ok(criticalPath(trace).byKind.some(({ kind }) => kind === 'recomputed'));
    }),
  );

  it(
    'has the memory of a worker as the reason for its loss if its nanny ended it because of its memory',
    watching<{ address: string }>('exhaust', (trace, { address }) => {
      const { workers, strings } = trace;
      const gone = workers.address.findIndex((id) => strings.get(id) === address);
      assert.equal(
        strings.get(workers.reason[gone]!),
        'its nanny ended it, because it used 905.99 MiB of memory',
      );
    }),
  );

  it(
    'has the pauses of workers, for which tasks wait',
    watching<{ address: string }>('paused', (trace, { address }) => {
      const { workers, strings } = trace;
      const pauses = Array.from(pausesOf(trace), ([row, spans]) => [
        strings.get(workers.address[row]!),
        spans.map(({ stop }) => Number.isFinite(stop)),
      ]);
      assert.deepEqual(pauses, [[address, [true]]]);
      const { byKind } = criticalPath(trace);
      assert.ok(byKind.some(({ kind }) => kind === 'paused'));
      assert.ok(!byKind.some(({ kind }) => kind === 'worker start'));
    }),
  );

  it(
    'has as many computations as the scheduler counts',
    watching<{ computations: number }>('bursts', (trace, { computations }) => {
      assert.ok(trace.computations.length > computations);
      assert.equal(summarise(trace).computations, computations);
    }),
  );

  it(
    'predicts sleeping tasks for other numbers of workers, each with its threads',
    watching('naps', (trace) => {
      const { recorded, rows } = scaling(trace, { workers: [1, 2] });
      assert.deepEqual([recorded.workers, recorded.threadsPerWorker], [2, 2]);
      // The run has forty tasks of 0.1 s, simulated on two threads and on four.
      assert.ok(rows[0]!.makespan >= 2 && rows[1]!.makespan >= 1);
      assert.ok(rows[0]!.makespan > rows[1]!.makespan);
    }),
  );
});
