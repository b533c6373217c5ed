// The bottleneck tables of runs with lost workers.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { syntheticTrace } from '../trace/syntheticTrace.test.support.js';
import { functionBottleneck, taskBottleneck } from './bottlenecks.js';

const LOST = { started: Number.NaN, stopped: Number.NaN, state: 'lost', submitted: 0 } as const;
const PERCENT = 'Percentage of total time (%)';

describe('a run that was lost with its worker', () => {
  const trace = syntheticTrace({
    tasks: [
      { key: 'load-1', started: 0, stopped: 2, nbytes: 8e6 },
      { key: 'load-2', started: 2, stopped: 6 },
      { key: 'load-1', attempt: 2, ...LOST },
      { key: 'load-3', ...LOST },
      { key: 'sum-1', started: 6, stopped: 8 },
    ],
  });

  it('does not change the seconds, shares and means of functions', () => {
    const rows = functionBottleneck(trace).rows.map((row) => [
      row['Function'],
      row['Duration (s)'],
      row[PERCENT],
      row['Num Tasks (chunks)'],
      row['Mean Task time (s)'],
    ]);
    assert.deepEqual(rows, [
      ['load', 6, 75, 4, 3],
      ['sum', 2, 25, 1, 2],
    ]);
  });

  it('does not change the seconds and shares of tasks, nor the size of the earlier result', () => {
    const rows = taskBottleneck(trace).rows.map((row) => [
      row['Task Key'],
      row['Duration (s)'],
      row[PERCENT],
      row['Memory usage (Mb)'],
    ]);
    assert.deepEqual(
      rows.filter(([key]) => key !== 'load-3'),
      [
        ['load-2', 4, 50, 0],
        ['load-1', 2, 25, 8],
        ['sum-1', 2, 25, 0],
      ],
    );
  });
});
