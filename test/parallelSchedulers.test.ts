// The common behaviour of the schedulers that run tasks on threads and on processes: asynchronous tasks, functions and values
// that move between isolates, and several runs at once.
import assert from 'node:assert/strict';
import { Blob, File } from 'node:buffer';
import { createSecretKey } from 'node:crypto';
import { test } from 'node:test';
import { config, delayed, literal, type TaskError } from 'longpole';
import { getThreaded } from 'longpole/local';
import { observeProgram } from 'longpole/trace';
import { LiveTrace } from '#internal/trace/live/liveTrace.js';
import { withFolder } from './support/programs.js';
import { PARALLEL } from './support/schedulers.js';

const inc = (x: number): number => x + 1;
const identity = (x: unknown): unknown => x;

/** Ends when the task of the other name runs, too. */
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

  test(`${name} says that a promise in an argument or a result must be awaited first`, async () => {
    const refused = { code: 'ERR_LONGPOLE_NOT_CLONEABLE', message: /#<Promise> .* Await the promise, / };
    const promised = (): unknown => ({ value: Promise.resolve(1) });
    await assert.rejects(get({ a: [promised] }, 'a'), refused);
    await assert.rejects(get({ a: [identity, literal(promised())] }, 'a'), refused);
  });

  test(`${name} refuses arguments and results whose copies would be empty`, async () => {
    const makeUrl = (): unknown => ({ link: new URL('http://example.org/') });
    const makeStream = async (): Promise<unknown> => {
      const { Readable } = await import('node:stream');
      return Readable.from(['a']);
    };
    const makeBlob = (): unknown => [new Map([['file', [new Blob(['a'])]]])];
    const makeKey = async (): Promise<unknown> => {
      const { createSecretKey } = await import('node:crypto');
      return { list: new Array(900).fill(0), key: createSecretKey(Buffer.alloc(16)) };
    };
    const makeBlockList = async (): Promise<unknown> => {
      const { BlockList } = await import('node:net');
      return new BlockList();
    };
    for (const [fn, message] of [
      [makeBlob, /a Blob would arrive .* `await blob\.arrayBuffer\(\)`/],
      [makeKey, /a SecretKeyObject would arrive .* `key\.export\(\)`/],
      [makeBlockList, /a BlockList would arrive/],
      [makeUrl, /a URL would arrive .* `href`/],
      [makeStream, /a Readable \(an event emitter\) would arrive/],
    ] as const)
      await assert.rejects(get({ result: [fn] }, 'result'), {
        code: 'ERR_LONGPOLE_NOT_CLONEABLE',
        key: 'result',
        message,
      });
    for (const argument of [
      new URL('http://example.org/'),
      new Headers(),
      [{ nested: new EventTarget() }],
      [new Map([['file', new File(['a'], 'a.txt')]])],
      { key: createSecretKey(Buffer.alloc(16)) },
    ])
      await assert.rejects(get({ user: [identity, argument] }, 'user'), {
        code: 'ERR_LONGPOLE_NOT_CLONEABLE',
        message:
          /argument of task 'user' cannot be copied to a worker: a (URL|Headers|EventTarget|File|SecretKeyObject) would/,
      });
  });

  test(`${name} refuses WebAssembly modules, which would make messages of processes unreadable`, async () => {
    const wasm = (): unknown => [new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0))];
    const message = /A WebAssembly\.Module cannot be copied between processes\. Pass its bytes/;
    for (const task of [[wasm], [identity, wasm()]])
      await assert.rejects(get({ result: task }, 'result'), { code: 'ERR_LONGPOLE_NOT_CLONEABLE', message });
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

  test(`${name} explains an error once that a program throws again`, async () => {
    const callTwice = (point: { norm(): number }): string => {
      const thrown = new TypeError(
        'point.norm is not a function. An argument of the task is a plain object.',
      );
      if (Object.keys(point).length === 0) throw thrown;
      return thrown.message;
    };
    await assert.rejects(
      get({ a: [callTwice, {}] }, 'a'),
      (error: Error) => error.message.split('An argument of the task').length === 2,
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

  test(`${name} passes a large result to the program, callbacks, and tasks on every worker alike`, async () => {
    const make = () => {
      const lines = Array.from({ length: 500 }, (_unused, index) => ({ index, text: `line ${index} ä` }));
      const value = {
        map: new Map(lines.map((line) => [line.text, line])),
        lines,
        deep: { a: { b: { c: { d: new Float64Array(10_000).fill(3) } } } },
        date: new Date(0),
        self: undefined as unknown,
      };
      value.self = value;
      return value;
    };
    // A function inside the arguments of a task is called as in JavaScript, so the promise that it returns is an argument.
    const check = async (met: string | Promise<string>, value: ReturnType<typeof make>): Promise<boolean> => {
      await met;
      const { self, map, lines, deep } = value;
      return self === value && map.get('line 7 ä') === lines[7] && deep.a.b.c.d[9999] === 3;
    };
    await withFolder(async (folder) => {
      const graph = {
        made: [make],
        left: [check, [meet, literal(folder), literal('a'), literal('b')], 'made'],
        right: [check, [meet, literal(folder), literal('b'), literal('a')], 'made'],
      };
      assert.deepEqual(await get(graph, ['left', 'right', 'made']), [true, true, make()]);
    });
    const seen: unknown[] = [];
    const posttask = (key: unknown, value: unknown): void => void (key === 'made' && seen.push(value));
    const graph = { made: [make], used: [check, '', 'made'], again: [check, '', 'made'] };
    assert.deepEqual(await get(graph, ['used', 'again'], { callbacks: { posttask } }), [true, true]);
    assert.deepEqual(seen, [make()]);
  });

  test(`${name} runs two computations of one task each concurrently`, async () => {
    await withFolder(async (folder) => {
      const both = [
        get({ a: [meet, literal(folder), literal('a'), literal('b')] }, 'a'),
        get({ b: [meet, literal(folder), literal('b'), literal('a')] }, 'b'),
      ];
      assert.deepEqual(await Promise.all(both), ['a', 'b']);
    });
  });

  test(`${name} computes other graphs while every worker runs a task that never ends, and records the end of the additional worker`, async () => {
    // With more workers, the other graph would run on a free one.
    using _ = config.set({ workers: 2 });
    const never = (): Promise<never> => new Promise(() => undefined);
    const block = (): string => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    const controller = new AbortController();
    let started = 0;
    let bothRun = (): void => undefined;
    const running = new Promise<void>((resolve) => {
      bothRun = resolve;
    });
    const pretask = (): void => {
      if (++started === 2) bothRun();
    };
    const options = { numWorkers: 2, signal: controller.signal, callbacks: { pretask } };
    const endless = get({ a: [never], b: [block] }, ['a', 'b'], options);
    await running;
    const live = new LiveTrace();
    const stop = observeProgram(live);
    const graph = { x: [inc, 1], y: [inc, 2], z: [inc, 'y'] };
    assert.deepEqual(await get(graph, ['x', 'z'], { numWorkers: 2 }), [2, 4]);
    stop();
    controller.abort();
    await assert.rejects(endless, { code: 'ERR_LONGPOLE_ABORTED' });
    // The additional worker ends with the computation, so analyses do not call it idle afterwards.
    const { tasks, workers } = live.snapshot();
    const ends = workers.stopped.filter((time) => !Number.isNaN(time));
    assert.deepEqual(
      [...ends].map((end) => end >= Math.max(...tasks.stopped)),
      [true],
    );
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
