import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileGraph } from '../../graph/compile.js';
import { delayed } from '../../graph/taskFunction.js';
import type { Graph } from '../../protocol/graph.js';
import { Evaluator, toCallables } from './evaluator.js';

/** Returns 60 arrays, each of which holds the next one twice, around a value. */
function doubled(value: unknown): unknown {
  let list = [value];
  for (let level = 0; level < 60; level++) list = [list, list];
  return list;
}

/** Runs the tasks of a graph here. Returns the number of tokens and the result of each key. */
function evaluated(graph: Graph, keys: readonly string[]): { tokens: number; results: Map<string, unknown> } {
  const { program, functions, constants, keys: all, data } = compileGraph(graph, keys);
  const results: unknown[] = [];
  const evaluator = new Evaluator(program, results, toCallables(functions), constants);
  for (let id = 0; id < program.size; id++) results[id] = evaluator.run(id);
  const byKey = new Map(all.map((key, id): [string, unknown] => [key, results[id]]));
  return { tokens: program.operations.length, results: new Map([...data, ...byKey]) };
}

/** Returns the innermost value of what `doubled` returns. Checks that each array holds one other array twice. */
function innermost(list: unknown): unknown {
  assert.ok(Array.isArray(list));
  if (list.length === 1) return list[0];
  assert.equal(list[0], list[1]);
  return innermost(list[0]);
}

test('an array that an argument holds twice is walked and evaluated once', () => {
  const one = delayed(() => 7)();
  const task = delayed(innermost);
  const { tokens, results } = evaluated(
    { plain: task(doubled(5)), lazy: task({ inside: [doubled(one)] }.inside[0]), list: doubled(3) },
    ['plain', 'lazy', 'list'],
  );
  assert.equal(results.get('plain'), 5);
  assert.equal(results.get('lazy'), 7);
  assert.equal(innermost(results.get('list')), 3);
  assert.ok(tokens < 1000, `the graph has ${tokens} tokens`);
});

test('a key inside an array that a task of a graph holds twice is one dependency', () => {
  const pair = ['one', 'one'];
  const { results } = evaluated({ one: [() => 1], all: [(...all: unknown[]) => all, [pair, pair]] }, ['all']);
  assert.deepEqual(results.get('all'), [
    [
      [1, 1],
      [1, 1],
    ],
  ]);
});
