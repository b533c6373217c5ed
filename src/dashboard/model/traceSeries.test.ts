import assert from 'node:assert/strict';
import { test } from 'node:test';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { peakLabel } from './ticks.js';
import { bandwidthPlot, figurePlot, memoryPlot, seriesOfRows } from './traceSeries.js';

/** Returns the points of the uppermost surface: the time, and the bytes in MB. */
function points({ lines }: ReturnType<typeof memoryPlot>): number[][] {
  const { time, value } = lines.at(-1)!.series;
  return Array.from(time, (at, i) => [at, value[i]! / 1e6]);
}

test('the memory of a worker that has left counts 0', () => {
  const trace = syntheticTrace({
    workers: [{ name: 'w0', stopped: 12 }, { name: 'w1', stopped: 16 }, { name: 'w2' }],
    memory: [
      { worker: 'w0', time: 10, managed: 1e6, unmanaged: 2e6 },
      { worker: 'w1', time: 11, managed: 5e6 },
      // A sample that arrives after the worker has left is ignored.
      { worker: 'w0', time: 13, managed: 9e6 },
      { worker: 'w1', time: 14, managed: 4e6, spilled: 2e6 },
    ],
  });
  assert.deepEqual(points(memoryPlot(trace, 10)), [
    [0, 3],
    [1, 8],
    [2, 5],
    [4, 6],
  ]);
  assert.deepEqual(points(memoryPlot(trace, 10, 0)), [
    [0, 3],
    [2, 0],
  ]);
  assert.deepEqual(memoryPlot(trace, 10, 2).lines, []);
});

test('a line has no slope over a pause without samples, but the value of the first sample after it', () => {
  const times = Float64Array.from({ length: 40 }, (_, i) => (i < 20 ? i : i + 80));
  const values = times.map((time) => (time < 20 ? 70 : 1));
  const { time, value } = seriesOfRows(times.keys(), times, values, 0);
  assert.deepEqual([...time].slice(18, 23), [18, 19, 19, 100, 101]);
  assert.deepEqual([...value].slice(18, 23), [70, 70, 1, 1, 1]);
});

test('the bandwidth is a mean over a time, which the heading names instead of a peak', () => {
  const trace = syntheticTrace({
    workers: [{ name: 'w0' }, { name: 'w1' }],
    transfers: [
      { worker: 'w0', peer: 'w1', direction: 'incoming', nbytes: 1e6, start: 10, stop: 10.001 },
      { worker: 'w0', peer: 'w1', direction: 'incoming', nbytes: 1e6, start: 49, stop: 50 },
    ],
  });
  const { lines, meanOf } = bandwidthPlot(trace, 10);
  assert.equal(meanOf, 0.1);
  // 1 MB in 1 ms is 10 MB/s in the mean of 0.1 s.
  assert.ok(Math.abs(lines[0]!.series.largest - 1e7) < 1);
  assert.equal(peakLabel(meanOf), 'highest mean of 100\u00a0ms');
  assert.equal(peakLabel(memoryPlot(trace, 10).meanOf), 'peak');
});

test('a plot with more workers than colours draws the first 12 and counts the others', () => {
  const workers = Array.from({ length: 60 }, (_, i) => `w${i}`);
  const trace = syntheticTrace({
    workers: workers.map((name) => ({ name })),
    resources: workers.map((worker) => ({ worker, time: 10, figures: { cpu: 5 } })),
  });
  const plot = figurePlot(trace, 10, 'workers', { figure: 'cpu', title: 'CPU', unit: 'percent' });
  assert.deepEqual([plot.lines.length, plot.lines.at(-1)?.name, plot.omitted], [12, 'w11', 48]);
});
