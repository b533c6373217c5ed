// The option `concurrentTasks`: asynchronous tasks that overlap on one worker.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { compute, connect, TaskError } from 'longpole';
import { clusterTest, until } from './cluster/support.js';
import {
  exitOnce,
  fail,
  inc,
  largest,
  list,
  measure,
  measureMore,
  meet,
  nested,
  pause,
  spin,
  strand,
  turn,
} from './overlapTasks.js';
import { withFolder } from './support/programs.js';
import { PARALLEL } from './support/schedulers.js';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

for (const { name, get } of PARALLEL) {
  const options = (concurrentTasks: number) => ({ get, numWorkers: 1, concurrentTasks });

  test(`${name}: asynchronous tasks overlap on one worker, and their dependents follow`, async () => {
    const met = numbers(8).map((index) => inc(meet(index, 8)));
    assert.equal(await largest(met).compute(options(8)), 8);
  });

  test(`${name}: overlapping tasks may compute after an await`, async () => {
    const all = numbers(8).map((index) => nested(index, 8));
    assert.equal(await largest(all).compute(options(16)), 8);
  });

  test(`${name}: as many tasks overlap as the option says, by default one`, async () => {
    const counts = async (concurrentTasks?: number): Promise<number> =>
      largest(numbers(40).map((index) => turn(index, concurrentTasks ?? 1))).compute({
        get,
        numWorkers: 1,
        ...(concurrentTasks === undefined ? {} : { concurrentTasks }),
      });
    assert.equal(await counts(), 1);
    assert.equal(await counts(3), 3);
    assert.equal(await counts(5), 5);
  });

  test(`${name}: the error of an overlapping task ends the computation, and the next one runs`, async () => {
    await withFolder(async (folder) => {
      const failing = compute(pause(1, join(folder, 'never')), fail(), options(2));
      await assert.rejects(
        failing,
        (error: unknown) => error instanceof TaskError && error.cause instanceof RangeError,
      );
      assert.equal(await inc(1).compute(options(2)), 2);
    });
  });

  test(`${name}: a cancelled computation with overlapping tasks rejects, and the next one runs`, async () => {
    await withFolder(async (folder) => {
      const abort = new AbortController();
      const computing = compute(
        numbers(3).map((index) => pause(index, join(folder, 'never'))),
        {
          ...options(3),
          signal: abort.signal,
          callbacks: { pretask: () => abort.abort(new Error('stop')) },
        },
      );
      await assert.rejects(computing, { name: 'AbortError' });
      assert.equal(await inc(1).compute(options(3)), 2);
    });
  });

  test(`${name}: results arrive while the next asynchronous task of their batch waits`, async () => {
    await withFolder(async (folder) => {
      const lists = numbers(400).map(list);
      const last = new Set(lists.slice(-200).map(({ key }) => key));
      // The first tasks are short, so the batches grow. A task of a later batch waits for the result before it.
      const waiting = lists.map((_, index) =>
        pause(index, index < 200 ? folder : join(folder, String(index))),
      );
      const posttask = (key: string): void => {
        if (last.has(key)) writeFileSync(join(folder, String(lists.findIndex((one) => one.key === key))), '');
      };
      const pairs = lists.flatMap((one, index) => [one, waiting[index]!]);
      const results = await compute(pairs, { ...options(1), callbacks: { posttask } });
      assert.equal(results.length, 800);
    });
  });

  test(`${name}: tasks that never end take no room from the next computation`, async () => {
    const failing = compute(
      numbers(6).map((index) => strand(index, 6)),
      options(6),
    );
    await assert.rejects(failing, TaskError);
    assert.equal(await largest(numbers(40).map((index) => turn(index, 6))).compute(options(6)), 6);
  });

  test(`${name}: a cancelled task that computes for ever after an await does not block the next computation`, async () => {
    await withFolder(async (folder) => {
      const file = join(folder, 'go');
      const started = join(folder, 'started');
      const abort = new AbortController();
      const computing = spin(file, started).compute({ ...options(2), signal: abort.signal });
      await until('the task runs', () => existsSync(started));
      abort.abort();
      await assert.rejects(computing, { name: 'AbortError' });
      // If this task runs beside the cancelled one, it cannot see the file before the thread is ended.
      const next = pause(1, file).compute(options(2));
      writeFileSync(file, '');
      assert.equal(await next, 1);
    });
  });

  test(`${name}: overlapping tasks run again after the death of their worker`, async () => {
    await withFolder(async (folder) => {
      const file = join(folder, 'calls');
      const results = await compute(
        numbers(3).map((index) => exitOnce(index, 3, file)),
        options(3),
      );
      assert.deepEqual(results, [0, 1, 2]);
    });
  });
}

clusterTest(
  'cluster: tasks overlap on one worker, and each keeps its own metrics',
  async ({ client, folder }) => {
    const total = await client.compute(largest([measure(2), measureMore(2)]));
    assert.equal(total, 2);
    const reported = (): Promise<ReadonlyMap<string, number>> =>
      client.runOnScheduler(
        ({ scheduler }) =>
          new Map(Array.from(scheduler.cumulativeWorkerMetrics, ([key, value]) => [key.join(), value])),
      );
    // Metrics arrive after the result, those of each task by themselves.
    const expected = { measure: 11, measureMore: 1100 };
    await until('the metrics of both tasks arrive', async () => {
      const metrics = await reported();
      return Object.entries(expected).every(
        ([name, bytes]) => metrics.get(`execute,${name},read,bytes`) === bytes,
      );
    });
    const file = join(folder, 'go');
    const waiting = client.map(
      pause,
      numbers(4),
      numbers(4)
        .fill(0)
        .map(() => file),
    );
    assert.equal(await client.submit(inc, 1), 2);
    writeFileSync(file, '');
    assert.deepEqual(await client.gather(waiting), numbers(4));
    const together = await Promise.all(numbers(40).map((index) => client.submit(turn, index, 5).result()));
    // The option limits the tasks of all computations together.
    assert.equal(Math.max(...together), 5);
  },
  { workers: 1, concurrentTasks: 5 },
);

test('the number of concurrent tasks must be a whole number from 1', async () => {
  const wrong = { code: 'ERR_LONGPOLE_INVALID_ARGUMENT', message: /concurrentTasks/ };
  await assert.rejects(connect({ workers: 1, concurrentTasks: 0 }), wrong);
  await assert.rejects(inc(1).compute({ concurrentTasks: 1.5 }), wrong);
});
