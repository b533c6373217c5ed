import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../base/properties.test.support.js';
import { tasksAt } from './cpuProfile.js';

test('a sample belongs to the interval around its time, and to the latest one where intervals overlap', () => {
  const times = Float64Array.of(0, 1, 1.5, 2, 2.5, 9);
  const found = tasksAt(times, {
    starts: [1, 1.5, 8],
    stops: [3, 2, Number.POSITIVE_INFINITY],
    tasks: [10, 11, 12],
  });
  assert.deepEqual(Array.from(found), [-1, 10, 11, 11, 10, 12]);
});

test('the result equals that of a search through every interval', () => {
  const intervals = fc
    .array(fc.tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 10 })), { maxLength: 10 })
    .map((pairs) =>
      pairs.map(([start, length]) => ({ start, stop: start + length })).sort((a, b) => a.start - b.start),
    );
  fc.assert(
    fc.property(intervals, fc.array(fc.integer({ min: 0, max: 40 })), (list, unsorted) => {
      const times = Float64Array.from(unsorted).sort();
      const found = tasksAt(times, {
        starts: list.map(({ start }) => start),
        stops: list.map(({ stop }) => stop),
        tasks: list.map((_interval, index) => index),
      });
      const expected = Array.from(times, (time) =>
        list.findLastIndex(({ start, stop }) => start <= time && time <= stop),
      );
      assert.deepEqual(Array.from(found), expected);
    }),
  );
});
