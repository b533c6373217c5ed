// What a garbage collection takes from the CPU time of its task, where nobody could measure it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../../base/properties.test.support.js';
import { collectionParts } from './taskMetering.js';

describe('the seconds of a garbage collection', () => {
  it('are CPU time', () => {
    assert.deepEqual(collectionParts(0.2, 1, 5, 0), { 'thread-cpu': 0.2, 'thread-noncpu': 0, other: 0 });
  });

  it('are both where it was kept from its core: a task that computed keeps some of its CPU time', () => {
    const parts = collectionParts(3, 0.5, 3.5, 0);
    assert.deepEqual(parts, { 'thread-cpu': 0.375, 'thread-noncpu': 2.625, other: 0 });
  });

  it('are of unknown kind where there is no CPU clock', () => {
    assert.deepEqual(collectionParts(3, 0, 0, 5), { 'thread-cpu': 0, 'thread-noncpu': 0, other: 3 });
  });

  it('never take more than there is, and all of it is somewhere', () => {
    const seconds = fc.double({ min: 0, max: 1e4, noNaN: true });
    fc.assert(
      fc.property(seconds, seconds, seconds, seconds, (gc, cpu, noncpu, other) => {
        const parts = collectionParts(gc, cpu, noncpu, other);
        const near = 1e-9 * (gc + cpu + noncpu + other);
        assert.ok(parts['thread-cpu'] >= 0 && parts['thread-cpu'] <= cpu + near);
        assert.ok(parts['thread-noncpu'] >= -near && parts['thread-noncpu'] <= noncpu + near);
        assert.ok(parts.other >= 0 && parts.other <= other);
        const sum = parts['thread-cpu'] + parts['thread-noncpu'] + parts.other;
        assert.ok(Math.abs(sum - Math.min(gc, cpu + noncpu + other)) <= near);
      }),
    );
  });
});
