import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../base/properties.test.support.js';
import type { CacheSection } from './sections.js';
import { cacheSeries, columnRanges, linePoints, lineSeries, peakIn, valueAt } from './series.js';

interface Stay {
  readonly prefix: number;
  readonly from: number;
  readonly to: number;
  readonly metric: number;
}

function sectionOf(stays: readonly Stay[]): CacheSection {
  return {
    metricName: 'count',
    task: Int32Array.from(stays, (_, i) => i),
    prefix: Uint32Array.from(stays, ({ prefix }) => prefix),
    cacheTime: Float64Array.from(stays, (stay) => stay.from),
    freeTime: Float64Array.from(stays, (stay) => stay.to),
    metric: Float64Array.from(stays, (stay) => stay.metric),
  };
}

const anyStays: fc.Arbitrary<Stay[]> = fc.array(
  fc
    .record({ prefix: fc.nat(2), from: fc.nat(50), length: fc.nat(20), metric: fc.nat(9) })
    .map(({ prefix, from, length, metric }) => ({ prefix, from, to: from + length, metric })),
  { maxLength: 40, size: 'max' },
);

test('the cache line is the sum of the metric over the results in the cache at a time', () => {
  fc.assert(
    fc.property(anyStays, fc.nat(80), (stays, time) => {
      const lines = cacheSeries(sectionOf(stays), 0);
      for (const { prefix, series } of lines) {
        const inside = stays.filter((stay) => stay.prefix === prefix && stay.from <= time && time < stay.to);
        assert.equal(
          valueAt(series, time),
          inside.reduce((sum, stay) => sum + stay.metric, 0),
        );
        assert.equal(series.value.at(-1), 0);
        for (let i = 1; i < series.time.length; i++) assert.ok(series.time[i]! > series.time[i - 1]!);
      }
      assert.equal(lines.length, new Set(stays.map((stay) => stay.prefix)).size);
    }),
  );
});

test('a line keeps every peak of the window, for dense and sparse samples', () => {
  const samples = fc.array(fc.tuple(fc.nat(1000), fc.nat(1000)), {
    minLength: 1,
    maxLength: 400,
    size: 'max',
  });
  fc.assert(
    fc.property(samples, fc.integer({ min: 1, max: 60 }), fc.boolean(), (pairs, columns, steps) => {
      pairs.sort((a, b) => a[0] - b[0]);
      const time = Float64Array.from(pairs, ([at]) => at);
      const value = Float64Array.from(pairs, ([, number]) => number);
      const series = { ...lineSeries(time, value, 0), steps };
      const grid = { start: 0, perColumn: 1001 / columns, columns };
      const points = linePoints(series, grid).filter((_, i) => i % 2 === 1);
      const { low, high } = columnRanges(series, grid);
      const shown = [...high].filter((number) => !Number.isNaN(number));
      const lowest = [...low].filter((number) => !Number.isNaN(number));
      const least = steps ? 0 : Math.min(...value);
      assert.equal(Math.max(...points), Math.max(...value));
      assert.equal(Math.min(...points), least);
      assert.equal(Math.max(...shown), Math.max(...value));
      assert.equal(Math.min(...lowest), least);
    }),
  );
});

test('dense columns join their neighbours, hold steps, and end with the samples', () => {
  const step = (time: number[], value: number[]) => ({
    time: Float64Array.from(time),
    value: Float64Array.from(value),
    steps: true,
    largest: Math.max(...value),
  });
  const grid = { start: 0, perColumn: 1, columns: 5 };
  assert.deepEqual(columnRanges(step([0.5, 0.6, 2.5, 3.5], [5, 7, 1, 0]), grid), {
    low: Float64Array.of(0, 7, 1, 0, Number.NaN),
    high: Float64Array.of(7, 7, 7, 1, Number.NaN),
  });
  // A window in the middle starts with the value that holds there, not with an earlier value.
  assert.deepEqual(columnRanges(step([-3, -2, 0.5, 9], [8, 3, 4, 0]), { ...grid, columns: 2 }), {
    low: Float64Array.of(3, 4),
    high: Float64Array.of(4, 4),
  });
  const line = lineSeries(Float64Array.of(0, 4), Float64Array.of(0, 8), 0);
  assert.deepEqual(columnRanges(line, { ...grid, columns: 4 }), {
    low: Float64Array.of(0, 2, 4, 6),
    high: Float64Array.of(2, 4, 6, 8),
  });
});

test('a line has the value of the nearest sample, and no value outside the samples', () => {
  const series = lineSeries(Float64Array.of(10, 20, 30), Float64Array.of(1, 2, 3), 10);
  assert.deepEqual(
    [-1, 0, 4, 6, 20, 21].map((time) => valueAt(series, time)),
    [undefined, 1, 1, 2, 3, undefined],
  );
});

test('a window between two samples still shows the line through it', () => {
  const series = lineSeries(Float64Array.of(0, 100), Float64Array.of(0, 100), 0);
  assert.deepEqual(linePoints(series, { start: 40, perColumn: 1, columns: 20 }), [-40, 0, 60, 100]);
});

test('the peak of a line is that of the visible window; a step before the window lasts into it', () => {
  const time = Float64Array.of(0, 1, 2, 3);
  const value = Float64Array.of(9, 4, 5, 1);
  const steps = { time, value, steps: true, largest: 9 };
  assert.equal(peakIn(steps, undefined, { start: 0, stop: 3 }), 9);
  assert.equal(peakIn(steps, undefined, { start: 0.5, stop: 1 }), 9);
  assert.equal(peakIn(steps, undefined, { start: 1, stop: 3 }), 5);
  assert.equal(peakIn(steps, undefined, { start: 2.5, stop: 3 }), 5);
  // The height of a surface of a stack.
  const below = { time, value: Float64Array.of(8, 1, 4, 1), steps: true, largest: 8 };
  assert.equal(peakIn(steps, below, { start: 1, stop: 3 }), 3);
  const line = { ...steps, steps: false };
  assert.equal(peakIn(line, undefined, { start: 0.5, stop: 1 }), 4);
  assert.equal(peakIn(line, undefined, { start: 2.1, stop: 2.4 }), 5, 'the nearest sample');
  assert.equal(peakIn(line, undefined, { start: 4, stop: 5 }), undefined);
});
