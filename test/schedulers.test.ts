// The common behaviour of the three schedulers: Dask's graph form, results and errors.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { literal, TaskError } from 'longpole';
import { getSync } from 'longpole/local';
import fc from '#internal/base/properties.test.support.js';
import { ALL } from './support/schedulers.js';

const add = (a: number, b: number): number => a + b;
const mul = (a: number, b: number): number => a * b;
const inc = (x: number): number => x + 1;
const sum = (xs: readonly number[]): number => xs.reduce((total, x) => total + x, 0);
const identity = (x: unknown): unknown => x;

for (const { name, get } of ALL) {
  test(`${name} computes the graph of the documentation and returns results in the shape of the keys`, async () => {
    const graph = { a: [add, 1, 2], b: [add, 3, 'a'], c: [mul, 'a', 'b'] };
    assert.equal(await get(graph, 'c'), 18);
    assert.deepEqual(await get(graph, ['c', ['a', ['b']], 'c', []]), [18, [3, [6]], 18, []]);
    assert.deepEqual(await get(graph, []), []);
  });

  test(`${name} accepts a Map as a graph`, async () => {
    const graph = new Map<string, unknown>([
      ['x', 1],
      ["('y', 0)", [inc, 'x']],
    ]);
    assert.equal(await get(graph, "('y', 0)"), 2);
  });

  test(`${name} interprets aliases, lists of keys, nested tasks and data as Dask does`, async () => {
    const graph = {
      one: 1,
      alias: 'two',
      two: [inc, 'one'],
      list: ['one', ['two', 3], 'not a key'],
      nested: [sum, [[inc, [inc, 'two']], 'one', [add, 'two', 'two']]],
      data: { one: 'one' },
      empty: [],
      text: 'some text',
    };
    assert.deepEqual(await get(graph, ['one', 'alias', 'list', 'nested', 'data', 'empty', 'text']), [
      1,
      2,
      [1, [2, 3], 'not a key'],
      4 + 1 + 4,
      { one: 'one' },
      [],
      'some text',
    ]);
  });

  test(`${name} passes a literal unchanged`, async () => {
    const graph = { a: 1, b: [identity, literal('a')], c: [identity, literal(['a', 'b'])] };
    assert.deepEqual(await get(graph, ['b', 'c']), ['a', ['a', 'b']]);
  });

  test(`${name} does not treat names of inherited properties as keys`, async () => {
    const graph = { a: [identity, 'constructor'], b: [identity, '__proto__'] };
    assert.deepEqual(await get(graph, ['a', 'b']), ['constructor', '__proto__']);
    await assert.rejects(get(graph, 'toString'), { code: 'ERR_LONGPOLE_UNKNOWN_KEY' });
  });

  test(`${name} returns every kind of value`, async () => {
    const values: unknown[] = [
      undefined,
      null,
      true,
      false,
      0,
      -0,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      2 ** 60,
      12n,
      '',
      'text ☃',
      [1, [2]],
      { a: { b: 1 } },
      new Map([[1, { two: 2 }]]),
      new Set(['a']),
      new Date(0),
      /x/g,
      new Float64Array([1.5, 2.5]),
      new Uint8Array(200_000).fill(7),
      { parts: [new Float32Array(50_000).fill(0.5)], rest: 'small' },
    ];
    const graph: Record<string, unknown> = {};
    for (const [index, value] of values.entries()) graph[`v${index}`] = [identity, literal(value)];
    // Each value is returned once directly and once through another task.
    for (const index of values.keys()) graph[`w${index}`] = [identity, `v${index}`];
    const keys = [...values.keys()];
    assert.deepEqual(
      await get(
        graph,
        keys.map((index) => `v${index}`),
      ),
      values,
    );
    assert.deepEqual(
      await get(
        graph,
        keys.map((index) => `w${index}`),
      ),
      values,
    );
  });

  test(`${name} runs every key once, however often it is used`, async () => {
    const started: string[] = [];
    const graph = { a: [inc, 1], b: [add, 'a', 'a'], c: [sum, ['a', 'b', 'a']] };
    const callbacks = { pretask: (key: string) => void started.push(key) };
    assert.deepEqual(await get(graph, ['c', 'a', 'a'], { callbacks }), [8, 2, 2]);
    assert.deepEqual(started.sort(), ['a', 'b', 'c']);
  });

  test(`${name} runs only what the requested keys need`, async () => {
    const started: string[] = [];
    const graph = { a: [inc, 1], b: [inc, 'a'], other: [inc, 'a'] };
    await get(graph, 'b', { callbacks: { pretask: (key: string) => void started.push(key) } });
    assert.deepEqual(started, ['a', 'b']);
  });

  test(`${name} refuses a graph with a cycle and names the cycle`, async () => {
    const graph = { a: [inc, 'c'], b: [inc, 'a'], c: [add, 'b', 'd'], d: [inc, 1] };
    await assert.rejects(get(graph, 'a'), { code: 'ERR_LONGPOLE_CYCLE', message: /a → c → b → a/ });
    await assert.rejects(get({ self: [inc, 'self'] }, 'self'), {
      code: 'ERR_LONGPOLE_CYCLE',
      message: /self → self/,
    });
    await assert.rejects(get({ a: 'b', b: 'a' }, 'a'), { code: 'ERR_LONGPOLE_CYCLE' });
  });

  test(`${name} names a missing requested key and a similar key`, async () => {
    await assert.rejects(get({ total: 1 }, 'Tot'), {
      code: 'ERR_LONGPOLE_UNKNOWN_KEY',
      message: /no key 'Tot'.*'total'/s,
    });
  });

  test(`${name} refuses invalid graphs and keys`, async () => {
    const notGraphs: unknown[] = [null, 7, 'graph', ['a'], new Set(['a'])];
    for (const graph of notGraphs)
      await assert.rejects(Reflect.apply(get, undefined, [graph, 'a']), {
        code: 'ERR_LONGPOLE_INVALID_GRAPH',
      });
    await assert.rejects(Reflect.apply(get, undefined, [{ a: 1 }, 7]), {
      code: 'ERR_LONGPOLE_INVALID_ARGUMENT',
    });
    await assert.rejects(Reflect.apply(get, undefined, [new Map([[1, 2]]), 'a']), {
      code: 'ERR_LONGPOLE_INVALID_GRAPH',
    });
  });

  test(`${name} refuses a task whose function is undefined`, async () => {
    await assert.rejects(async () => get({ a: [undefined, 1] }, 'a'), {
      code: 'ERR_LONGPOLE_INVALID_GRAPH',
      message: /task 'a' begins with undefined/,
    });
    assert.deepEqual(await get({ a: literal([undefined, 1]), b: [identity, [undefined, 2]] }, ['a', 'b']), [
      [undefined, 1],
      [undefined, 2],
    ]);
  });

  test(`${name} refuses an argument that contains itself`, async () => {
    const loop: unknown[] = [];
    loop.push(loop);
    await assert.rejects(get({ a: [identity, loop] }, 'a'), { code: 'ERR_LONGPOLE_INVALID_GRAPH' });
  });

  test(`${name} reports the key, function, worker and cause of a task that throws`, async () => {
    const fail = (x: number): number => {
      throw Object.assign(new RangeError(`${x} is too much`), { code: 'E_TOO_MUCH', limit: 1 });
    };
    const error = await get({ a: [inc, 1], b: [fail, 'a'], c: [inc, 'b'] }, 'c').then(
      () => assert.fail('the run did not fail'),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof TaskError);
    assert.equal(error.code, 'ERR_LONGPOLE_TASK');
    assert.equal(error.key, 'b');
    assert.equal(error.function, 'fail');
    assert.match(error.worker, name === 'getSync' ? /^main$/ : /^(threads|processes)-\d+$/);
    const { cause } = error;
    assert.ok(cause instanceof Error);
    assert.equal(cause.name, 'RangeError');
    assert.equal(cause.message, '2 is too much');
    assert.match(cause.stack ?? '', /RangeError: 2 is too much\n\s+at /);
    assert.deepEqual({ ...cause }, { code: 'E_TOO_MUCH', limit: 1 });
  });

  test(`${name} reports a thrown value that is not an Error`, async () => {
    const fail = (): number => {
      throw 'just text';
    };
    await assert.rejects(get({ a: [fail] }, 'a'), {
      code: 'ERR_LONGPOLE_TASK',
      message: /just text/,
      cause: 'just text',
    });
    const failWithObject = (): number => {
      throw { status: 404, path: '/x' };
    };
    await assert.rejects(get({ a: [failWithObject] }, 'a'), {
      code: 'ERR_LONGPOLE_TASK',
      message: /\{"status":404,"path":"\/x"\}/,
    });
  });

  test(`${name} names the task of a thrown value whose properties cannot be read`, async () => {
    const throwDefective = (): number => {
      throw Object.defineProperty(new Error('a'), 'message', { get: () => JSON.parse('{') });
    };
    const throwProxy = (): number => {
      throw new Proxy({}, { get: () => JSON.parse('{'), getPrototypeOf: () => JSON.parse('{') });
    };
    for (const a of [[throwDefective], [throwProxy]])
      await assert.rejects(get({ a }, 'a'), { code: 'ERR_LONGPOLE_TASK', key: 'a', name: 'TaskError' });
  });

  test(`${name} returns the results of a recursive evaluation for any graph`, async () => {
    const lists = fc.array(fc.array(fc.nat(), { maxLength: 4 }), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(lists, async (raw) => {
        const graph: Record<string, unknown> = {};
        const expected: number[] = [];
        for (const [id, list] of raw.entries()) {
          const needs = id === 0 ? [] : list.map((other) => other % id);
          graph[`t${id}`] = [sum, [id, ...needs.map((other) => `t${other}`)]];
          expected.push(needs.reduce((total, other) => total + expected[other]!, id));
        }
        const keys = raw.map((_list, id) => `t${id}`);
        assert.deepEqual(await get(graph, keys), expected);
      }),
      { numRuns: 30 },
    );
  });
}

test('getSync passes values by reference, even values that cannot be cloned', () => {
  const secret = Symbol('secret');
  const object = { secret, method: () => 1 };
  assert.equal(getSync({ a: [identity, literal(object)] }, 'a'), object);
});

test('getSync refuses a task that returns a promise, even if the promise rejects', async () => {
  const later = async (): Promise<number> => 1;
  const fail = async (): Promise<never> => {
    throw new Error('rejection of an ignored promise');
  };
  assert.throws(() => getSync({ a: [fail] }, 'a'), { code: 'ERR_LONGPOLE_ASYNC_IN_SYNC' });
  // In this turn of the event loop, Node would report an unhandled rejection and fail the test.
  await new Promise((resolve) => setImmediate(resolve));
  assert.throws(() => getSync({ a: [later] }, 'a'), {
    code: 'ERR_LONGPOLE_ASYNC_IN_SYNC',
    message: /getThreaded/,
  });
});
