// A run of a task cannot begin before the previous run of the task has failed: the longest chain, the critical path, the
// simulation and the findings agree on that.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type SyntheticTask, syntheticTrace } from '../trace/syntheticTrace.test.support.js';
import { concurrency } from './concurrency.js';
import { criticalPath } from './criticalPath.js';
import { findings } from './findings/findings.js';
import { partsText } from './pathTexts.test.support.js';
import { queueing } from './queueing.js';
import { simulate } from './simulate.js';
import { repeatedCount } from './submissionTimes.js';
import { failedTaskCount, failedTasks } from './taskErrors.js';

/** Six loads on two workers, then four runs of `flaky`, three of which fail, then `finish`. Takes 46 s. */
function retriedTrace(worker: (attempt: number) => string = () => 'w0') {
  const loads = Array.from({ length: 6 }, (_, i): SyntheticTask => {
    const started = Math.floor(i / 2);
    return { key: `load-${i}`, worker: `w${i % 2}`, started, stopped: started + 1, received: started };
  });
  const needs = loads.map(({ key }) => key);
  const runs = Array.from({ length: 4 }, (_, i): SyntheticTask => {
    const started = 3 + i * 10.5;
    return {
      ...{ key: 'flaky-1', needs, worker: worker(i + 1), attempt: i + 1 },
      ...{ started, stopped: started + 10, ready: 3, dispatched: started - 0.25, received: started },
      state: i < 3 ? 'erred' : 'memory',
    };
  });
  const finish = { key: 'finish-1', needs: ['flaky-1'], started: 44.5, stopped: 46, received: 44.5 };
  return syntheticTrace({
    tasks: [...loads, ...runs, finish],
    events: runs.slice(0, 3).map(({ stopped }) => ({
      time: stopped + 0.1,
      topic: 'task-erred',
      text: `Task 'flaky-1' (function flaky, worker w0) failed. Error: ECONNRESET from service\n    at flaky`,
    })),
  });
}

describe('attempts of a task', () => {
  it('are a chain in the floor and in the critical path, not waits for a worker', () => {
    for (const trace of [retriedTrace(), retriedTrace((attempt) => `w${attempt % 2}`)]) {
      const path = criticalPath(trace);
      const text = partsText(path).join();
      assert.ok(!text.includes('waiting for a worker flaky'), text);
      const computed = path.byKind.find(({ kind }) => kind === 'compute')?.seconds ?? 0;
      assert.ok(Math.abs(computed - 42.5) < 1e-6, text);
      assert.ok(Math.abs(path.floor - 42.5) < 1e-6, `${path.floor}`);
    }
  });

  it('are a chain in a simulation with more workers', () => {
    const { makespan, low } = simulate(retriedTrace(), { workers: 64 });
    assert.ok(makespan >= 42.5, `${makespan}`);
    assert.ok(low > 35, `${low}`);
  });

  it('do not wait at the scheduler while the previous attempt runs', () => {
    const row = queueing(retriedTrace()).rows.find(({ Prefix }) => Prefix === 'flaky');
    assert.equal(row?.['Queued at scheduler (s)'], 0.25);
    const waiting = concurrency(retriedTrace()).rows.map((bin) => Number(bin['Ready and waiting']));
    assert.ok(Math.max(...waiting.slice(10)) < 1, `${waiting}`);
  });

  it('that failed are the first finding, with their error', () => {
    const found = findings(retriedTrace());
    assert.ok(!found.some(({ code }) => code === 'worker-skew'));
    const [first] = found;
    assert.equal(
      first?.title,
      "3 attempts of 'flaky' failed and were repeated: Error: ECONNRESET from service",
    );
    assert.ok(Math.abs((first?.seconds ?? 0) - 31.5) < 0.1, `${first?.seconds}`);
  });

  it('cost their share of the threads if all tasks are retried', () => {
    const tasks = Array.from({ length: 20 }, (_, i): SyntheticTask[] => {
      const [worker, started] = [`w${i % 2}`, 2 * Math.floor(i / 2)];
      const both = { key: `work-${i}`, worker, ready: 0, dispatched: 0, received: started };
      return [
        { ...both, started, stopped: started + 1, state: 'erred' },
        { ...both, attempt: 2, started: started + 1, stopped: started + 2, received: started + 1 },
      ];
    });
    const found = findings(syntheticTrace({ tasks: tasks.flat() }));
    assert.equal(found[0]?.code, 'failed-attempts');
    for (const { evidence } of found) assert.equal(new Set(evidence.tasks).size, evidence.tasks.length);
    assert.ok(Math.abs((found[0]?.seconds ?? 0) - 10) < 0.5, `${found[0]?.seconds}`);
  });

  it('that fail before the others end with their workers are one failed task, with its last error', () => {
    const runs = Array.from(
      { length: 3 },
      (_, i): SyntheticTask => ({
        ...{ key: 'crash-1', worker: 'w0', attempt: i + 1, started: i, stopped: i + 0.5 },
        state: i === 0 ? 'erred' : 'lost',
      }),
    );
    const failure = (time: number, text: string) => ({
      ...{ time, topic: 'task-erred' },
      text: `Task 'crash-1' (function crash, worker w0) ${text}`,
    });
    const trace = syntheticTrace({
      tasks: runs,
      events: [
        failure(0.6, 'failed. Error: ECONNRESET'),
        failure(2.6, 'was running 2 times when its worker died'),
      ],
    });
    assert.equal(repeatedCount(trace), 1);
    assert.equal(failedTaskCount(trace), 1);
    assert.deepEqual(
      failedTasks(trace).map(({ error }) => error),
      ['was running 2 times when its worker died'],
    );
  });
});
