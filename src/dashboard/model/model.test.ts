import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../base/properties.test.support.js';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import {
  formatBytes,
  formatChange,
  formatClock,
  formatDuration,
  formatNumber,
  formatPercent,
} from './format.js';
import { hitLane } from './hitTest.js';
import { HEADING, layoutPlots } from './pageLayout.js';
import { buildModel, type TaskPlot } from './profileModel.js';
import { findTasks, laterMatch } from './search.js';
import { pageOfRuns, type SampleRun } from './sectionPage.test.support.js';
import type { SectionPage } from './sections.js';
import type { LaneRow } from './taskLanes.js';
import { alignedAxis, preciseTime, timeTicks, valueAxis } from './ticks.js';
import { clip, pan, reveal, showsAll, showsEnd, snapToPixels, spanOf, within, zoom } from './timeView.js';
import { traceModel } from './traceModel.js';

/** Seconds since the epoch at which the sample run starts. */
const EPOCH = 1_700_000_000;
const plain = (text: string) => text.replaceAll('\u00a0', ' ');

const pageOf = (runs: readonly SampleRun[], workers: readonly string[]): SectionPage =>
  pageOfRuns(
    runs.map((run) => ({ ...run, start: EPOCH + run.start, stop: EPOCH + run.stop })),
    workers,
  );

const SAMPLE: readonly SampleRun[] = [
  { key: 'load-1', worker: 0, start: 2, stop: 6 },
  { key: 'load-2', worker: 1, start: 2, stop: 5 },
  { key: 'sum-1', worker: 1, start: 6, stop: 7 },
];

function streamOf(page: SectionPage): TaskPlot {
  const plot = buildModel(page).plots[0]!;
  assert.ok(plot.type === 'tasks');
  return plot;
}

test('times count from the first event, workers are in natural order, prefixes are counted', () => {
  const model = buildModel(pageOf(SAMPLE, ['threads-10', 'threads-9', 'threads-2']));
  assert.equal(model.origin, EPOCH + 2);
  assert.equal(model.duration, 5);
  assert.equal(model.taskCount, 3);
  assert.deepEqual(
    model.legend.map(({ name, count, seconds }) => [name, count, seconds]),
    [
      ['load', 2, 7],
      ['sum', 1, 1],
    ],
  );
  const { rows, lanes } = streamOf(pageOf(SAMPLE, ['threads-10', 'threads-9', 'threads-2'])).lanes;
  const groupsOf = ({ firstLane, laneCount }: LaneRow) =>
    lanes.slice(firstLane, firstLane + laneCount).flat();
  assert.deepEqual(
    rows.map((row) => [row.name, groupsOf(row).reduce((runs, { from, to }) => runs + to - from, 0)]),
    [
      ['threads-2', 0],
      ['threads-9', 2],
      ['threads-10', 1],
    ],
  );
});

test('a page without events or with a single instant has a time axis', () => {
  assert.equal(buildModel(pageOf([], [])).duration, 1);
  const instant = buildModel(pageOf([{ key: 'a', worker: 0, start: 1, stop: 1 }], ['w']));
  assert.ok(instant.duration > 0 && spanOf(instant.limits) > 0);
});

test('search ignores case and finds runs in order of time', () => {
  const model = buildModel(pageOf(SAMPLE, ['a', 'b']));
  const found = findTasks(model, ' LOAD ')!;
  assert.equal(found.count, 2);
  assert.equal(findTasks(model, '-1')!.inOrder.length, 2);
  assert.equal(findTasks(model, '   '), undefined);
  assert.equal(findTasks(model, 'nothing')!.count, 0);
});

test('a match of the search is found in a later model in which earlier rows were evicted, unless it was evicted itself', () => {
  const task = (i: number, started: number) => ({ key: `load-${i % 3}`, started, stopped: started + 1 });
  const modelOf = (origin: number, ...numbers: number[]) =>
    traceModel(syntheticTrace({ tasks: numbers.map((i) => task(i, i)) }), { title: '', origin });
  // A task that began before the others moves time 0.
  const [before, later] = [modelOf(0, 1, 2, 3, 4, 5), modelOf(-0.3, 3, 4, 5, 6)];
  const indices = findTasks(before, 'load')!.inOrder.map((match) =>
    laterMatch(before, match, later, findTasks(later, 'load')),
  );
  assert.deepEqual(indices, [-1, -1, 0, 1, 2]);
});

test('search finds tasks without a run after the others', () => {
  const trace = syntheticTrace({
    tasks: [
      { key: 'load-1', started: Number.NaN, stopped: Number.NaN, state: 'lost' },
      { key: 'load-2', started: 3, stopped: 4 },
      { key: 'load-3', started: 1, stopped: 2 },
      { key: 'add-1', started: Number.NaN, stopped: Number.NaN, state: 'cancelled' },
    ],
  });
  const model = traceModel(trace, { title: '' });
  assert.deepEqual(
    findTasks(model, 'load')!.inOrder.map(({ task }) => task),
    [2, 1, 0],
  );
  assert.deepEqual(findTasks(model, 'add')!.inOrder, [{ task: 3 }]);
  // The search of the profile page finds functions.
  assert.equal(findTasks({ ...model, findsTasks: false }, 'add'), undefined);
});

test('the pointer hits a wide run, the only narrow run of a pixel, the nearest run, or the sum of many runs', () => {
  const many = Array.from({ length: 100 }, (_, i) => ({
    key: `${i % 4 === 0 ? 'a' : 'b'}-${i}`,
    worker: 0,
    start: 50 + i / 100,
    stop: 50 + (i + 1) / 100,
  }));
  const { lanes } = streamOf(
    pageOf(
      [
        { key: 'wide-1', worker: 0, start: 0, stop: 20 },
        { key: 'thin-1', worker: 0, start: 30, stop: 30.25 },
        ...many,
      ],
      ['w'],
    ),
  );
  const grid = { start: 0, perColumn: 1, columns: 100 };
  const keyStart = (x: number) => {
    const hit = hitLane(lanes, 0, grid, x);
    return hit?.kind === 'run' ? lanes.start[hit.position] : hit?.kind;
  };
  assert.equal(keyStart(10), 0);
  assert.equal(keyStart(30.9), 30);
  assert.equal(keyStart(32), 30);
  assert.equal(keyStart(40), undefined);
  const hit = hitLane(lanes, 0, grid, 50.5);
  assert.ok(hit?.kind === 'density');
  assert.equal(hit.runs, 100);
  assert.ok(Math.abs(hit.busy - 1) < 1e-5);
  assert.deepEqual(
    hit.parts.map(({ runs }) => runs),
    [75, 25],
  );
});

test('a window never leaves its limits, and zooming keeps the anchor in place', () => {
  const limits = { start: -1, stop: 101 };
  const number = fc.double({ min: -500, max: 500, noNaN: true });
  const factor = fc.double({ min: 0.01, max: 50, noNaN: true });
  fc.assert(
    fc.property(
      number,
      fc.double({ min: 0, max: 900, noNaN: true }),
      factor,
      number,
      (start, span, by, seconds) => {
        const window = within(limits, { start, stop: start + span });
        for (const next of [
          window,
          zoom(limits, window, by, (window.start + window.stop) / 2),
          pan(limits, window, seconds),
          reveal(limits, window, 3, 4),
        ]) {
          assert.ok(
            next.start >= limits.start - 1e-9 && next.stop <= limits.stop + 1e-9 && next.stop > next.start,
          );
        }
        assert.ok(Math.abs(spanOf(pan(limits, window, seconds)) - spanOf(window)) < 1e-6);
      },
    ),
  );
  const closer = zoom(limits, { start: 0, stop: 100 }, 0.5, 25);
  assert.deepEqual(closer, { start: 12.5, stop: 62.5 });
});

test('a window over the whole run has exactly its limits, for runs of any length', () => {
  const seconds = fc.double({ min: 1e-3, max: 1e5, noNaN: true });
  fc.assert(
    fc.property(seconds, fc.double({ min: 0, max: 0.01, noNaN: true }), (duration, margin) => {
      const limits = { start: 0 - duration * margin, stop: duration + duration * margin };
      assert.deepEqual(within(limits, limits), limits);
      assert.deepEqual(zoom(limits, limits, 2, duration / 3), limits);
      assert.ok(showsAll(limits, limits));
      const end = pan(limits, zoom(limits, limits, 0.5, duration / 3), duration);
      assert.ok(!showsAll(limits, end) && showsEnd(limits, end));
    }),
  );
});

test('a range is clipped to the limits; a range beyond them becomes the nearest window', () => {
  const limits = { start: -1, stop: 101 };
  assert.deepEqual(clip(limits, { start: 50, stop: 900 }), { start: 50, stop: 101 });
  assert.deepEqual(clip(limits, { start: -50, stop: 3 }), { start: -1, stop: 3 });
  assert.deepEqual(clip(limits, { start: 200, stop: 210 }), { start: 91, stop: 101 });
  assert.deepEqual(clip(limits, { start: -900, stop: 900 }), limits);
});

test('panning by less than a pixel shows the same columns', () => {
  const shown = snapToPixels({ start: 10.0003, stop: 20.0003 }, 1000);
  assert.equal(shown.start, snapToPixels({ start: 10.0001, stop: 20.0001 }, 1000).start);
});

test('revealing a visible task keeps the window; revealing another task moves it', () => {
  const limits = { start: 0, stop: 1000 };
  const window = { start: 100, stop: 200 };
  assert.equal(reveal(limits, window, 150, 160), window);
  const moved = reveal(limits, window, 500, 510);
  assert.ok(moved.start < 500 && moved.stop > 510);
});

test('time ticks are inside the window, spaced, distinct and in one unit', () => {
  const starts = fc.double({ min: 0, max: 5000, noNaN: true });
  const spans = fc.double({ min: -5.5, max: 5, noNaN: true }).map((power) => 10 ** power);
  fc.assert(
    fc.property(starts, spans, fc.integer({ min: 400, max: 2000 }), (start, span, width) => {
      const ticks = timeTicks(start, start + span, width);
      for (const { value } of ticks)
        assert.ok(value >= start - span * 1e-6 && value <= start + span * (1 + 1e-6));
      assert.ok(ticks.length <= width / 100 + 2, `${ticks.length} ticks on ${width} px`);
      assert.equal(new Set(ticks.map(({ label }) => label)).size, ticks.length);
    }),
  );
  const labels = (start: number, stop: number) =>
    timeTicks(start, stop, 600).map(({ label }) => plain(label));
  assert.deepEqual(labels(0, 12.6), ['0', '5 s', '10 s']);
  assert.deepEqual(labels(10, 10.05), ['10.00 s', '10.01 s', '10.02 s', '10.03 s', '10.04 s', '10.05 s']);
  assert.deepEqual(labels(0, 0.004), ['0', '1 ms', '2 ms', '3 ms', '4 ms']);
  assert.deepEqual(labels(0, 600), ['0', '2 min', '4 min', '6 min', '8 min', '10 min']);
  assert.deepEqual(labels(300, 360).slice(0, 2), ['5:00', '5:15']);
  // Samples and messages can be earlier than the first task.
  assert.deepEqual(labels(-200, -100).slice(0, 3), ['-3:20', '-3:00', '-2:40']);
  assert.deepEqual(labels(-7200, 3600), ['-2:00 h', '-1:00 h', '0', '1:00 h']);
});

test('value axes reach the largest value in round steps', () => {
  const axis = (largest: number, unit: 'number' | 'bytes' | 'percent', most: number) =>
    valueAxis(largest, unit, most).ticks.map(({ label }) => plain(label));
  assert.deepEqual(axis(396, 'percent', 5), ['0 %', '100 %', '200 %', '300 %', '400 %']);
  assert.deepEqual(axis(800, 'percent', 3), ['0 %', '400 %', '800 %']);
  assert.deepEqual(axis(97, 'percent', 5), ['0 %', '25 %', '50 %', '75 %', '100 %']);
  assert.deepEqual(axis(1.33e9, 'bytes', 4), ['0', '500 MB', '1 GB', '1.5 GB']);
  assert.deepEqual(axis(3, 'number', 5), ['0', '1', '2', '3']);
  assert.deepEqual(axis(0, 'number', 4).at(-1), '1');
  fc.assert(
    fc.property(
      fc.double({ min: 1e-6, max: 1e12, noNaN: true }),
      fc.integer({ min: 1, max: 8 }),
      (largest, most) => {
        for (const unit of ['number', 'bytes', 'percent'] as const) {
          const { top, ticks } = valueAxis(largest, unit, most);
          assert.ok(
            top >= largest * (1 - 1e-6) && ticks.length <= most + 3,
            `${unit} ${largest}: ${ticks.length}`,
          );
        }
      },
    ),
  );
});

test('a second axis has its ticks on the lines of the first', () => {
  const labels = alignedAxis(1.33e9, 'bytes', 4).ticks.map(({ label }) => plain(label));
  assert.deepEqual(labels, ['0', '400 MB', '800 MB', '1.2 GB', '1.6 GB']);
  fc.assert(
    fc.property(
      fc.double({ min: 1e-6, max: 1e12, noNaN: true }),
      fc.integer({ min: 1, max: 8 }),
      (largest, steps) => {
        const { top, ticks } = alignedAxis(largest, 'bytes', steps);
        assert.ok(top >= largest * (1 - 1e-9) && top <= largest * 1.34 && ticks.length === steps + 1);
      },
    ),
  );
});

test('numbers are formatted with three digits and a unit', () => {
  const durations = [0, 8.7e-8, 1.234e-5, 0.0005, 0.9999, 1.5, 20, 99.96, 125, 3599.6, 7170, 7500];
  assert.deepEqual(durations.map(formatDuration).map(plain), [
    '0 s',
    '87.0 ns',
    '12.3 µs',
    '500 µs',
    '1.00 s',
    '1.50 s',
    '20.0 s',
    '1 min 40 s',
    '2 min 05 s',
    '1 h 00 min',
    '2 h 00 min',
    '2 h 05 min',
  ]);
  assert.deepEqual([0, 999, 1000, 8e6, 1.33e9, 999.6e6].map(formatBytes).map(plain), [
    '0 B',
    '999 B',
    '1 kB',
    '8 MB',
    '1.33 GB',
    '1 GB',
  ]);
  assert.deepEqual([0, 0.01, 0.4, 87.4, 396].map(formatPercent).map(plain), [
    '0 %',
    '<0.1 %',
    '0.4 %',
    '87 %',
    '396 %',
  ]);
  assert.deepEqual([0, 0.00123, 1.5, 12.34, 123456].map(formatNumber), [
    '0',
    '0.00123',
    '1.5',
    '12.3',
    '123,456',
  ]);
});

test('a time late in a long run is as precise as the window', () => {
  const times = (span: number) => [3, 599.5, 4983.25, -600].map((time) => plain(preciseTime(time, span)));
  assert.deepEqual(times(1), ['3.000 s', '599.500 s', '1:23:03.250', '−10:00.000']);
  assert.deepEqual(times(500), ['3.0 s', '599.5 s', '1:23:03.3', '−10:00.0']);
  assert.deepEqual(times(7200), ['3.00 s', '10 min 00 s', '1:23:03', '−10 min 00 s']);
  assert.equal(plain(preciseTime(4983.25, 40_000)), '1 h 23 min');
});

test('unknown numbers and times are shown as a dash', () => {
  for (const format of [formatNumber, formatDuration, formatBytes, formatPercent, formatClock])
    for (const unknown of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
      assert.equal(format(unknown), '–', `${format.name}(${unknown})`);
});

test('a change that rounds to zero has no sign', () => {
  assert.deepEqual(
    [0.0004, -0.0004, 0, 0.012, -1.5].map((change) => formatChange(change, 3)),
    ['0.000', '0.000', '0.000', '+0.012', '−1.500'],
  );
});

test('plots fill the height and never overlap', () => {
  const lanes = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 200 })), {
    minLength: 1,
    maxLength: 5,
  });
  fc.assert(
    fc.property(lanes, fc.integer({ min: 200, max: 2000 }), (counts, height) => {
      const { boxes, total } = layoutPlots(counts, height);
      boxes.forEach((box, i) => {
        assert.ok(box.height >= 1);
        const next = boxes[i + 1];
        if (next !== undefined) assert.ok(next.top >= box.top + HEADING + box.height);
      });
      assert.ok(total >= boxes.at(-1)!.top);
    }),
  );
  const { total } = layoutPlots([4, 0, 0], 780);
  assert.ok(total <= 781 && total > 700, `${total}`);
});
