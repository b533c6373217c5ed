import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timeByPrefix } from '../../analysis/timeTables.js';
import { unfinishedRuns } from '../../analysis/unfinishedRuns.js';
import { unusualRuns } from '../../analysis/unusualRuns.js';
import { type SyntheticTask, syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { groupGraph } from './groupGraph.js';
import { recordedProgress } from './recordedProgress.js';

test('cancelled and lost runs do not count as finished', () => {
  const never = { started: Number.NaN, stopped: Number.NaN, acknowledged: 2 };
  const trace = syntheticTrace({
    tasks: [
      { key: 'a-1', started: 0, stopped: 1 },
      { key: 'a-2', started: 1, stopped: 2, state: 'erred' },
      { key: 'a-3', ...never, state: 'cancelled' },
      { key: 'b-1', ...never, state: 'lost' },
      { key: 'b-1', started: 2, stopped: 4, attempt: 2 },
    ],
  });
  const counts = recordedProgress(trace).map(({ seconds: _, processing, ...row }) => row);
  assert.deepEqual(counts, [
    { prefix: 'a', total: 3, finished: 1, erred: 1, cancelled: 1 },
    { prefix: 'b', total: 1, finished: 1, erred: 0, cancelled: 0 },
  ]);
});

test('tasks count by their last run: a failed run that another one followed does not count, and all runs lost is a failure', () => {
  const failure = {
    time: 5,
    topic: 'task-erred',
    text: "Task 'b-1' (function b, worker w0) ended its workers",
  };
  const trace = syntheticTrace({
    tasks: [
      { key: 'a-1', started: 0, stopped: 1, state: 'erred' },
      { key: 'a-1', started: 1, stopped: 2, attempt: 2 },
      { key: 'a-2', started: 2, stopped: 3, state: 'erred' },
      { key: 'b-1', started: 3, stopped: 4, state: 'lost' },
    ],
    events: [failure],
  });
  const counts = recordedProgress(trace).map(({ seconds: _, processing, ...row }) => row);
  assert.deepEqual(counts, [
    { prefix: 'a', total: 2, finished: 1, erred: 1, cancelled: 0 },
    { prefix: 'b', total: 1, finished: 0, erred: 1, cancelled: 0 },
  ]);
  assert.deepEqual(
    timeByPrefix(trace).rows.map((row) => [row['Prefix'], row['Erred']]),
    [
      ['a', 1],
      ['b', 1],
    ],
  );
  assert.deepEqual(
    groupGraph(trace).nodes.map(({ name, erred }) => [name, erred]),
    [
      ['a', 1],
      ['b', 1],
    ],
  );
});

test('a task that was skipped and that a retry ran counts only as done', () => {
  const task = (key: string, more: Partial<SyntheticTask>): SyntheticTask => ({
    key,
    started: 0,
    stopped: 1,
    ...more,
  });
  const never = { started: Number.NaN, stopped: Number.NaN, acknowledged: 1 };
  const skipped = { ...never, state: 'cancelled' } as const;
  const run = (key: string, started: number, needs: string[]) =>
    task(key, { attempt: 2, started, stopped: started + 1, needs });
  const first = [
    task('load-1', { state: 'erred' }),
    task('sum-1', { ...skipped, needs: ['load-1'] }),
    task('sum-2', { ...skipped, needs: ['sum-1'] }),
  ];
  const again = [run('load-1', 2, []), run('sum-1', 3, ['load-1']), run('sum-2', 4, ['sum-1'])];
  const of = (tasks: SyntheticTask[], needs: number[]) => {
    const trace = syntheticTrace({ tasks });
    Object.defineProperty(trace.tasks, 'dependencyIds', { value: Float64Array.from(needs) });
    const progress = recordedProgress(trace).map(({ prefix, total, finished }) => [prefix, total, finished]);
    const counts = timeByPrefix(trace).rows.map((row) => [row['Prefix'], row['Tasks']]);
    return { unusual: unusualRuns(trace), progress, counts, unfinished: unfinishedRuns(trace).length };
  };
  assert.deepEqual(of([...first, ...again], [0, 1, 0, 1]), {
    unusual: [[1, 'failed and was repeated']],
    progress: [
      ['load', 1, 1],
      ['sum', 2, 2],
    ],
    counts: [
      ['load', 1],
      ['sum', 2],
    ],
    unfinished: 0,
  });
  // The retry failed, too.
  const failed = [
    { ...again[0]!, state: 'erred' } as const,
    ...first.slice(1).map((one) => ({ ...one, attempt: 2 })),
  ];
  assert.deepEqual(of([...first, ...failed], [0, 1, 0, 1]).unusual, [
    [1, 'failed'],
    [1, 'failed and was repeated'],
    [2, 'did not run'],
  ]);
});
