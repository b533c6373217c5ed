import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../base/properties.test.support.js';
import { JoinedSources } from './joinedSources.js';
import { playScript, type ScriptOptions } from './live/clusterScript.test.support.js';
import { LiveTrace } from './live/liveTrace.js';
import { restOf, tasksOf } from './live/plainRows.test.support.js';
import type { Trace } from './trace.js';

const script = fc.record({
  seed: fc.integer({ min: 1, max: 1e9 }),
  sizes: fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 5 }),
  workers: fc.integer({ min: 2, max: 4 }),
  batch: fc.constantFrom(1, 7, 60),
});

function alone(options: ScriptOptions): Trace {
  const live = new LiveTrace();
  playScript(live, options);
  return live.snapshot();
}

/** First task id of the second source. */
const SECOND = 2 ** 40;

/**
 * Removes the values that joining changes: numbers of computations, and task ids and worker names of the second source.
 */
function plain(rows: readonly object[]): unknown {
  const text = JSON.stringify(rows, (name, value: unknown) => {
    if (name === 'computation') return undefined;
    return (name === 'id' || name === 'task') && typeof value === 'number' ? value % SECOND : value;
  });
  return JSON.parse(text.replaceAll(' (cluster 1)', ''));
}

describe('joined sources', () => {
  it('join two runs into the rows of both runs, one after the other', () => {
    fc.assert(
      fc.property(script, script, (first, second) => {
        const live = new LiveTrace();
        const sources = new JoinedSources([live]);
        const played = [first, second].map((options) => playScript(sources.add(), options));
        const joined = live.snapshot();
        const parts = [alone(first), alone(second)];
        assert.deepEqual(plain(tasksOf(joined)), plain(parts.flatMap(tasksOf)));
        const rest = restOf(joined);
        for (const [table, rows] of Object.entries(rest)) {
          assert.ok(Array.isArray(rows));
          const expected: object[] = parts.flatMap((part) => {
            const one = restOf(part)[table];
            return Array.isArray(one) ? one : [];
          });
          assert.deepEqual(plain(rows), plain(expected), table);
        }
        assert.deepEqual(
          joined.computations.map(({ number }) => number),
          played.flatMap(({ computations }) => computations).map((_computation, i) => i + 1),
        );
      }),
      { numRuns: 40 },
    );
  });

  it('make task ids unique and keep the references of edges and intervals', () => {
    const live = new LiveTrace();
    const sources = new JoinedSources([live]);
    const options = { seed: 5, sizes: [20, 20] };
    playScript(sources.add(), options);
    playScript(sources.add(), options);
    const { tasks, intervals } = live.snapshot();
    const half = tasks.length / 2;
    const offset = tasks.id[half]! - tasks.id[0]!;
    assert.ok(offset > 0);
    for (let row = 0; row < half; row++) assert.equal(tasks.id[half + row], tasks.id[row]! + offset);
    assert.deepEqual(
      Array.from(tasks.dependencyRows.subarray(tasks.dependencyOffsets[half])),
      Array.from(tasks.dependencyRows.subarray(0, tasks.dependencyOffsets[half]), (row) =>
        row < 0 ? -1 : row + half,
      ),
    );
    const middle = intervals.length / 2;
    for (let row = 0; row < middle; row++) {
      const task = intervals.task[row]!;
      assert.equal(intervals.task[middle + row], task < 0 ? -1 : task + offset);
    }
  });

  it('notify all observers', () => {
    const traces = [new LiveTrace(), new LiveTrace()];
    playScript(new JoinedSources(traces).add(), { seed: 1, sizes: [3] });
    for (const trace of traces) assert.ok(trace.snapshot().tasks.length >= 3);
  });
});
