// From traces to what the simulator runs.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { syntheticTrace } from '../../trace/syntheticTrace.js';
import type { Trace } from '../../trace/trace.js';
import { windowOf } from '../path/pathWalk.js';
import { replayGraphOf } from './replayGraph.js';

/** Tasks at the same time, and one that needs them all, in this order. */
function reduced(inputs: readonly number[]): Trace {
  const needs = inputs.map((input) => `load-${input}`);
  return syntheticTrace({
    tasks: [
      ...[...new Set(needs)].map((key) => ({ key, started: 0, stopped: 1 })),
      { key: 'sum-0', started: 1, stopped: 2, needs },
    ],
  });
}

const graphOf = (trace: Trace) =>
  replayGraphOf(trace, windowOf(trace), { faster: new Map(), split: new Map() });

describe('the graph that is simulated', () => {
  it('needs an input once that a file names twice', () => {
    const { size, dependencies } = graphOf(reduced([0, 1, 0, 2, 2, 1]));
    assert.equal(size, 4);
    assert.deepEqual([...dependencies].sort(), [0, 1, 2]);
  });

  it('of a task with very many inputs is made in a time that grows with their number, not with its square', () => {
    const count = 100_000;
    const trace = reduced(Array.from({ length: count }, (_, i) => i));
    const before = process.cpuUsage();
    const { dependencies } = graphOf(trace);
    const { user, system } = process.cpuUsage(before);
    const seconds = (user + system) / 1e6;
    assert.equal(dependencies.length, count);
    // Some 0.5 s, whatever else the machine does; to compare each with each took 10 s.
    assert.ok(seconds < 4, `${seconds} s`);
  });
});
