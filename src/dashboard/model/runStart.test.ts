import assert from 'node:assert/strict';
import { test } from 'node:test';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { runStart, traceModel } from './traceModel.js';

test('time 0 is the call of the program, also if workers start before the first task', () => {
  const trace = syntheticTrace({ tasks: [{ key: 'late', submitted: 100, started: 110, stopped: 120 }] });
  assert.equal(runStart(trace), 100);
  const called = trace.computations.map((computation) => ({ ...computation, start: 99 }));
  assert.equal(runStart({ ...trace, computations: called }), 99);
  const { limits, run } = traceModel(trace, { title: '', origin: runStart(trace) });
  assert.deepEqual([run.start, run.stop], [0, 20]);
  assert.ok(limits.start <= 0 && limits.start > -1, `the axis begins at ${limits.start} s`);
});
