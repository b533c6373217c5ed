import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Graph } from '../protocol/graph.js';
import { compileGraph } from './compile.js';
import { delayed } from './taskFunction.js';

/** Returns the keys that each task needs. */
function needs(graph: Graph, requested: readonly string[]): Record<string, string[]> {
  const { keys, dependencies } = compileGraph(graph, requested);
  const { offsets, targets } = dependencies;
  const needed = keys.map((key, id): [string, string[]] => [
    key,
    Array.from(targets.subarray(offsets[id]!, offsets[id + 1]!), (one) => keys[one]!),
  ]);
  return Object.fromEntries(needed);
}

test('a Delayed under a key of a graph is one task, also if other tasks and other keys use it', () => {
  const load = delayed(() => 1, { name: 'load' })();
  const pair = (...inputs: unknown[]) => inputs;
  const keyFirst = { first: load, second: [pair, load, 'first'], again: load };
  assert.deepEqual(needs(keyFirst, ['first', 'second', 'again']), {
    first: [],
    second: ['first'],
    again: ['first'],
  });
  const argumentFirst = { user: [pair, load, 'name'], name: load };
  assert.deepEqual(needs(argumentFirst, ['user']), {
    [load.key]: [],
    name: [load.key],
    user: [load.key, 'name'],
  });
});

test('a text that equals the key of a Delayed, which the graph has under another key, is a text', () => {
  const load = delayed(() => 1, { name: 'load' })();
  const pair = (...inputs: unknown[]) => inputs;
  const graph = {
    first: load,
    second: [pair, 'first', load.key],
    third: [pair, load, load.key],
    text: load.key,
  };
  assert.deepEqual(needs(graph, ['first', 'second', 'third', 'text']), {
    first: [],
    second: ['first'],
    third: ['first'],
  });
  const { constants, data } = compileGraph(graph, ['second', 'text']);
  assert.deepEqual(constants, [load.key]);
  assert.equal(data.get('text'), load.key);
  assert.throws(() => compileGraph(graph, ['first', load.key]), { code: 'ERR_LONGPOLE_UNKNOWN_KEY' });
});

test('an array that an argument or a value holds twice is walked once', () => {
  const doubled = (value: unknown): unknown => {
    let list = [value];
    for (let level = 0; level < 60; level++) list = [list, list];
    return list;
  };
  const [list, argument] = [doubled('key'), doubled(5)];
  const graph = {
    list,
    task: delayed((all: unknown) => all)(argument),
    call: [(all: unknown) => all, argument],
  };
  const { data, constants } = compileGraph(graph, ['list', 'task', 'call']);
  assert.equal(data.get('list'), list);
  assert.deepEqual(
    constants.map((constant) => constant === argument),
    [true, true],
  );
});

test('an object with a function that is data under one key is an argument of the task of another', () => {
  const shared = [{ one: () => 1 }];
  const graph = { data: shared, task: [(...all: unknown[]) => all, 'data', [shared]] };
  const { functions, constants } = compileGraph(graph, ['task']);
  assert.equal(functions.length, 2);
  // The data itself.
  assert.equal(constants.filter((constant) => constant === shared).length, 1);
});
