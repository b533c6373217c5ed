import assert from 'node:assert/strict';
import { test } from 'node:test';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { drawFlows } from '../canvas/drawFlows.js';
import { laneBox } from '../canvas/drawTasks.js';
import { RecordingRenderer } from '../canvas/recordingRenderer.test.support.js';
import { flowsOf } from './flows.js';
import { traceModel } from './traceModel.js';

/** c needs a and b, and d needs c. */
const trace = syntheticTrace({
  tasks: [
    { key: 'a-1', started: 0, stopped: 2, worker: 'w0' },
    { key: 'b-1', started: 0, stopped: 3, worker: 'w1' },
    { key: 'c-1', started: 4, stopped: 6, worker: 'w0', needs: ['a-1', 'b-1'] },
    { key: 'd-1', started: 7, stopped: 9, worker: 'w1', needs: ['c-1'] },
  ],
});
const plot = traceModel(trace, { title: '', origin: 0 }).plots[0];
assert.ok(plot?.type === 'tasks');

test('flows connect a task with its dependencies and its dependents', () => {
  const flows = flowsOf(trace, 2, plot);
  assert.deepEqual(flows?.task, { lane: 0, start: 4, stop: 6 });
  assert.deepEqual(flows.needs, [
    { lane: 0, start: 0, stop: 2 },
    { lane: 1, start: 0, stop: 3 },
  ]);
  assert.deepEqual(flows.neededBy, [{ lane: 1, start: 7, stop: 9 }]);
  assert.equal(flowsOf(trace, 4, plot), undefined);
});

test('a flow is a line from the end of one task to the start of another; flows outside the window are not drawn', () => {
  const flows = flowsOf(trace, 2, plot);
  assert.ok(flows !== undefined);
  const renderer = new RecordingRenderer();
  const colors = { needs: 'blue', neededBy: 'red' };
  const box = { left: 50, height: 60 };
  const axisFrom = (start: number) => ({
    columns: 100,
    parts: [{ start, perColumn: 0.1, columns: 100, left: 0 }],
    breaks: [],
  });
  drawFlows(renderer, flows, axisFrom(0), box, colors);
  const middle = (lane: number) =>
    laneBox(plot.lanes, lane, 60).top + laneBox(plot.lanes, lane, 60).height * 0.22;
  const ends = renderer.lines.map(({ points, color }) => [...points.slice(0, 2), ...points.slice(-2), color]);
  assert.deepEqual(ends, [
    [110, middle(0), 120, middle(1), 'red'],
    [70, middle(0), 90, middle(0), 'blue'],
    [80, middle(1), 90, middle(0), 'blue'],
  ]);
  renderer.begin();
  drawFlows(renderer, flows, axisFrom(6.5), box, colors);
  assert.equal(renderer.lines.length, 1);
});

test('flows arrive at the start of a seceded task and leave from its end, not at its wait', () => {
  const seceded = syntheticTrace({
    tasks: [
      { key: 'a-1', started: 0, stopped: 1, worker: 'w0' },
      {
        ...{ key: 'b-1', started: 2, seceded: 3, resumed: 8, stopped: 9, waited: 5 },
        ...{ worker: 'w0', needs: ['a-1'] },
      },
    ],
  });
  const [stream] = traceModel(seceded, { title: '', origin: 0 }).plots;
  assert.ok(stream?.type === 'tasks');
  assert.equal(stream.lanes.entry.length, 3);
  assert.deepEqual(flowsOf(seceded, 1, stream)?.task, { lane: 0, start: 2, stop: 9 });
});
