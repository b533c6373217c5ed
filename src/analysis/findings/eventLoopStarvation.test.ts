import assert from 'node:assert/strict';
import { it } from 'node:test';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { findings } from './findings.js';

it('a scheduler that sends tasks between computations of the program is not silent for all of them', () => {
  // The program computes for a second whenever a result arrives. Meanwhile no timer fires.
  const tasks = Array.from({ length: 10 }, (_, i) => {
    const dispatched = 1.1 * i;
    const [started, stopped] = [dispatched, dispatched + 0.1];
    return { key: `load-${i}`, submitted: 0, ready: 0, dispatched, started, stopped, acknowledged: stopped };
  });
  const resources = Array.from({ length: 100 }, (_, i) => ({
    time: i / 10 + 0.1,
    figures: { eventLoopDelay: i / 10 },
  }));
  const [first] = findings(syntheticTrace({ tasks, resources }));
  assert.deepEqual([first?.code, first?.seconds.toFixed(1)], ['event-loop-starvation', '9.0']);
  assert.match(first?.title ?? '', /^The scheduler did not answer for up to 1 s, /);
});
