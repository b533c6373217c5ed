import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../base/properties.test.support.js';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { firstRun, neighbourRun } from './neighbourRun.js';
import type { TaskLanes } from './taskLanes.js';
import { traceModel } from './traceModel.js';

const EPOCH = 1_700_000_000;
const runs = fc.array(
  fc.record({
    prefix: fc.constantFrom('load', 'fit'),
    worker: fc.constantFrom('w0', 'w1'),
    start: fc.integer({ min: 0, max: 12 }),
    length: fc.integer({ min: 0, max: 4 }),
  }),
  { minLength: 1, maxLength: 30 },
);

function lanesOf(list: readonly { prefix: string; worker: string; start: number; length: number }[]) {
  const trace = syntheticTrace({
    workers: [{ name: 'w0' }, { name: 'w1' }],
    tasks: list.map(({ prefix, worker, start, length }, i) => ({
      key: `${prefix}-${i}`,
      worker,
      started: EPOCH + start,
      stopped: EPOCH + start + length,
    })),
    intervals: [{ worker: 'w0', action: 'disk-write', start: EPOCH + 2, stop: EPOCH + 3, nbytes: 1 }],
  });
  const plot = traceModel(trace, { title: '', origin: EPOCH }).plots[0];
  assert.ok(plot?.type === 'tasks');
  return plot.lanes;
}

/** Returns the positions of all steps from one end of a thread to the other. */
function walk(lanes: TaskLanes, from: number | undefined, direction: 1 | -1): number[] {
  const steps: number[] = [];
  for (let at = from; at !== undefined; at = neighbourRun(lanes, at, direction)) {
    assert.ok(!steps.includes(at), 'the steps repeat');
    steps.push(at);
  }
  return steps;
}

test('steps visit every task of a thread once, in order of time or in reverse', () => {
  const law = fc.property(runs, (list) => {
    const lanes = lanesOf(list);
    const whole = { start: -1, stop: 100 };
    const forth = walk(lanes, firstRun(lanes, whole, 1), 1);
    const first = lanes.rows.find(({ name }) => list.some(({ worker }) => worker === name))!;
    assert.equal(forth.length, list.filter(({ worker }) => worker === first.name).length);
    assert.ok(forth.every((at, i) => i === 0 || lanes.start[at]! >= lanes.start[forth[i - 1]!]!));
    assert.deepEqual(walk(lanes, firstRun(lanes, whole, -1), -1), forth.reverse());
  });
  fc.assert(law, { seed: 7, numRuns: 300 });
});

test('a range of time in which no task starts has no first run', () => {
  const lanes = lanesOf([{ prefix: 'fit', worker: 'w1', start: 5, length: 4 }]);
  assert.equal(firstRun(lanes, { start: 6, stop: 8 }, 1), undefined);
  assert.equal(firstRun(lanes, { start: 6, stop: 8 }, -1), undefined);
});
