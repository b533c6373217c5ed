import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../../base/properties.test.support.js';
import { TASK_ERRED, TASK_MEMORY } from '../../protocol/clusterObserver.js';
import { EdgesByTask, idsOfDependencies, rowsOfDependencies } from './recordedEdges.js';

const TASKS = 6;
const id = fc.integer({ min: -1, max: TASKS - 1 });
const edges = fc.array(fc.tuple(id, id), { maxLength: 30 });
const runs = fc.array(fc.tuple(id, fc.constantFrom(TASK_MEMORY, TASK_ERRED)), { maxLength: 20 });

describe('dependencies of rows in a recorded trace', () => {
  it('equal the list of edges, sorted or not', () => {
    fc.assert(
      fc.property(edges, runs, fc.boolean(), (list, rows, sorted) => {
        if (sorted) list.sort(([a], [b]) => a - b);
        const task = Int32Array.from(list, ([one]) => one);
        const dependency = Int32Array.from(list, ([, one]) => one);
        const rowTask = Int32Array.from(rows, ([one]) => one);
        const state = Uint8Array.from(rows, ([, one]) => one);
        const byTask = new EdgesByTask(task, TASKS);
        const needs = (row: number) =>
          list.filter(([one]) => one >= 0 && one === rowTask[row]).map(([, one]) => one);
        const latest = (needed: number, before: number) =>
          needed < 0
            ? -1
            : rows.slice(0, before).findLastIndex(([one, ended]) => one === needed && ended === TASK_MEMORY);
        const found = rowsOfDependencies(byTask, dependency, rowTask, state);
        const ids = idsOfDependencies(byTask, Float64Array.from(dependency), rowTask);
        for (let row = 0; row < rows.length; row++) {
          const [from, to] = [found.offsets[row], found.offsets[row + 1]];
          assert.deepEqual([...ids.subarray(from, to)], needs(row));
          assert.deepEqual(
            [...found.values.subarray(from, to)],
            needs(row).map((needed) => latest(needed, row)),
          );
        }
      }),
    );
  });
});
