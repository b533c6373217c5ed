import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../base/properties.test.support.js';
import {
  adjusted,
  bootstrapRatio,
  median,
  middleOf,
  pairedPermutationTest,
  permutationTest,
  quantile,
  Random,
  smallestP,
  trimmedMean,
} from './statistics.js';

/** Returns the quantile `q` of sorted values, interpolated; NaN without values. */
function sortedQuantile(sorted: Float64Array, q: number): number {
  const at = q * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)], sorted[Math.min(Math.floor(at) + 1, sorted.length - 1)]];
  return low === undefined || high === undefined ? Number.NaN : low + (high - low) * (at - Math.floor(at));
}

/** Roughly normal values: sums of twelve uniform numbers. */
function noise(random: Random, count: number, center: number, sigma: number): number[] {
  return Array.from({ length: count }, () => {
    let sum = -6;
    for (let i = 0; i < 12; i++) sum += random.next();
    return center + sigma * sum;
  });
}

describe('medians and deviations', () => {
  it('equal those of the sorted values', () => {
    const few = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.double({ min: -1e6, max: 1e6 }));
    fc.assert(
      fc.property(
        fc.array(few, { maxLength: 60 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (values, q) => {
          assert.deepEqual(quantile(values, q) + 0, sortedQuantile(Float64Array.from(values).sort(), q) + 0);
        },
      ),
    );
  });

  it('are interpolated, and robust against outliers', () => {
    assert.equal(median([3, 1, 2]), 2);
    assert.equal(median([4, 1, 2, 3]), 2.5);
    assert.equal(quantile([0, 10], 0.25), 2.5);
    assert.ok(Number.isNaN(median([])));
    const { median: center, sigma } = middleOf([1, 2, 3, 4, 1e9]);
    assert.equal(center, 3);
    assert.ok(Math.abs(sigma - 1.4826) < 1e-12);
    assert.equal(trimmedMean([1, 1, 1, 1000], 0.25), 1);
  });
});

describe('the permutation test', () => {
  it('detects a change of pairs that vary much', () => {
    const a = [1, 10, 100, 1000, 10_000];
    assert.equal(
      pairedPermutationTest(
        a,
        a.map((value) => value * 1.1),
      ),
      2 / 32,
    );
    assert.ok(
      permutationTest(
        a,
        a.map((value) => value * 1.1),
      ) > 0.5,
    );
    assert.equal(pairedPermutationTest([], []), 1);
    const { low, high } = bootstrapRatio(
      a,
      a.map((value) => value * 1.1),
      true,
    );
    assert.ok(Math.abs(low - 1.1) < 1e-9 && Math.abs(high - 1.1) < 1e-9);
    const random = new Random(4);
    let alarms = 0;
    for (let i = 0; i < 100; i++) {
      const noise = () => Array.from({ length: 20 }, () => random.next());
      if (pairedPermutationTest(noise(), noise()) <= 0.05) alarms++;
    }
    assert.ok(alarms <= 10, `${alarms} false alarms in 100`);
  });

  it('is exact for small samples', () => {
    // Among 20 divisions of six values, this one and its mirror image differ most.
    assert.equal(permutationTest([1, 2, 3], [10, 11, 12]), 2 / 20);
    assert.equal(permutationTest([1, 2], [1, 2]), 1);
    assert.equal(permutationTest([1], []), 1);
    for (const [a, b] of [
      [1, 1],
      [1, 4],
      [3, 3],
      [4, 3],
      [5, 7],
      [30, 30],
    ] as const) {
      const values = (count: number, from: number) => Array.from({ length: count }, (_, i) => from + 2 ** -i);
      assert.equal(permutationTest(values(a, 0), values(b, 100)), smallestP(a, b), `${a} and ${b}`);
    }
  });

  it('has about the nominal rate of false alarms, and finds a shift', () => {
    const random = new Random(7);
    let alarms = 0;
    for (let trial = 0; trial < 200; trial++) {
      if (permutationTest(noise(random, 10, 100, 5), noise(random, 10, 100, 5)) <= 0.05) alarms++;
    }
    assert.ok(alarms >= 2 && alarms <= 22, `${alarms} false alarms in 200`);
    assert.ok(permutationTest(noise(random, 30, 100, 5), noise(random, 30, 110, 5)) < 0.001);
  });

  it('is deterministic', () => {
    const random = new Random(1);
    const [a, b] = [noise(random, 40, 1, 1), noise(random, 40, 1.2, 1)];
    assert.equal(permutationTest(a, b), permutationTest(a, b));
    assert.deepEqual(bootstrapRatio(a, b), bootstrapRatio(a, b));
  });
});

describe('the bootstrap', () => {
  it('contains the true ratio', () => {
    const random = new Random(3);
    const { low, high } = bootstrapRatio(noise(random, 50, 100, 10), noise(random, 50, 120, 10));
    assert.ok(low < 1.2 && high > 1.2 && low > 1.1 && high < 1.3, `${low} to ${high}`);
  });
});

describe('multiple tests', () => {
  it('raise the adjusted p-values', () => {
    const expected = [0.04, 0.04, 0.04, 0.5];
    for (const [i, p] of adjusted([0.01, 0.02, 0.03, 0.5]).entries())
      assert.ok(Math.abs(p - expected[i]!) < 1e-12);
    assert.deepEqual(adjusted([]), []);
  });
});
