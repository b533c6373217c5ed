// Tables of what took no time, or is long gone.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { syntheticTrace } from '../trace/syntheticTrace.js';
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
