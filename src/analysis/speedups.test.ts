import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { syntheticTrace } from '../trace/syntheticTrace.test.support.js';
import { slowBeforeBig } from './findings/workloads.test.support.js';
import { scheduled } from './scheduledTrace.test.support.js';
import { speedups, speedupsTable } from './speedups.js';

describe('the speedup of a prefix', () => {
  it('is the reduction of the makespan, and the largest is first', () => {
    const found = speedups(syntheticTrace(slowBeforeBig(2)));
    assert.deepEqual(
      found.map(({ prefix }) => prefix),
      ['slow', 'big'],
    );
    const [slow] = found;
    assert.ok(slow !== undefined && Math.abs(slow.gained - 0.51) < 0.03, `${slow?.gained}`);
    assert.ok(slow.low <= slow.makespan && slow.makespan <= slow.high);
    assert.equal(speedupsTable(found).length, 2);
  });

  it('is 0 for a prefix that is not on the critical path', () => {
    const tasks = [
      { key: 'long-0', seconds: 10 },
      { key: 'short-0', seconds: 1 },
    ];
    const found = speedups(syntheticTrace(scheduled(tasks, { workers: 2 })));
    const gained = new Map(found.map((one) => [one.prefix, one.gained]));
    assert.ok(Math.abs((gained.get('long') ?? 0) - 5) < 0.1, `${gained.get('long')}`);
    assert.equal(gained.get('short'), 0);
  });

  it('is computed for at most five prefixes, and for none if no task ran', () => {
    const many = Array.from({ length: 12 }, (_, i) => ({ key: `p${i}-0`, seconds: 1 + i }));
    assert.equal(speedups(syntheticTrace(scheduled(many, { workers: 2 }))).length, 5);
    assert.deepEqual(speedups(syntheticTrace({})), []);
    const empty = { tasks: [{ key: 'a-0', started: 0, stopped: 0 }] };
    assert.deepEqual(speedups(syntheticTrace(empty)), []);
  });
});
