import assert from 'node:assert/strict';
import { test } from 'node:test';
import { criticalPath } from '../../analysis/criticalPath.js';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { drawPath } from '../canvas/drawFlows.js';
import { laneBox } from '../canvas/drawTasks.js';
import { RecordingRenderer } from '../canvas/recordingRenderer.test.support.js';
import { computingRows, pathLaneAt, pathLanes } from './flows.js';
import { traceModel } from './traceModel.js';

/** b waits for a on the other worker. c ends first and delays no task. */
const trace = syntheticTrace({
  tasks: [
    { key: 'c-1', started: 0, stopped: 2, worker: 'w0' },
    { key: 'a-1', started: 0, stopped: 4, worker: 'w1' },
    { key: 'b-1', started: 5, stopped: 10, worker: 'w0', needs: ['a-1'] },
  ],
});

function drawn() {
  const model = traceModel(trace, { title: '', origin: 0 });
  const plot = model.plots[0];
  assert.ok(plot?.type === 'tasks');
  const path = criticalPath(trace);
  return { plot, path, lanes: pathLanes(path, plot, model.origin) };
}

test('a time on the critical path maps to the lane of the task that computed', () => {
  const { path, lanes } = drawn();
  assert.deepEqual(
    [0, 3.9, 4.5, 5, 9.9, 10].map((time) => pathLaneAt(lanes, time)),
    [1, 1, -1, 0, 0, -1],
  );
  assert.deepEqual([...computingRows(path)], [1, 2]);
});

test('the path is drawn along its tasks, and from one lane to the next', () => {
  const { plot, lanes } = drawn();
  const renderer = new RecordingRenderer();
  drawPath(
    renderer,
    plot.lanes,
    lanes,
    { start: 0, perColumn: 0.1, columns: 100 },
    { left: 50, height: 60 },
    'black',
  );
  const line = (lane: number) => {
    const { top, height } = laneBox(plot.lanes, lane, 60);
    return top + height - 3;
  };
  const rects = renderer.rects.map(({ x, y, width, height }) => [x, y, width, height]);
  assert.deepEqual(rects, [
    [50, line(1), 40, 3],
    [100, line(0), 1, line(1) - line(0) + 3],
    [100, line(0), 50, 3],
  ]);
});
