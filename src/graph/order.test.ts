import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../base/properties.test.support.js';
import { findCycle, order } from './order.js';
import { peakHeld } from './order.test.support.js';
import { type Edges, edgesOfRows } from './ordering/families.test.support.js';

/** Generates graphs in which each task depends on earlier tasks. The ids are shuffled, so that they do not hint at the order. */
const acyclic = (maxTasks: number) =>
  fc
    .array(fc.array(fc.nat(), { maxLength: 4, size: 'max' }), { maxLength: maxTasks, size: 'max' })
    .map((draws) => draws.map((draw, task) => (task === 0 ? [] : draw.map((number) => number % task))))
    .chain((rows) =>
      fc
        .shuffledSubarray([...rows.keys()], { minLength: rows.length })
        .map((ids) => renumbered(rows, ids).map((row) => [...new Set(row)])),
    );

/** Generates graphs in which each task has at most one dependent. */
const forest = (maxTasks: number) =>
  fc.array(fc.nat(), { maxLength: maxTasks, size: 'max' }).map((draws) => {
    const rows: number[][] = draws.map(() => []);
    for (const [task, draw] of draws.entries()) {
      const user = task + 1 + (draw % 4);
      if (user < rows.length) rows[user]!.push(task);
    }
    return rows;
  });

function renumbered(rows: readonly (readonly number[])[], ids: readonly number[]): number[][] {
  const result: number[][] = rows.map(() => []);
  for (const [task, row] of rows.entries()) result[ids[task]!] = row.map((dependency) => ids[dependency]!);
  return result;
}

const none = (size: number) => new Uint8Array(size);
const flags = (size: number, seed: number) => none(size).map((_, task) => (seed >>> (task % 31)) & 1);
const ordered = ({ size, dependencies, dependents }: Edges, requested = none(size)) =>
  order(size, dependencies, dependents, requested);
const peakOf = (edges: Edges, requested = none(edges.size)) =>
  peakHeld(ordered(edges, requested), edges.dependencies, edges.dependents, requested);

function assertRunnable(sequence: Int32Array, { size, dependencies }: Edges): void {
  const rank = new Int32Array(size).fill(-1);
  for (const [position, task] of sequence.entries()) rank[task] = position;
  assert.equal(sequence.length, size);
  assert.ok(!rank.includes(-1), 'every task runs once');
  for (let task = 0; task < size; task++) {
    for (let edge = dependencies.offsets[task]!; edge < dependencies.offsets[task + 1]!; edge++) {
      assert.ok(rank[dependencies.targets[edge]!]! < rank[task]!, 'dependencies run first');
    }
  }
}

/** Computes the peak by its definition, with the held results counted again after every task. */
function peakByDefinition(sequence: Int32Array, rows: number[][], requested: Uint8Array): number {
  const done = new Set<number>();
  let held: number[] = [];
  let peak = 0;
  for (const task of sequence) {
    peak = Math.max(peak, held.length + 1);
    done.add(task);
    held = [...done].filter((result) => {
      const users = [...rows.keys()].filter((user) => rows[user]!.includes(result));
      return requested[result] === 1 || users.length === 0 || users.some((user) => !done.has(user));
    });
  }
  return peak;
}

/** Returns the smallest peak of held results that any order has, by dynamic programming over sets of finished tasks. */
function optimum(rows: number[][], requested: Uint8Array): number {
  const above = rows.map((_, task) =>
    rows.reduce((set, row, user) => (row.includes(task) ? set | (1 << user) : set), 0),
  );
  const below = rows.map((row) => row.reduce((set, dependency) => set | (1 << dependency), 0));
  const isHeld = (task: number, done: number) =>
    ((done >>> task) & 1) === 1 &&
    (requested[task] === 1 || above[task] === 0 || (above[task]! & ~done) !== 0);
  const best = new Float64Array(2 ** rows.length).fill(Infinity);
  best[0] = 0;
  for (let done = 0; done < best.length - 1; done++) {
    if (best[done] === Infinity) continue;
    const held = rows.reduce((count, _, task) => count + (isHeld(task, done) ? 1 : 0), 0);
    for (let task = 0; task < rows.length; task++) {
      const after = done | (1 << task);
      if (after === done || (below[task]! & ~done) !== 0) continue;
      best[after] = Math.min(best[after]!, Math.max(best[done]!, held + 1));
    }
  }
  return best[best.length - 1]!;
}

test('every task runs once, after its dependencies, and always in the same order', () => {
  fc.assert(
    fc.property(acyclic(80), fc.nat(), (rows, seed) => {
      const edges = edgesOfRows(rows);
      const requested = flags(edges.size, seed);
      const sequence = ordered(edges, requested);
      assertRunnable(sequence, edges);
      assert.deepEqual(ordered(edges, requested), sequence);
      assert.equal(findCycle(edges.size, edges.dependencies), null);
    }),
  );
});

test('peakHeld equals the peak by its definition', () => {
  fc.assert(
    fc.property(acyclic(20), fc.nat(), (rows, seed) => {
      const edges = edgesOfRows(rows);
      const requested = flags(edges.size, seed);
      const sequence = ordered(edges, requested);
      const peak = peakHeld(sequence, edges.dependencies, edges.dependents, requested);
      assert.equal(peak, peakByDefinition(sequence, rows, requested));
    }),
  );
});

test('the order of a forest is optimal: no other order holds fewer results', () => {
  fc.assert(
    fc.property(forest(11), (rows) => {
      assert.equal(peakOf(edgesOfRows(rows)), optimum(rows, none(rows.length)));
    }),
  );
});

test('the order of a small graph holds at most one result more than the optimum', () => {
  fc.assert(
    fc.property(acyclic(10), fc.nat(), (rows, seed) => {
      const requested = flags(rows.length, seed);
      assert.ok(peakOf(edgesOfRows(rows), requested) <= optimum(rows, requested) + 1);
    }),
  );
});

test('the subtree that needs most results comes first, and requested results count as its residue', () => {
  // Task 6 depends on 0 and 5; task 5 depends on 1, 2, 3 and 4.
  const edges = edgesOfRows([[], [], [], [], [], [1, 2, 3, 4], [0, 5]]);
  assert.deepEqual([...ordered(edges)], [1, 2, 3, 4, 5, 0, 6]);
  // Task 4 depends on 2 and 3, which need two results each. Task 2 leaves two results behind if 0 is requested, too.
  const chains = edgesOfRows([[], [], [0], [1], [2, 3]]);
  assert.deepEqual([...ordered(chains)], [0, 2, 1, 3, 4]);
  assert.deepEqual([...ordered(chains, Uint8Array.of(1, 0, 0, 0, 0))], [1, 3, 0, 2, 4]);
});

test('ready tasks that free a result run before anything new is computed', () => {
  // Each of two loads has two dependents, which run directly after it.
  const edges = edgesOfRows([[], [], [0], [0], [1], [1], [2, 3], [4, 5]]);
  assert.deepEqual([...ordered(edges)], [0, 2, 3, 6, 1, 4, 5, 7]);
});

test('an empty graph, one task, and many tasks without edges can be ordered', () => {
  assert.deepEqual(ordered(edgesOfRows([])), new Int32Array());
  assert.deepEqual([...ordered(edgesOfRows([[]]))], [0]);
  const wide = edgesOfRows(Array.from({ length: 1_000 }, () => []));
  assert.deepEqual(
    ordered(wide),
    Int32Array.from({ length: 1_000 }, (_, task) => task),
  );
});

function chain(size: number): Edges {
  const targets = Int32Array.from({ length: size - 1 }, (_, task) => task);
  const offsets = Int32Array.from({ length: size + 1 }, (_, task) => Math.max(0, task - 1));
  const users = Int32Array.from({ length: size + 1 }, (_, task) => Math.min(task, size - 1));
  return {
    size,
    dependencies: { offsets, targets },
    dependents: { offsets: users, targets: targets.map((task) => task + 1) },
  };
}

test('a chain of a million tasks does not overflow the stack', () => {
  const edges = chain(1_000_000);
  const sequence = ordered(edges);
  assert.ok(sequence.every((task, position) => task === position));
  assert.equal(peakOf(edges), 2);
});

test('a ladder of 300,000 rungs, which is not a forest, does not overflow the stack', () => {
  // Tasks 2i depend on 2i - 2 and 2i - 1, tasks 2i + 1 on 2i - 1.
  const rows = Array.from({ length: 600_000 }, (_, task) =>
    task < 2 ? [] : task % 2 === 0 ? [task - 2, task - 1] : [task - 2],
  );
  assert.equal(peakOf(edgesOfRows(rows)), 3);
});

test('the order of a stencil of 300,000 tasks holds at most three results more than one level', () => {
  const width = 300;
  const rows = Array.from({ length: width * 1_000 }, (_, task) =>
    task < width
      ? []
      : [-1, 0, 1].map((near) => task - width + near).filter((below) => isNear(task, below, width)),
  );
  assert.ok(peakOf(edgesOfRows(rows)) <= width + 3);
});

function isNear(task: number, below: number, width: number): boolean {
  return below >= 0 && Math.abs((task % width) - (below % width)) <= 1;
}

test('the order omits tasks on a cycle and their dependents, and findCycle returns the cycle', () => {
  // Task 3 depends on the cycle 0 → 1 → 2 → 0, and the cycle depends on 5. Task 4 has no dependencies.
  const edges = edgesOfRows([[1], [5, 2], [0], [2, 4], [], []]);
  assert.deepEqual([...ordered(edges)], [4, 5]);
  assert.deepEqual([...(findCycle(edges.size, edges.dependencies) ?? [])], [0, 1, 2]);
});

test('a task that depends on itself is a cycle of one task', () => {
  const edges = edgesOfRows([[], [0, 1], [1]]);
  assert.deepEqual([...ordered(edges)], [0]);
  assert.deepEqual([...(findCycle(edges.size, edges.dependencies) ?? [])], [1]);
});

test('findCycle returns a cycle exactly if the graph has one', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.nat(), { maxLength: 2, size: 'max' }), {
        minLength: 1,
        maxLength: 30,
        size: 'max',
      }),
      (draws) => {
        const rows = draws.map((draw) => [...new Set(draw.map((number) => number % draws.length))]);
        const edges = edgesOfRows(rows);
        const cycle = findCycle(edges.size, edges.dependencies);
        assert.equal(cycle === null, ordered(edges).length === edges.size);
        if (cycle === null) return;
        assert.equal(new Set(cycle).size, cycle.length);
        assert.equal(cycle[0], Math.min(...cycle));
        for (const [index, task] of cycle.entries()) {
          assert.ok(
            rows[task]!.includes(cycle[(index + 1) % cycle.length]!),
            'each task depends on the next',
          );
        }
      },
    ),
  );
});
