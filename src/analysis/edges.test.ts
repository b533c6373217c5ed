// Tables with values of zero duration or size.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { syntheticTrace } from '../trace/syntheticTrace.test.support.js';
import { criticalPath } from './criticalPath.js';
import { TimeBins } from './timeBins.js';
import { timeByAction } from './timeTables.js';
import { transfersByPair, transfersByType } from './transferTables.js';

describe('transfers with a duration of 0', () => {
  const trace = syntheticTrace({
    tasks: [{ key: 'load-1', started: 0, stopped: 1, nbytes: 1e6 }],
    transfers: [{ worker: 'w1', peer: 'w0', keys: ['load-1'], nbytes: 1e6, start: 1, stop: 1 }],
    intervals: [{ worker: 'w0', action: 'serialize', start: 1, stop: 1, nbytes: 1e6 }],
  });

  it('have no bandwidth instead of an infinite one', () => {
    assert.deepEqual(
      [transfersByPair(trace), transfersByType(trace)].map(({ rows }) => rows[0]?.['Bandwidth (MB/s)']),
      [null, null],
    );
    const packed = timeByAction(trace).rows.find(({ Action: action }) => action === 'serialize');
    assert.deepEqual([packed?.['Size (MB)'], packed?.['Throughput (MB/s)']], [1, null]);
  });
});

it('released memory is 0, not negative by rounding', () => {
  const bins = new TimeBins(0, 10, 10);
  for (const [i, amount] of [0.2, 0.3, 0.1].entries()) bins.add(0, 3 + 2 * i, amount);
  assert.ok(bins.means().every((mean) => mean >= 0));
});

it('the floor is never longer than the run', () => {
  const task = (key: string, started: number, needs: readonly string[] = []) => ({
    key,
    started,
    stopped: started + 1,
    needs,
    submitted: 0,
  });
  // Keys that ran again, in rows out of order.
  const { floor, makespan } = criticalPath(
    syntheticTrace({
      tasks: [task('a-1', 2), task('b-1', 0, ['a-1']), task('a-1', 1, ['b-1']), task('b-1', 0, ['a-1'])],
    }),
  );
  assert.equal(makespan, 3);
  assert.ok(floor <= makespan, `${floor} s`);
});
