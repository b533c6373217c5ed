// Which part of a run the rows of a trace cover.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playScript } from '../../trace/live/clusterScript.test.support.js';
import { LiveTrace } from '../../trace/live/liveTrace.js';
import { wholeWindow, windowOf } from './pathWalk.js';

test('the window of the whole run begins with its first submission, although its rows were evicted', () => {
  const script = { seed: 3, sizes: Array.from({ length: 60 }, () => 40) };
  const [full, small] = [new LiveTrace(), new LiveTrace({ window: { tasks: 100 } })];
  for (const live of [full, small]) playScript(live, script);
  const whole = windowOf(full.snapshot());
  const kept = small.snapshot();
  assert.ok(kept.evicted.tasks > 0);
  assert.ok(windowOf(kept).start > whole.start);
  assert.deepEqual(wholeWindow(kept), whole);
  assert.deepEqual(wholeWindow(full.snapshot()), whole);
});
