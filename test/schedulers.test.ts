// The common behaviour of the three schedulers: Dask's graph form, results and errors.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { delayed, literal, TaskError } from 'longpole';
import { getSync, getThreaded } from 'longpole/local';
import fc from '#internal/base/properties.test.support.js';
import { withFolder } from './support/programs.js';
import { ALL, PARALLEL } from './support/schedulers.js';

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

for (const { name, get } of PARALLEL) {
  test(`${name} awaits tasks that return promises`, async () => {
    const later = async (x: number): Promise<number> => {
      await new Promise((resolve) => setImmediate(resolve));
      return x + 1;
    };
    const fail = async (): Promise<never> => {
      await null;
      throw new TypeError('later');
    };
    assert.deepEqual(
      await get({ a: [later, 1], b: [later, 'a'], c: [inc, 'b'] }, ['a', 'b', 'c']),
      [2, 3, 4],
    );
    await assert.rejects(get({ a: [fail] }, 'a'), { code: 'ERR_LONGPOLE_TASK', message: /TypeError: later/ });
  });

  test(`${name} sends global functions by name`, async () => {
    const graph = { a: [Math.max, 1, 7, 3], b: [String, 'a'], c: [JSON.stringify, ['a', 'b']] };
    assert.deepEqual(await get(graph, ['a', 'b', 'c']), [7, '7', '[7,"7"]']);
  });

  test(`${name} uses the name that delayed() gives to a function in errors and stacks`, async () => {
    const fail = delayed(
      () => {
        throw new RangeError('no');
      },
      { name: 'divide' },
    );
    await assert.rejects(get({ a: [fail] }, 'a'), (error: TaskError) => {
      assert.ok(error.cause instanceof Error);
      assert.match(error.cause.stack ?? '', /at (Object\.)?divide /);
      return error.function === 'divide';
    });
  });

  test(`${name} passes functions as arguments`, async () => {
    const apply = (fn: (x: number) => number, x: number): number => fn(x);
    assert.equal(await get({ a: [apply, inc, 4] }, 'a'), 5);
  });

  test(`${name} names the first free variable of a function before any task runs`, async () => {
    const outside = 5;
    const started: string[] = [];
    const graph = { a: [inc, 1], b: [(x: number) => x + outside, 'a'] };
    const callbacks = { pretask: (key: string) => void started.push(key) };
    await assert.rejects(get(graph, 'b', { callbacks }), {
      code: 'ERR_LONGPOLE_FREE_VARIABLE',
      message: /'outside'/,
    });
    assert.deepEqual(started, []);
  });

  test(`${name} names the task whose result or argument cannot be cloned`, async () => {
    const makeFunction = (): unknown => () => 1;
    const makeObject = (): unknown => ({ method() {} });
    for (const fn of [makeFunction, makeObject])
      await assert.rejects(get({ result: [fn] }, 'result'), {
        code: 'ERR_LONGPOLE_NOT_CLONEABLE',
        key: 'result',
      });
    for (const argument of [Symbol('s'), new WeakMap(), { nested: [Symbol('s')] }])
      await assert.rejects(get({ user: [identity, literal(argument)] }, 'user'), {
        code: 'ERR_LONGPOLE_NOT_CLONEABLE',
        message: /user/,
      });
  });

  test(`${name} refuses arguments and results whose copies would be empty`, async () => {
    const makeUrl = (): unknown => ({ link: new URL('http://example.org/') });
    const makeStream = async (): Promise<unknown> => {
      const { Readable } = await import('node:stream');
      return Readable.from(['a']);
    };
    for (const [fn, message] of [
      [makeUrl, /a URL would arrive .* `href`/],
      [makeStream, /a Readable \(an event emitter\) would arrive/],
    ] as const)
      await assert.rejects(get({ result: [fn] }, 'result'), {
        code: 'ERR_LONGPOLE_NOT_CLONEABLE',
        key: 'result',
        message,
      });
    for (const argument of [new URL('http://example.org/'), new Headers(), [{ nested: new EventTarget() }]])
      await assert.rejects(get({ user: [identity, argument] }, 'user'), {
        code: 'ERR_LONGPOLE_NOT_CLONEABLE',
        message: /argument of task 'user' cannot be copied to a worker: a (URL|Headers|EventTarget) would/,
      });
  });

  test(`${name} explains a missing method by the conversion of class instances to plain objects`, async () => {
    class Point {
      x = 3;
      norm(): number {
        return this.x;
      }
    }
    const norm = (point: Point): number => point.norm();
    await assert.rejects(get({ a: [norm, new Point()] }, 'a'), {
      code: 'ERR_LONGPOLE_TASK',
      message: /point\.norm is not a function\. An argument of the task is a plain object without 'norm'/,
    });
    const wrong = (text: string): unknown => Reflect.apply(Reflect.get(Object(text), 'norm'), text, []);
    await assert.rejects(
      get({ a: [wrong, 'text'] }, 'a'),
      (error: Error) => !/plain object/.test(error.message),
    );
  });

  test(`${name} passes a class instance to dependents as a plain copy, on any worker`, async () => {
    const make = (): unknown => {
      class Point {
        x = 1;
        double(): number {
          return this.x * 2;
        }
      }
      return new Point();
    };
    const look = (point: { double?: unknown }): string => `${typeof point.double} ${JSON.stringify(point)}`;
    assert.equal(await get({ point: [make], look: [look, 'point'] }, 'look'), 'undefined {"x":1}');
    const bytes = (): Buffer => Buffer.from('abc');
    const size = (array: Uint8Array): string => `${array.constructor.name} ${array.buffer.byteLength}`;
    assert.equal(await get({ bytes: [bytes], size: [size, 'bytes'] }, 'size'), 'Uint8Array 3');
  });

  test(`${name} runs several graphs concurrently on the same workers`, async () => {
    const graphs = Array.from({ length: 8 }, (_unused, index) => {
      const graph: Record<string, unknown> = { t0: [inc, index] };
      for (let link = 1; link < 200; link++) graph[`t${link}`] = [inc, `t${link - 1}`];
      return get(graph, 't199');
    });
    assert.deepEqual(
      await Promise.all(graphs),
      graphs.map((_unused, index) => index + 200),
    );
  });

  test(`${name} runs two computations of one task each concurrently`, async () => {
    // Each task ends when both tasks run.
    const meet = async (folder: string, own: string, other: string): Promise<string> => {
      const { existsSync, watch, writeFileSync } = await import('node:fs');
      const met = new Promise<void>((resolve) => {
        const watcher = watch(folder, () => {
          if (!existsSync(`${folder}/${other}`)) return;
          watcher.close();
          resolve();
        });
      });
      writeFileSync(`${folder}/${own}`, '');
      if (!existsSync(`${folder}/${other}`)) await met;
      return own;
    };
    await withFolder(async (folder) => {
      const both = [
        get({ a: [meet, literal(folder), literal('a'), literal('b')] }, 'a'),
        get({ b: [meet, literal(folder), literal('b'), literal('a')] }, 'b'),
      ];
      assert.deepEqual(await Promise.all(both), ['a', 'b']);
    });
  });

  test(`${name} computes other graphs while a task never ends`, async () => {
    const controller = new AbortController();
    const never = (): Promise<never> => new Promise(() => undefined);
    const endless = get({ a: [never] }, 'a', { signal: controller.signal });
    const graph: Record<string, unknown> = {};
    for (let index = 0; index < 100; index++) graph[`t${index}`] = [inc, index];
    const results = await get(graph, Object.keys(graph));
    assert.deepEqual(
      results,
      Array.from({ length: 100 }, (_unused, index) => index + 1),
    );
    controller.abort();
    await assert.rejects(endless, { code: 'ERR_LONGPOLE_ABORTED' });
  });

  test(`${name} refuses invalid options`, async () => {
    const bad: object[] = [
      { numWorkers: 0 },
      { numWorkers: 1.5 },
      { numWorkers: '2' },
      { allowedFailures: 0 },
      { signal: {} },
      { callbacks: [7] },
    ];
    for (const options of bad)
      await assert.rejects(Reflect.apply(get, undefined, [{ a: [inc, 1] }, 'a', options]), {
        code: 'ERR_LONGPOLE_INVALID_ARGUMENT',
      });
  });
}

test('getThreaded shares large arrays between threads instead of copying them', async () => {
  const make = (): Float64Array => new Float64Array(100_000).fill(3);
  const isShared = (array: Float64Array): boolean => array.buffer instanceof SharedArrayBuffer;
  const meet = (cell: Int32Array, a: boolean): boolean => {
    Atomics.add(cell, 0, 1);
    Atomics.notify(cell, 0);
    while (Atomics.load(cell, 0) < 2) Atomics.wait(cell, 0, 1, 5000);
    return a;
  };
  // Both tasks must run at the same time, so one of them runs on another thread than the task that created the array.
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const graph = {
    made: [make],
    left: [meet, literal(cell), [isShared, 'made']],
    right: [meet, literal(cell), [isShared, 'made']],
  };
  const shared = await getThreaded<boolean[]>(graph, ['left', 'right'], { numWorkers: 2 });
  assert.ok(shared.includes(true));
});
