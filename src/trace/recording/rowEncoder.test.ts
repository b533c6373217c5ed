import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../../base/properties.test.support.js';
import { tellStory } from '../live/clusterScript.test.support.js';
import { LiveTrace, type TraceCursor } from '../live/liveTrace.js';
import { restOf, tasksOf, toldTasks } from '../live/toldRows.test.support.js';
import { computationsOf, RowEncoder } from './rowEncoder.js';
import { TableBytes } from './tableBytes.test.support.js';

const story = fc.record({
  seed: fc.integer({ min: 1, max: 1e9 }),
  sizes: fc.array(fc.oneof(fc.integer({ min: 0, max: 40 }), fc.constantFrom(511, 512, 700)), {
    maxLength: 6,
  }),
  workers: fc.integer({ min: 2, max: 4 }),
  batch: fc.constantFrom(1, 7, 60),
  tuples: fc.boolean(),
});

describe('rows of a trace as tables', () => {
  it('give back the trace', () => {
    fc.assert(
      fc.property(story, (options) => {
        const live = new LiveTrace();
        const told = tellStory(live, options);
        const trace = live.snapshot();
        const tables = new TableBytes();
        const encoder = new RowEncoder((table, parts) => tables.add(table, parts));
        encoder.start();
        encoder.workers(trace);
        encoder.computations(computationsOf(trace));
        for (const _ of encoder.taskEdges(trace));
        for (const _ of encoder.rows(trace));
        const again = tables.trace();
        assert.deepEqual(tasksOf(again), toldTasks(told));
        assert.deepEqual(restOf(again), restOf(trace));
        assert.deepEqual([...again.tasks.dependencyRows], [...trace.tasks.dependencyRows]);
      }),
      { numRuns: 12 },
    );
  });

  it('give back the trace in pieces of any size', () => {
    fc.assert(
      fc.property(story, fc.integer({ min: 1, max: 300 }), (options, limit) => {
        const live = new LiveTrace();
        const told = tellStory(live, options);
        const tables = new TableBytes();
        const encoder = new RowEncoder((table, parts) => tables.add(table, parts));
        encoder.start();
        encoder.workers(live.snapshot());
        const computations = live.computationsAfter(0);
        encoder.computations(computations);
        for (const computation of computations) for (const _ of encoder.computationEdges(computation));
        let cursor: TraceCursor | undefined;
        for (;;) {
          const changes = live.changesSince(cursor, {
            tasks: limit,
            intervals: 3,
            transfers: limit,
            events: 1,
          });
          for (const _ of encoder.runs(live.runs(cursor?.tasks ?? 0, changes.cursor.tasks)));
          const transfers = live.toldTransfers(cursor?.transfers ?? 0, changes.cursor.transfers);
          for (const _ of encoder.rest(changes.trace, undefined, transfers));
          assert.deepEqual(new Set(Object.values(changes.missed)), new Set([0]));
          if (cursor !== undefined && JSON.stringify(cursor) === JSON.stringify(changes.cursor)) break;
          cursor = changes.cursor;
        }
        assert.deepEqual(cursor, live.cursor);
        const again = tables.trace();
        assert.deepEqual(tasksOf(again), toldTasks(told));
        assert.deepEqual(restOf(again), restOf(live.snapshot()));
      }),
      { numRuns: 12 },
    );
  });
});
