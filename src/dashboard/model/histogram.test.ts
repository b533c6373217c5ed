import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../../base/properties.test.support.js';
import { histogram } from './histogram.js';

describe('a histogram', () => {
  it('has a bin per value if the values are near each other, and wider bins otherwise', () => {
    assert.deepEqual(histogram([2, 4, 2], 10), [
      { from: 2, to: 2, count: 2 },
      { from: 3, to: 3, count: 0 },
      { from: 4, to: 4, count: 1 },
    ]);
    assert.deepEqual(histogram([0, 9, 10, 99], 10).slice(0, 2), [
      { from: 0, to: 9, count: 2 },
      { from: 10, to: 19, count: 1 },
    ]);
    assert.deepEqual(histogram([], 10), []);
  });

  it('counts every value in the one bin that contains it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(5000), { minLength: 1 }),
        fc.integer({ min: 1, max: 40 }),
        (values, maxBins) => {
          const bins = histogram(values, maxBins);
          assert.ok(bins.length <= maxBins);
          for (const { from, to, count } of bins)
            assert.equal(count, values.filter((value) => value >= from && value <= to).length);
          assert.equal(
            bins.reduce((sum, { count }) => sum + count, 0),
            values.length,
          );
        },
      ),
    );
  });
});
