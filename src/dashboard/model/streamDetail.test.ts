import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../base/properties.test.support.js';
import type { TaskSection } from './sections.js';
import { type ColumnGrid, layoutGroup, MIN_WIDTH, usedSeconds } from './streamDetail.js';
import { buildLanes, type TaskLanes } from './taskLanes.js';

interface Run {
  readonly worker: number;
  readonly prefix: number;
  readonly start: number;
  readonly stop: number;
}

const ORIGIN = 1.7e9;
const ALWAYS = { start: Number.NEGATIVE_INFINITY, stop: Number.POSITIVE_INFINITY };
const WORKERS = [0, 1, 2].map((index) => ({ index, name: `w-${index}`, life: ALWAYS }));

function lanesOf(runs: readonly Run[], isActivity = (_entry: number): boolean => false): TaskLanes {
  const section: TaskSection = {
    task: Uint32Array.from(runs, (_, i) => i),
    worker: Uint32Array.from(runs, (run) => run.worker),
    start: Float64Array.from(runs, (run) => ORIGIN + run.start),
    stop: Float64Array.from(runs, (run) => ORIGIN + run.stop),
  };
  return buildLanes(section, (entry) => runs[entry]!.prefix, WORKERS, ORIGIN, isActivity, []);
}

/** Runs at multiples of 2^-10 s, so that sums of their lengths are exact. Some overlap, some are empty. */
const anyRuns: fc.Arbitrary<Run[]> = fc.array(
  fc
    .record({
      worker: fc.nat(2),
      prefix: fc.nat(3),
      at: fc.nat(8192),
      ticks: fc.oneof(fc.nat(3), fc.nat(2000)),
    })
    .map(({ worker, prefix, at, ticks }) => ({
      worker,
      prefix,
      start: at / 1024,
      stop: (at + ticks) / 1024,
    })),
  { maxLength: 200, size: 'max' },
);

const anyGrid: fc.Arbitrary<ColumnGrid> = fc
  .record({
    start: fc.double({ min: -1, max: 9, noNaN: true }),
    span: fc.double({ min: 1e-3, max: 12, noNaN: true }),
    columns: fc.integer({ min: 1, max: 300 }),
  })
  .map(({ start, span, columns }) => ({ start, perColumn: span / columns, columns }));

/** Returns what is drawn of each (worker, prefix): seconds inside the grid, and the number of runs. */
function drawn(lanes: TaskLanes, grid: ColumnGrid) {
  const totals = new Map<string, { seconds: number; runs: number }>();
  lanes.lanes.forEach((groups, lane) => {
    const worker = Number(lanes.rows[lanes.rowOfLane[lane]!]!.name.slice(2));
    for (const group of groups) {
      const total = totals.get(`${worker}/${group.prefix}`) ?? { seconds: 0, runs: 0 };
      totals.set(`${worker}/${group.prefix}`, total);
      layoutGroup(lanes, group, grid, {
        run(position, from, to) {
          assert.ok(to - from >= MIN_WIDTH * (1 - 1e-6), 'a rectangle is wide');
          assert.ok(position >= group.from && position < group.to);
          const columns = Math.min(grid.columns, to) - Math.max(0, from);
          total.seconds += Math.max(0, columns) * grid.perColumn;
          total.runs++;
        },
        density(column, seconds, runs) {
          assert.ok(Number.isInteger(column) && column >= 0 && column < grid.columns, `column ${column}`);
          assert.ok(seconds >= 0, 'seconds are not negative');
          assert.ok(seconds <= grid.perColumn * (1 + 1e-6) + 2e-6, 'a column holds no more than its width');
          total.seconds += seconds;
          total.runs += runs;
        },
      });
    }
  });
  return totals;
}

test('every second and every run of a window is drawn at any zoom', () => {
  fc.assert(
    fc.property(anyRuns, anyGrid, (runs, grid) => {
      const totals = drawn(lanesOf(runs), grid);
      const end = grid.start + grid.columns * grid.perColumn;
      for (let worker = 0; worker < 3; worker++) {
        for (let prefix = 0; prefix < 4; prefix++) {
          const own = runs.filter((run) => run.worker === worker && run.prefix === prefix);
          const visible = own.filter(
            (run) => (run.stop > grid.start || run.start >= grid.start) && run.start < end,
          );
          const seconds = visible.reduce(
            (sum, run) => sum + Math.max(0, Math.min(end, run.stop) - Math.max(grid.start, run.start)),
            0,
          );
          const total = totals.get(`${worker}/${prefix}`) ?? { seconds: 0, runs: 0 };
          assert.equal(total.runs, visible.length, 'runs');
          assert.ok(Math.abs(total.seconds - seconds) < 1e-6, `${total.seconds} s drawn of ${seconds} s`);
        }
      }
    }),
    { numRuns: 500 },
  );
});

test('runs of one lane do not overlap, and no run is lost', () => {
  fc.assert(
    fc.property(anyRuns, (runs) => {
      const lanes = lanesOf(runs);
      assert.deepEqual(
        [...lanes.entry].sort((a, b) => a - b),
        runs.map((_, i) => i),
      );
      for (const groups of lanes.lanes) {
        const positions = groups.flatMap(({ from, to }) =>
          Array.from({ length: to - from }, (_, i) => from + i),
        );
        positions.sort((a, b) => lanes.start[a]! - lanes.start[b]! || lanes.stop[a]! - lanes.stop[b]!);
        for (let i = 1; i < positions.length; i++) {
          assert.ok(lanes.start[positions[i]!]! >= lanes.stop[positions[i - 1]!]! - 2e-6);
        }
      }
    }),
  );
});

test('consecutive runs share a lane, overlapping runs have separate lanes, idle workers keep a row', () => {
  const run = (worker: number, start: number, stop: number): Run => ({ worker, prefix: 0, start, stop });
  const lanes = lanesOf([run(0, 0, 1), run(0, 1, 2), run(2, 0, 2), run(2, 1, 3)]);
  assert.deepEqual(
    lanes.rows.map((row) => [row.name, row.laneCount, usedSeconds(lanes, row, 0, 3)]),
    [
      ['w-0', 1, 2],
      ['w-1', 1, 0],
      ['w-2', 2, 4],
    ],
  );
});

test('tasks make a worker busy, other activities do not', () => {
  const runs = [
    { worker: 0, prefix: 0, start: 0, stop: 2 },
    { worker: 0, prefix: 1, start: 1, stop: 2 },
    { worker: 0, prefix: 1, start: 2, stop: 3 },
    { worker: 0, prefix: 0, start: 3, stop: 4 },
  ];
  const lanes = lanesOf(runs, (entry) => runs[entry]!.prefix === 1);
  const seconds = (start: number, stop: number): number =>
    lanes.rows.reduce((sum, row) => sum + usedSeconds(lanes, row, start, stop), 0);
  assert.ok(Math.abs(seconds(0, 4) - 3) < 1e-6);
  assert.ok(Math.abs(seconds(1, 3.5) - 1.5) < 1e-6);
});

test('a million narrow runs cost at most two calls per column', () => {
  const count = 1_000_000;
  const section: TaskSection = {
    task: new Uint32Array(count),
    worker: new Uint32Array(count),
    start: Float64Array.from({ length: count }, (_, i) => ORIGIN + i * 1e-5),
    stop: Float64Array.from({ length: count }, (_, i) => ORIGIN + i * 1e-5 + 9e-6),
  };
  const lanes = buildLanes(
    section,
    () => 0,
    [{ index: 0, name: 'w', life: ALWAYS }],
    ORIGIN,
    () => false,
    [],
  );
  let calls = 0;
  let runs = 0;
  layoutGroup(
    lanes,
    lanes.lanes[0]![0]!,
    { start: 0, perColumn: 10 / 1200, columns: 1200 },
    {
      run: () => assert.fail('all runs are narrow'),
      density: (_column, _seconds, started) => {
        calls++;
        runs += started;
      },
    },
  );
  assert.equal(runs, count);
  assert.ok(calls <= 2 * 1200, `${calls} calls`);
});
