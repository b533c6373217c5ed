// Tables of what took no time, or is long gone.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { syntheticTrace } from '../trace/syntheticTrace.test.support.js';
import { criticalPath } from './criticalPath.js';
import { TimeBins } from './timeBins.js';
import { timeByAction } from './timeByAction.js';
import { transfersByPair, transfersByType } from './transferTables.js';

describe('what was moved in no time that was measured', () => {
  const trace = syntheticTrace({
    tasks: [{ key: 'load-1', started: 0, stopped: 1, nbytes: 1e6 }],
    transfers: [{ worker: 'w1', peer: 'w0', keys: ['load-1'], nbytes: 1e6, start: 1, stop: 1 }],
    intervals: [{ worker: 'w0', action: 'serialize', start: 1, stop: 1, nbytes: 1e6 }],
  });

  it('has no bandwidth, rather than an infinite one', () => {
    assert.deepEqual(
      [transfersByPair(trace), transfersByType(trace)].map(({ rows }) => rows[0]?.['Bandwidth (MB/s)']),
      [null, null],
    );
    const packed = timeByAction(trace).rows.find(({ Action: action }) => action === 'serialize');
    assert.deepEqual([packed?.['Size (MB)'], packed?.['Throughput (MB/s)']], [1, null]);
  });
});

it('memory that is no longer held is none, not less than none by rounding', () => {
  const bins = new TimeBins(0, 10, 10);
  for (const [i, amount] of [0.2, 0.3, 0.1].entries()) bins.add(0, 3 + 2 * i, amount);
  assert.ok(bins.means().every((mean) => mean >= 0));
});

it('no number of workers is said to need longer than the run took', () => {
  const task = (key: string, started: number, needs: readonly string[] = []) => ({
    key,
    started,
    stopped: started + 1,
    needs,
    submitted: 0,
  });
  // Keys that ran again, in rows that are not in the order of time.
  const { floor, makespan } = criticalPath(
    syntheticTrace({
      tasks: [task('a-1', 2), task('b-1', 0, ['a-1']), task('a-1', 1, ['b-1']), task('b-1', 0, ['a-1'])],
    }),
  );
  assert.equal(makespan, 3);
  assert.ok(floor <= makespan, `${floor} s`);
});
