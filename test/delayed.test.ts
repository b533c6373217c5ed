// Delayed and tasks() give equal results through compute() and as a graph, on the thread of the caller and in another
// isolate.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compute, delayed, LongpoleError, literal } from 'longpole';
import { getSync, getThreaded } from 'longpole/local';

const THREAD = { numWorkers: 1 } as const;

test('arguments may be nested, and values that look like keys or tasks stay data', async () => {
  const x = delayed(() => 42).withOptions({ key: 'x' })();
  const gather = delayed((...parts: unknown[]) => parts).withOptions({ key: 'y' });
  const map = new Map([['k', [x]]]);
  const y = gather('x', x, ['x', [1]], [x, 'y'], { s: 'x', deep: { d: x } }, map, new Set([x, 1]));
  const expected = [
    'x',
    42,
    ['x', [1]],
    [42, 'y'],
    { s: 'x', deep: { d: 42 } },
    new Map([['k', [42]]]),
    new Set([42, 1]),
  ];
  assert.deepEqual(await y.compute({ scheduler: 'sync' }), expected);
  assert.deepEqual(await y.compute(THREAD), expected);
  assert.deepEqual(getSync(y.toGraph(), 'y'), expected);
  assert.deepEqual(await getThreaded(y.toGraph(), 'y', THREAD), expected);
});

test('an array that begins with a function is data if it is an argument of a Delayed', async () => {
  const apply = delayed((call: readonly unknown[], extra: number) => {
    const [fn, ...args] = call;
    return typeof fn === 'function' ? Reflect.apply(fn, undefined, args) + extra : Number.NaN;
  });
  const three = delayed(() => 3)();
  for (const task of [apply([Math.max, 1, 2], 10), apply([Math.max, 1, three], 9)]) {
    assert.equal(await task.compute(THREAD), 12);
    assert.equal(getSync(task.toGraph(), task.key), 12);
    assert.equal(await getThreaded(task.toGraph(), task.key, THREAD), 12);
  }
});

test('a value in literal() is data in a graph even if it looks like a key or a task', () => {
  const parts = (...args: unknown[]): unknown => args;
  const graph = {
    a: 1,
    b: [parts, literal('a'), [literal('a'), 'a'], [[literal('a')]], { s: literal('a') }],
    c: [literal('a')],
    d: literal([parts, 1]),
    e: [parts, 'c', 'a'],
  };
  const [b, c, d, e] = Array.from(Object.values(getSync(graph, ['b', 'c', 'd', 'e']) ?? assert.fail()));
  assert.deepEqual(b, ['a', ['a', 1], [['a']], { s: 'a' }]);
  assert.deepEqual(c, ['a']);
  assert.deepEqual(d, [parts, 1]);
  assert.deepEqual(e, [['a'], 1]);
});

test('functions of every form run in another isolate', async () => {
  function factorial(n: number): number {
    return n < 2 ? 1 : n * factorial(n - 1);
  }
  const object = {
    async twice(n: number) {
      return 2 * n;
    },
  };
  const results = await compute(
    delayed(factorial)(5),
    delayed(object.twice)(delayed((n: number) => n + 1)(1)),
    delayed(Math.max)(3, 9),
    delayed(function (this: unknown) {
      return this === undefined;
    })(),
    THREAD,
  );
  assert.deepEqual(results, [120, 4, 9, true]);
});

test('a closure runs on the thread of the caller, and is refused on other threads', async () => {
  const factor = 3;
  const task = delayed((n: number) => n * factor)(2);
  assert.equal(await task.compute({ scheduler: 'sync' }), 6);
  await assert.rejects(task.compute(THREAD), (error) => {
    assert.ok(error instanceof LongpoleError);
    assert.equal(error.code, 'ERR_LONGPOLE_FREE_VARIABLE');
    assert.match(error.message, /'factor'/);
    return true;
  });
});

test('equal pure calls run once', async () => {
  const one = delayed(() => Math.random(), { pure: true });
  const [a, b] = await compute(one(), one(), THREAD);
  assert.equal(a, b);
});
