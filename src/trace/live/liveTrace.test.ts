import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../../base/properties.test.support.js';
import type { Computation } from '../../protocol/clusterObserver.js';
import { OTHERS } from '../../protocol/metrics.js';
import { totalsOfRows } from '../rowTotals.js';
import { playScript } from './clusterScript.test.support.js';
import { LiveTrace, type TraceCursor } from './liveTrace.js';
import { expectedTasks, restOf, tasksOf } from './plainRows.test.support.js';

const story = fc.record({
  seed: fc.integer({ min: 1, max: 1e9 }),
  // Sizes on both sides of the limit for copying.
  sizes: fc.array(fc.oneof(fc.integer({ min: 0, max: 40 }), fc.constantFrom(511, 512, 700)), {
    maxLength: 8,
  }),
  workers: fc.integer({ min: 2, max: 4 }),
  batch: fc.constantFrom(1, 7, 60),
  tuples: fc.boolean(),
});

const SMALL = {
  tasks: 200,
  intervals: 64,
  transfers: 40,
  memory: 32,
  resources: 32,
  metrics: 32,
  events: 32,
};

describe('a live trace', () => {
  it('has a row for every reported run', () => {
    fc.assert(
      fc.property(story, (options) => {
        const live = new LiveTrace();
        const played = playScript(live, options);
        const trace = live.snapshot();
        const tasks = tasksOf(trace);
        assert.deepEqual(tasks, expectedTasks(played));
        assert.deepEqual(
          trace.computations.map(({ number, keys }) => ({ number, keys })),
          played.computations.map(({ number, keys }) => ({ number, keys })),
        );
        for (const [row, { key }] of tasks.entries()) assert.equal(trace.tasks.keyOf(row), key);
      }),
      { numRuns: 20 },
    );
  });

  it('has the same rows if it is read in pieces', () => {
    const live = new LiveTrace();
    let cursor: TraceCursor | undefined;
    const pieces: unknown[] = [];
    const rest: Record<string, unknown[]> = {};
    const take = (): void => {
      const changes = live.changesSince(cursor);
      pieces.push(...tasksOf(changes.trace).map(({ needs, ...task }) => task));
      for (const [name, rows] of Object.entries(restOf(changes.trace))) {
        if (name !== 'workers' && Array.isArray(rows)) rest[name] = [...(rest[name] ?? []), ...rows];
      }
      assert.deepEqual(new Set(Object.values(changes.missed)), new Set([0]));
      cursor = changes.cursor;
    };
    for (const seed of [1, 2, 3]) {
      playScript(live, { seed, sizes: [30, 600, 3] });
      take();
    }
    take();
    const trace = live.snapshot();
    assert.deepEqual(
      pieces,
      tasksOf(trace).map(({ needs, ...task }) => task),
    );
    const { workers, ...all } = restOf(trace);
    assert.deepEqual(rest, all);
  });

  it('keeps the newest rows, counts evicted rows, and sums over all rows', () => {
    fc.assert(
      fc.property(story, (options) => {
        const full = new LiveTrace();
        const live = new LiveTrace({ window: SMALL });
        playScript(full, options);
        const played = playScript(live, options);
        const rows = expectedTasks(played);
        const trace = live.snapshot();
        assert.equal(trace.tasks.length + trace.evicted.tasks, rows.length);
        assert.ok(trace.tasks.length >= Math.min(rows.length, SMALL.tasks));
        assert.ok(trace.tasks.length < SMALL.tasks + 64 + options.batch);
        const strip = ({ needs, computation, ...task }: Record<string, unknown>) => task;
        assert.deepEqual(tasksOf(trace).map(strip), rows.slice(trace.evicted.tasks).map(strip));
        assert.equal(trace.events.length + trace.evicted.events, played.counts.events);
        assert.equal(trace.intervals.length + trace.evicted.intervals, played.counts.intervals);
        assert.equal(trace.transfers.length + trace.evicted.transfers, played.counts.transfers);
        const exact = full.snapshot();
        assert.deepEqual(trace.totals, exact.totals);
        assert.deepEqual(plainTotals(exact.totals), plainTotals(totalsOfRows(exact)));
      }),
      { numRuns: 20 },
    );
  });

  it('releases the keys of a forgotten computation with its last row', () => {
    const live = new LiveTrace({ window: SMALL });
    playScript(live, { seed: 5, sizes: Array.from({ length: 200 }, () => 10) });
    const trace = live.snapshot();
    assert.ok(trace.computations.length < 60, `${trace.computations.length} computations are held`);
    assert.equal(trace.computations.at(-1)?.number, 200);
  });

  it('limits the number of names, but not of keys', () => {
    const live = new LiveTrace({ window: SMALL });
    const renamed = new Map<Computation, Computation>();
    const own = (computation: Computation): Computation => {
      const { number, prefixes, functions } = computation;
      const names = (list: readonly string[]): string[] => list.map((name) => `${name} of ${number}`);
      const known = renamed.get(computation);
      if (known !== undefined) return known;
      const made = {
        ...computation,
        prefixes: names(prefixes),
        functions: names(functions),
        spans: [[`${number}`]],
      };
      renamed.set(computation, made);
      return made;
    };
    playScript(
      {
        computationAdded: (computation) => live.computationAdded(own(computation)),
        computationForgotten: (computation) => live.computationForgotten(own(computation)),
        tasksEnded: (runs) => live.tasksEnded({ ...runs, computation: own(runs.computation) }),
      },
      { seed: 7, sizes: Array.from({ length: 11_000 }, () => 1) },
    );
    const trace = live.snapshot();
    assert.ok(trace.strings.length < 31_000, `${trace.strings.length} names are held`);
    const newest = tasksOf(trace).at(-1);
    assert.deepEqual([newest?.prefix, newest?.['span']], [OTHERS, OTHERS]);
    assert.match(String(newest?.key), /-11000-0$/);
  });

  it('sums metrics beyond the first 100,000, without a span or a prefix of their own', () => {
    const live = new LiveTrace();
    const metric = { worker: 0, time: 0, context: 'execute', activity: 'compute', unit: 'seconds', value: 1 };
    for (let request = 0; request < 100_500; request++)
      live.metric({ ...metric, span: `request-${request}`, prefix: 'load' });
    live.metric({ ...metric, span: 'request-7', prefix: 'load' });
    const { metrics } = live.totals;
    assert.equal(metrics.length, 100_001);
    assert.equal(metrics[7]?.value, 2);
    assert.deepEqual(metrics.at(-1), {
      context: 'execute',
      span: OTHERS,
      prefix: OTHERS,
      activity: 'compute',
      unit: 'seconds',
      value: 500,
    });
  });

  it('finds the run that made an input among several runs of a task', () => {
    const live = new LiveTrace();
    playScript(live, { seed: 11, sizes: [300, 300], batch: 40 });
    const { tasks } = live.snapshot();
    let found = 0;
    for (let row = 0; row < tasks.length; row++) {
      for (let edge = tasks.dependencyOffsets[row]!; edge < tasks.dependencyOffsets[row + 1]!; edge++) {
        const producer = tasks.dependencyRows[edge]!;
        if (producer < 0) continue;
        found++;
        assert.ok(producer < row);
        assert.equal(tasks.key[producer], tasks.dependencies[edge]);
        assert.equal(tasks.state[producer], 0);
      }
    }
    assert.ok(found > 100);
  });

  it('does not change earlier snapshots', () => {
    const live = new LiveTrace({ window: SMALL });
    playScript(live, { seed: 1, sizes: [20, 20] });
    const trace = live.snapshot();
    assert.equal(live.snapshot(), trace);
    const before = [tasksOf(trace), restOf(trace)];
    playScript(live, { seed: 2, sizes: [300, 20, 600] });
    assert.notEqual(live.snapshot(), trace);
    assert.deepEqual([tasksOf(trace), restOf(trace)], before);
  });

  it('accepts runs of unknown workers and computations', () => {
    const source = new LiveTrace();
    const late = new LiveTrace();
    playScript(
      { tasksEnded: (runs) => late.tasksEnded(runs), event: (event) => source.event(event) },
      { seed: 3, sizes: [9] },
    );
    const trace = late.snapshot();
    assert.ok(trace.tasks.length >= 9);
    assert.equal(trace.computations.length, 1);
    assert.equal(tasksOf(trace)[0]?.worker, null);
  });
});

/** Rounds the sums, which depend on the order of addition. */
function plainTotals(totals: object): unknown {
  return JSON.parse(
    JSON.stringify(totals, (_, value: unknown) => {
      if (value instanceof Map) return [...value].sort();
      if (ArrayBuffer.isView(value)) return Object.values(value);
      return typeof value === 'number' ? Number(value.toPrecision(9)) : value;
    }),
  );
}
