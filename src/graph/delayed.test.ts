import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LongpoleError } from '../base/errors.js';
import type { Delayed } from './delayed.js';
import { literal } from './literal.js';
import { delayed } from './taskFunction.js';

const add = (a: number, b: number): number => a + b;
const collect = (...parts: unknown[]): unknown => parts;
const task = (key: string, ...args: unknown[]): Delayed<unknown> =>
  delayed(collect).withOptions({ key })(...args);

function hasCode(code: string, pattern: RegExp) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof LongpoleError);
    assert.equal(error.code, code);
    assert.match(error.message, pattern);
    return true;
  };
}

test('compute passes the Delayed and the options to the engine, and rejects without an engine', async () => {
  // Another copy of the module, because other tests in this process may have set up an engine, or need one.
  const copy: typeof import('./delayed.js') = await import(
    new URL('./delayed.js?copy', import.meta.url).href
  );
  const one = new copy.Delayed('one', collect, []);
  await assert.rejects(one.compute(), hasCode('ERR_LONGPOLE_INTERNAL', /before an engine was set up/));
  const seen: unknown[] = [];
  copy.setComputeRunner((node, options) => {
    seen.push(node, options);
    return new Promise(() => {});
  });
  void one.compute({ numWorkers: 2 });
  assert.equal(seen[0], one);
  assert.deepEqual(seen[1], { numWorkers: 2 });
});

test('a graph lists dependencies first, and equal keys once', () => {
  const plus = delayed(add, { pure: true });
  const a = plus(1, 2);
  const b = plus(1, 2);
  const c = plus(a, b);
  const graph = c.toGraph();
  assert.ok(graph instanceof Map);
  assert.deepEqual(
    [...graph],
    [
      [a.key, [add, 1, 2]],
      [c.key, [add, a.key, a.key]],
    ],
  );
});

test('a Delayed that is an argument of several tasks is one task', () => {
  const x = task('x', 1);
  const graph = task('z', task('y1', x), task('y2', x), x).toGraph();
  assert.ok(graph instanceof Map);
  assert.deepEqual([...graph.keys()], ['x', 'y1', 'y2', 'z']);
});

test('a Delayed becomes its key in nested arrays and stays a Delayed in other containers', () => {
  const x = task('x');
  const map = new Map([['m', x]]);
  const object = { deep: [x] };
  const set = new Set([x]);
  const graph = task('y', [1, [x, 2]], map, object, set).toGraph();
  assert.ok(graph instanceof Map);
  assert.deepEqual([...graph.keys()], ['x', 'y']);
  assert.deepEqual(graph.get('y'), [collect, [1, ['x', 2]], map, object, set]);
});

test('a value that the graph would read as a key or a task is a literal', () => {
  const x = task('x');
  const graph = task('y', 'x', 'z', ['x'], [add, 1], [add, x, 'x'], { s: 'x' }).toGraph();
  assert.ok(graph instanceof Map);
  assert.deepEqual(graph.get('y'), [
    collect,
    literal('x'),
    'z',
    literal(['x']),
    literal([add, 1]),
    [literal(add), 'x', literal('x')],
    { s: 'x' },
  ]);
  assert.deepEqual(task('own', 'own').toGraph(), new Map([['own', [collect, literal('own')]]]));
});

test('an array that an argument holds twice is converted once', () => {
  const doubled = (value: unknown): unknown => {
    let list = [value];
    for (let level = 0; level < 60; level++) list = [list, list];
    return list;
  };
  const innermost = (list: unknown): unknown => (Array.isArray(list) ? innermost(list[0]) : list);
  const graph = task('y', doubled(task('x')), doubled(1)).toGraph();
  assert.ok(graph instanceof Map);
  const made: unknown = graph.get('y');
  assert.ok(Array.isArray(made));
  assert.deepEqual(made.slice(1).map(innermost), ['x', 1]);
});

test('toTask returns the task with keys instead of Delayed', () => {
  assert.deepEqual(task('y', task('x'), [task('x')], 'x').toTask(), [collect, 'x', ['x'], 'x']);
});

test('a chain of 200,000 tasks does not overflow the stack', () => {
  const inc = delayed((a: number) => a + 1);
  let last: Delayed<number> = inc(0);
  for (let index = 1; index < 200_000; index++) last = inc(last);
  const graph = last.toGraph();
  assert.ok(graph instanceof Map);
  assert.equal(graph.size, 200_000);
});

test('a key that depends on itself is refused, and the error names the cycle', () => {
  const cyclic = task('a', task('b', task('a')));
  assert.throws(() => cyclic.toGraph(), hasCode('ERR_LONGPOLE_CYCLE', /a → b → a/));
});

test('an argument that contains itself is refused', () => {
  const list: unknown[] = [];
  list.push(list);
  const map = new Map<unknown, unknown>();
  map.set('self', { map });
  for (const argument of [list, map])
    assert.throws(
      () => task('x', argument).toGraph(),
      hasCode('ERR_LONGPOLE_INVALID_GRAPH', /contains itself/),
    );
});
