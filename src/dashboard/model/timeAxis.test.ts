import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idleStretches } from './idleStretches.js';
import { columnAtTime, partAt, timeAtColumn, timeAxis } from './timeAxis.js';

const RUN = { start: 0, stop: 100 };

function stretches(entries: readonly (readonly [number, number])[], least = 5) {
  const start = Float64Array.from(entries, ([from]) => from + 1000);
  const stop = Float64Array.from(entries, ([, to]) => to + 1000);
  return idleStretches({ start, stop }, 1000, RUN, least);
}

test('an idle stretch lies between the last end and the next start, whatever the order of entries', () => {
  assert.deepEqual(
    stretches([
      [70.5, 100],
      [0, 10.25],
      [2, 3],
      [4, 20.125],
    ]),
    [{ start: 20.125, stop: 70.5 }],
  );
});

test('a run that begins late has an idle stretch; a task that spans a pause, and short pauses, leave none', () => {
  assert.deepEqual(stretches([[50, 100]]), [{ start: 0, stop: 50 }]);
  const spanned: [number, number][] = [
    [0, 10],
    [60, 100],
    [5, 70],
  ];
  assert.deepEqual(stretches(spanned), []);
  const short: [number, number][] = [
    [0, 48],
    [52, 100],
  ];
  assert.deepEqual(stretches(short), []);
  assert.deepEqual(stretches(short, 3), [{ start: 48, stop: 52 }]);
});

test('entries that are no work do not end an idle stretch', () => {
  const start = Float64Array.of(0, 50, 90);
  const stop = Float64Array.of(10, 51, 100);
  const found = idleStretches({ start, stop }, 0, RUN, 5, (entry) => entry !== 1);
  assert.deepEqual(found, [{ start: 10, stop: 90 }]);
});

const MODEL = { idle: [{ start: 10, stop: 90 }], limits: RUN, plots: [] };

test('the axis of a whole run folds an idle stretch into a break of fixed width, and both parts have one scale', () => {
  const axis = timeAxis(MODEL, RUN, 1000);
  const [first, last] = axis.parts;
  const [fold] = axis.breaks;
  assert.ok(first !== undefined && last !== undefined && fold !== undefined);
  assert.equal(axis.parts.length, 2);
  assert.equal(first.columns + fold.columns + last.columns, 1000);
  assert.equal(last.left, fold.left + fold.columns);
  assert.ok(Math.abs(first.columns - last.columns) <= 1);
  for (const time of [0, 5, 10, 12, 50, 89, 90, 95, 100])
    assert.ok(Math.abs(timeAtColumn(axis, columnAtTime(axis, time)) - time) < 1e-9, String(time));
  for (let time = 0; time < 100; time++)
    assert.ok(columnAtTime(axis, time) < columnAtTime(axis, time + 1), String(time));
  assert.equal(partAt(axis, fold.left + 1), undefined);
  assert.equal(partAt(axis, last.left), last);
});

test('a zoomed axis, and a stretch that is not wider than a break, are not folded', () => {
  assert.deepEqual(timeAxis(MODEL, { start: 0, stop: 99 }, 1000).breaks, []);
  assert.deepEqual(timeAxis({ ...MODEL, idle: [{ start: 10, stop: 21 }] }, RUN, 1000).breaks, []);
});
