import assert from 'node:assert/strict';
import { test } from 'node:test';
import { windowOf } from '../../analysis/path/pathWalk.js';
import fc from '../../base/properties.test.support.js';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { rangeSums } from './rangeSums.js';
import { traceModel } from './traceModel.js';

const EPOCH = 1_700_000_000;
const runs = fc.array(
  fc.record({
    prefix: fc.constantFrom('load', 'fit', 'sum'),
    worker: fc.constantFrom('w0', 'w1'),
    start: fc.integer({ min: 0, max: 100 }),
    length: fc.integer({ min: 1, max: 20 }),
  }),
  { minLength: 1, maxLength: 40 },
);

test('the sums of two parts of a range add up to its sums; the whole run has the sums of the legend', () => {
  const law = fc.property(runs, fc.integer({ min: 0, max: 120 }), (list, cut) => {
    const trace = syntheticTrace({
      tasks: list.map(({ prefix, worker, start, length }, i) => ({
        key: `${prefix}-${i}`,
        worker,
        started: EPOCH + start,
        stopped: EPOCH + start + length,
      })),
    });
    const model = traceModel(trace, { title: '', origin: EPOCH });
    const whole = rangeSums(model, model.limits);
    const [before, after] = [
      rangeSums(model, { start: model.limits.start, stop: cut }),
      rangeSums(model, { start: cut, stop: model.limits.stop }),
    ];
    for (const { index, count, seconds } of model.legend) {
      assert.equal(whole.get(index)?.runs, count);
      assert.ok(Math.abs((whole.get(index)?.seconds ?? 0) - seconds) < 1e-6);
      const parts = (before.get(index)?.seconds ?? 0) + (after.get(index)?.seconds ?? 0);
      // The parts overlap or leave a gap if the cut lies outside the run.
      if (cut >= model.limits.start && cut <= model.limits.stop)
        assert.ok(Math.abs(parts - seconds) < 1e-6, `${parts} is not ${seconds}`);
    }
  });
  fc.assert(law, { seed: 7, numRuns: 200 });
});

test('a model and the analyses have the same run, although an activity follows the last task', () => {
  const trace = syntheticTrace({
    tasks: [{ key: 'a-1', worker: 'w0', started: EPOCH + 1, stopped: EPOCH + 3 }],
    intervals: [{ worker: 'w0', action: 'disk-write', start: EPOCH + 8, stop: EPOCH + 9 }],
  });
  const model = traceModel(trace, { title: '', origin: EPOCH });
  const { start, stop } = windowOf(trace);
  assert.deepEqual(model.run, { start: start - EPOCH, stop: stop - EPOCH });
  assert.ok(model.duration > model.run.stop);
  assert.deepEqual(
    model.legend.map(({ name, isActivity }) => [name, isActivity]),
    [
      ['a', false],
      ['disk', true],
    ],
  );
});
