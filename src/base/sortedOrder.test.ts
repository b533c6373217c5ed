import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from './properties.test.support.js';
import { sortedOrder } from './sortedOrder.js';

/** Returns the same order from a comparison sort. */
function expected(values: Float64Array, descending: boolean): number[] {
  const rows = [...values.keys()];
  const sign = descending ? -1 : 1;
  return rows.sort((a, b) => {
    const [x, y] = [values[a] ?? 0, values[b] ?? 0];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || a - b;
    return x === y ? a - b : x < y ? -sign : sign;
  });
}

for (const descending of [false, true]) {
  const direction = descending ? 'descending' : 'ascending';
  test(`short and long columns are sorted in ${direction} order, equal values in the order of rows`, () => {
    const value = fc.oneof(
      fc.double(),
      fc.constantFrom(0, -0, 1, -1, Number.NaN, Infinity, -Infinity, 5e-324),
    );
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 40 }), fc.boolean(), (some, many) => {
        const values = Float64Array.from(
          { length: many ? 2500 : some.length },
          (_, i) => some[i % some.length] ?? 0,
        );
        assert.deepEqual([...sortedOrder(values, descending)], expected(values, descending));
      }),
      { numRuns: 60 },
    );
  });
}

test('an empty column has an empty order', () => {
  assert.equal(sortedOrder(new Float64Array(), true).length, 0);
});
