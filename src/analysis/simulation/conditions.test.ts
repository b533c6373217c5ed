import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { recordedConditions } from './conditions.js';

describe('the recorded conditions', () => {
  it('a pause between tasks has none of the time of a transfer, also if shorter transfers began later', () => {
    const tasks = [
      { key: 'a-0', worker: 'w0', submitted: 0, started: 0, stopped: 1 },
      { key: 'a-1', worker: 'w0', submitted: 0, started: 10, stopped: 11 },
    ];
    const transfer = (start: number, stop: number) =>
      ({ worker: 'w0', action: 'transfer', start, stop }) as const;
    for (const shorter of [[], [transfer(0.5, 0.75)], [transfer(2, 3)]]) {
      const trace = syntheticTrace({ tasks, intervals: [transfer(0.25, 9.5), ...shorter] });
      assert.equal(recordedConditions(trace).taskOverhead, 0.5);
    }
  });
});
