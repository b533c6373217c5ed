import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slotColor } from '../model/palette.js';
import { buildModel, type ProfileModel, type TaskPlot } from '../model/profileModel.js';
import { findTasks } from '../model/search.js';
import { pageOfRuns } from '../model/sectionPage.test.support.js';
import { lineSeries } from '../model/series.js';
import type { ColumnGrid } from '../model/streamDetail.js';
import { stackedPlot } from '../model/traceSeries.js';
import { drawLines, drawResources } from './drawCharts.js';
import { drawRuler, overviewShares } from './drawOverview.js';
import { drawStream, laneAt, laneBox } from './drawTasks.js';
import { RecordingRenderer } from './recordingRenderer.test.support.js';
import { fitText } from './renderer.js';
import { THEMES } from './theme.js';

const LEFT = 100;
const HEIGHT = 40;
const theme = THEMES.light;

interface Run {
  readonly key: string;
  readonly start: number;
  readonly stop: number;
}

/** Returns the model of runs on one worker. The prefix of a task is its key up to the dash. */
function modelOf(runs: readonly Run[]): { model: ProfileModel; plot: TaskPlot } {
  const model = buildModel(
    pageOfRuns(
      runs.map((run) => ({ ...run, worker: 0 })),
      ['w'],
      true,
    ),
  );
  const plot = model.plots[0]!;
  assert.ok(plot.type === 'tasks');
  return { model, plot };
}

function draw(
  runs: readonly Run[],
  grid: ColumnGrid,
  style: { emphasis?: ReadonlySet<number>; query?: string } = {},
): { renderer: RecordingRenderer; colorOf: (prefix: string) => string } {
  const { model, plot } = modelOf(runs);
  const renderer = new RecordingRenderer();
  const matches = style.query === undefined ? undefined : findTasks(model, style.query)?.lanes;
  drawStream(
    renderer,
    model,
    plot,
    grid,
    { left: LEFT, height: HEIGHT },
    { theme, emphasis: style.emphasis, matches },
  );
  const colorOf = (name: string) =>
    slotColor(model.prefixes.find((prefix) => prefix.name === name)!.slot, 'light');
  return { renderer, colorOf };
}

test('a wide task is a rectangle from its start to its stop, with its prefix in it', () => {
  const { renderer, colorOf } = draw([{ key: 'load-1', start: 0, stop: 10 }], {
    start: 0,
    perColumn: 0.1,
    columns: 200,
  });
  assert.equal(renderer.rects.length, 1);
  const [rect] = renderer.rects;
  assert.deepEqual([rect!.x, rect!.width, rect!.color], [LEFT, 99, colorOf('load')]);
  assert.deepEqual(
    renderer.texts.map(({ text }) => text),
    ['load'],
  );
});

test('a task much shorter than a pixel is visible, alone and between other tasks', () => {
  const grid = { start: 0, perColumn: 1, columns: 100 };
  const tiny = { key: 'tiny-1', start: 50.2, stop: 50.200001 };
  const alone = draw([{ key: 'first-0', start: 0, stop: 0.5 }, tiny], grid);
  const mark = alone.renderer.rects.find(({ color }) => color === alone.colorOf('tiny'))!;
  assert.deepEqual([mark.x, mark.width, mark.height], [LEFT + 50, 1, 3]);
  const between = draw(
    [{ key: 'long-0', start: 0, stop: 50.1 }, tiny, { key: 'long-1', start: 50.3, stop: 90 }],
    grid,
  );
  const order = between.renderer.rects.map(({ color }) => color);
  // The tiny task is drawn on top of the long tasks.
  assert.equal(order.lastIndexOf(between.colorOf('tiny')), order.length - 1);
});

test('in a pixel that tasks share, the height of a colour is its share of the time', () => {
  const runs = Array.from({ length: 1000 }, (_, i) => ({
    key: `${i % 2 === 0 ? 'a' : 'b'}-${i}`,
    start: i * 0.1,
    stop: i * 0.1 + (i % 2 === 0 ? 0.05 : 0.025),
  }));
  const { renderer, colorOf } = draw(runs, { start: 0, perColumn: 10, columns: 10 });
  const { height } = laneBox(modelOf(runs).plot.lanes, 0, HEIGHT);
  const areaOf = (name: string) =>
    renderer.rects
      .filter(({ color }) => color === colorOf(name))
      .reduce((sum, rect) => sum + rect.width * rect.height, 0);
  assert.ok(Math.abs(areaOf('a') - 10 * height * 0.25) < 10, `${areaOf('a')}`);
  assert.ok(Math.abs(areaOf('b') - 10 * height * 0.125) < 10, `${areaOf('b')}`);
  // Ten equal columns of a prefix become one rectangle.
  assert.ok(renderer.rects.length <= 6, `${renderer.rects.length} rectangles`);
});

test('prefixes without emphasis and tasks that do not match a search fade', () => {
  const runs = [
    { key: 'a-1', start: 0, stop: 10 },
    { key: 'b-1', start: 10, stop: 20 },
  ];
  const grid = { start: 0, perColumn: 0.1, columns: 200 };
  const faded = draw(runs, grid, { emphasis: new Set([0]) });
  const colors = faded.renderer.rects.map(({ color }) => color);
  assert.ok(colors.includes(faded.colorOf('a')) && !colors.includes(faded.colorOf('b')));
  const found = draw(runs, grid, { query: 'B-' });
  const shown = found.renderer.rects.map(({ color }) => color);
  assert.ok(shown.includes(found.colorOf('b')) && !shown.includes(found.colorOf('a')));
});

test('the lane at a height is the lane that is drawn there', () => {
  const { plot } = modelOf([
    { key: 'a-1', start: 0, stop: 10 },
    { key: 'a-2', start: 5, stop: 15 },
    { key: 'a-3', start: 6, stop: 15 },
  ]);
  assert.equal(plot.lanes.lanes.length, 3);
  for (let lane = 0; lane < 3; lane++) {
    const { top, height } = laneBox(plot.lanes, lane, HEIGHT);
    assert.equal(laneAt(plot.lanes, top + height / 2, HEIGHT), lane);
  }
  assert.equal(laneAt(plot.lanes, HEIGHT + 1, HEIGHT), -1);
});

test('charts draw a line per series within the area', () => {
  const { model } = modelOf([
    { key: 'a-1', start: 0, stop: 10 },
    { key: 'b-1', start: 4, stop: 12 },
  ]);
  const grid = { start: 0, perColumn: 0.1, columns: 120 };
  const area = { left: LEFT, width: 120, height: 100 };
  const [, cache] = model.plots;
  assert.ok(cache?.type === 'lines');
  const renderer = new RecordingRenderer();
  const of = (...values: number[]) => lineSeries(Float64Array.of(0, 4), Float64Array.from(values), 0);
  drawResources(
    { renderer, grid, area, theme },
    { type: 'resources', cpu: of(50, 50), memory: of(1e8, 1e8) },
  );
  assert.deepEqual(
    renderer.lines.map(({ color }) => color),
    [theme.cpu, theme.memory],
  );
  assert.equal(renderer.dots.length, 4);
  renderer.begin();
  drawLines({ renderer, grid, area, theme }, cache, undefined);
  assert.equal(renderer.lines.length, 2);
  for (const { points } of renderer.lines) {
    assert.ok(points.every((value, i) => i % 2 === 0 || (value >= 0 && value <= area.height)));
  }
});

test('labels of the time axis stay inside it', () => {
  const renderer = new RecordingRenderer();
  const ticks = [
    { x: 0, value: 0, label: '0' },
    { x: 300, value: 3, label: '3.000 s' },
  ];
  drawRuler(renderer, ticks, [], { left: LEFT, width: 300, height: 26 }, theme);
  for (const { text, x } of renderer.texts) {
    assert.ok(x - renderer.textWidth(text) / 2 >= LEFT && x + renderer.textWidth(text) / 2 <= LEFT + 300);
  }
});

test('text is cut with an ellipsis, or left out if nothing readable fits', () => {
  const renderer = new RecordingRenderer();
  assert.equal(fitText(renderer, 'random_sample', 78), 'random_sample');
  assert.equal(fitText(renderer, 'random_sample', 60), 'random_sa…');
  assert.equal(fitText(renderer, 'random_sample', 20), '');
});

test('the overview shows the highest line of a page without tasks', () => {
  const time = Float64Array.from([0, 5]);
  const part = (name: string, ...value: number[]) => ({ name, slot: 0, value: Float64Array.from(value) });
  const plots = [stackedPlot('Memory', 'bytes', time, [part('managed', 0, 0), part('unmanaged', 2, 4)], '')];
  const model = { ...modelOf([]).model, plots };
  const shares = overviewShares(model, { start: 0, perColumn: 1, columns: 10 });
  assert.equal(shares[2], 0.5);
});

test('the overview of a task stream shows the busy share of the workers that existed at that time', () => {
  const runs = [
    { key: 'a-1', worker: 0, start: 0, stop: 4 },
    { key: 'a-2', worker: 1, start: 5, stop: 6 },
    { key: 'gc-3', worker: 1, start: 5, stop: 8 },
  ];
  const lives = [
    { start: 0, stop: 4 },
    { start: 4, stop: 8 },
    { start: 5, stop: Number.POSITIVE_INFINITY },
  ];
  const page = pageOfRuns(runs, ['w (1)', 'w (2)', 'x'], true);
  const model = buildModel({
    ...page,
    workers: page.workers.map(({ name }, index) => ({ name, life: lives[index]! })),
    isActivity: (entry) => entry === 2,
  });
  const shares = overviewShares(model, { start: -1, perColumn: 1, columns: 9 });
  assert.deepEqual([...shares], [0, 1, 1, 1, 1, 0, 0.5, 0, 0]);
});

test('a name that does not fit keeps its start or its end', () => {
  const renderer = new RecordingRenderer();
  const width = renderer.textWidth('abcdef');
  assert.match(fitText(renderer, 'abcdefghijkl', width), /^abc.*…$/);
  assert.match(fitText(renderer, 'abcdefghijkl', width, 'end'), /^….*jkl$/);
});
