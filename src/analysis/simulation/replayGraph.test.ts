// The simulator's graphs of traces.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import type { Trace } from '../../trace/trace.js';
import { windowOf } from '../path/pathWalk.js';
import { replayGraphOf } from './replayGraph.js';

/** Concurrent tasks, and a task that needs all of them in this order. */
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

/** Returns a proxy of the object, in which `see` replaces the values of properties. */
function seenThrough<T extends object>(object: T, see: (name: string | symbol) => unknown): T {
  return new Proxy(object, {
    get(target, name) {
      const value: unknown = see(name) ?? Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

describe('the simulated graph', () => {
  it('has one edge for an input that a file names twice', () => {
    const { size, dependencies } = graphOf(reduced([0, 1, 0, 2, 2, 1]));
    assert.equal(size, 4);
    assert.deepEqual([...dependencies].sort(), [0, 1, 2]);
  });

  it('reads each input as often for many inputs as for few', () => {
    const readsPerInput = (count: number): number => {
      const trace = reduced(Array.from({ length: count }, (_, i) => i));
      let reads = 0;
      const dependencyRows = seenThrough(trace.tasks.dependencyRows, () => void reads++);
      const tasks = seenThrough(trace.tasks, (name) =>
        name === 'dependencyRows' ? dependencyRows : undefined,
      );
      const { dependencies } = graphOf(seenThrough(trace, (name) => (name === 'tasks' ? tasks : undefined)));
      assert.equal(dependencies.length, count);
      return reads / count;
    };
    assert.ok(readsPerInput(1000) <= readsPerInput(100));
  });
});
