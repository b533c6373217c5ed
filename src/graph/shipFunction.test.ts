import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInThisContext } from 'node:vm';
import { type ErrorCode, LongpoleError } from '../base/errors.js';
import { type AnyFunction, isFunction } from './callable.js';
import { functionRef } from './shipFunction.js';
import { registerTasks } from './taskRegistry.js';

declare const undeclared: unknown;
declare function __name<F>(fn: F, name: string): F;

const outer = 3;

function asFunction(value: unknown): AnyFunction {
  assert.ok(isFunction(value));
  return value;
}

/** Returns the function as another isolate rebuilds it. */
function shipped(fn: AnyFunction): AnyFunction {
  const ref = functionRef(fn);
  assert.equal(ref.type, 'source');
  return asFunction(ref.type === 'source' ? runInThisContext(`(${ref.expression})`) : undefined);
}

function call(fn: AnyFunction, ...args: unknown[]): unknown {
  return Reflect.apply(shipped(fn), undefined, args);
}

function refusal(fn: AnyFunction): LongpoleError {
  try {
    functionRef(fn);
  } catch (error) {
    assert.ok(error instanceof LongpoleError);
    return error;
  }
  assert.fail(`${fn} was not refused`);
}

function refusedFor(fn: AnyFunction, name: string): void {
  const error = refusal(fn);
  assert.equal(error.code, 'ERR_LONGPOLE_FREE_VARIABLE');
  assert.match(error.message, new RegExp(`uses '${name}'`));
  assert.match(
    error.message,
    /Pass what it needs as an argument, or move the function to a separate module.*tasks\(/,
  );
}

test('plain functions of every form run after shipping', async () => {
  function fact(n: number): number {
    return n < 2 ? 1 : n * fact(n - 1);
  }
  assert.equal(call(fact, 5), 120);
  assert.equal(
    call((a: number, b: number) => a + b, 1, 2),
    3,
  );
  assert.equal(
    call(
      function (this: unknown, ...args: number[]) {
        // biome-ignore lint/complexity/noArguments: the test needs `arguments`
        return arguments.length + args.length;
      },
      1,
      2,
    ),
    4,
  );
  assert.equal(await call(async (a: Promise<number>) => (await a) + 1, Promise.resolve(1)), 2);
  const iterator = call(function* count(n: number) {
    for (let index = 0; index < n; index++) yield index;
  }, 3);
  assert.ok(iterator !== null && typeof iterator === 'object' && Symbol.iterator in iterator);
  assert.deepEqual([...Array.from(Object(iterator))], [0, 1, 2]);
  const recursive = function down(n: number): number {
    return n === 0 ? 0 : down(n - 1);
  };
  assert.equal(call(recursive, 3), 0);
});

test('methods with any key run after shipping', async () => {
  class Tools {
    static twice(n: number): number {
      return 2 * n;
    }
    half(n: number): number {
      return n / 2;
    }
    #secret(n: number): number {
      return n - 1;
    }
    get secret(): AnyFunction {
      return this.#secret;
    }
  }
  const object = {
    add(a: number, b: number) {
      return a + b;
    },
    async later(a: number) {
      return a;
    },
    *numbers() {
      yield 1;
    },
    [`computed${outer}`](a: number) {
      return a;
    },
    'with blank'(a: number) {
      return a;
    },
    12(a: number) {
      return a;
    },
    get(a: number) {
      return a;
    },
    async(a: number) {
      return a;
    },
    function(a: number) {
      return a;
    },
    if(a: number) {
      return a;
    },
  };
  assert.equal(call(object.add, 1, 2), 3);
  assert.equal(await call(object.later, 1), 1);
  assert.deepEqual([...Array.from(Object(call(object.numbers)))], [1]);
  const keys = ['computed3', 'with blank', '12', 'get', 'async', 'function', 'if'] as const;
  for (const key of keys) {
    const method = asFunction(Reflect.get(object, key));
    assert.equal(call(method, 7), 7, key);
    assert.equal(shipped(method).name, key);
  }
  assert.equal(call(Tools.twice, 4), 8);
  assert.equal(call(Tools.prototype.half, 4), 2);
  assert.equal(call(new Tools().secret, 4), 3);
});

test('a shipped function keeps its name', () => {
  const named = (): number => 1;
  function declared(): number {
    return 1;
  }
  assert.equal(shipped(named).name, 'named');
  assert.equal(shipped(declared).name, 'declared');
  assert.equal(
    shipped(
      (
        () => () =>
          1
      )(),
    ).name,
    '',
  );
  assert.equal(functionRef(named).name, 'named');
  assert.equal(
    functionRef(
      (
        () => () =>
          1
      )(),
    ).name,
    'lambda',
  );
});

test('a variable that a function defines is not free', () => {
  assert.deepEqual(
    call(
      (a: number, b = a, { c, d: [e] = [b] }: { c?: number; d?: number[] } = {}, ...rest: number[]) => [
        a,
        b,
        c,
        e,
        rest,
      ],
      1,
    ),
    [1, 1, undefined, 1, []],
  );
  assert.equal(
    call((n: number) => {
      let sum = 0;
      loop: for (let i = 0; ; i++) {
        for (const j of [1, 2]) {
          if (i > n) break loop;
          sum += j;
        }
      }
      try {
        throw sum;
      } catch (caught) {
        return inner(Number(caught));
      }
      function inner(value: number): number {
        return value + hoisted;
      }
      var hoisted: number;
    }, 2),
    Number.NaN,
  );
  assert.equal(
    call(() => typeof undeclared),
    'undefined',
  );
  assert.equal(
    call((size: number) => {
      class Box extends Array<number> {
        static made = this.name;
        size: number;
        constructor() {
          super();
          this.size = size;
        }
      }
      return Box.made + new Box().size;
    }, 2),
    'Box2',
  );
});

test('a shipped function may use the globals of every isolate and helpers of compilers', () => {
  assert.equal(
    call((x: number) => Math.max(x, Number.parseInt('4', 10)) + Buffer.from([1]).length, 1),
    5,
  );
  assert.equal(
    functionRef(() => [structuredClone, fetch, performance, process, console, import('node:fs')]).type,
    'source',
  );
  assert.equal(functionRef(() => __name(() => 1, 'one')).type, 'source');
});

test('the error for free variables names the first one in the text and a solution', () => {
  refusedFor(() => outer, 'outer');
  refusedFor((a = outer) => a, 'outer');
  refusedFor((a: unknown) => ({ a, outer }), 'outer');
  refusedFor(() => `${assert}${outer}`, 'assert');
  refusedFor(() => () => () => test, 'test');
  refusedFor(() => (typeof undeclared === 'undefined' ? 0 : undeclared), 'undeclared');
  refusedFor(() => require('node:fs'), 'require');
  const error = refusal(function total() {
    return [refusal, outer, assert, test, shipped, call];
  });
  assert.match(error.message, /'total' uses 'refusal' \(and 'outer', 'assert', 'test', 'shipped', 1 more\)/);
});

test('a property of the global object of the caller is a free variable', () => {
  Object.assign(globalThis, { undeclared: 1 });
  try {
    refusedFor(() => undeclared, 'undeclared');
  } finally {
    Reflect.deleteProperty(globalThis, 'undeclared');
  }
});

test('the error for an arrow function that calls itself through a variable names a solution', () => {
  const fact = (n: number): number => (n < 2 ? 1 : n * fact(n - 1));
  refusedFor(fact, 'fact');
  assert.match(refusal(fact).message, /write it as `function` with a name/);
});

test('an arrow function that needs the code around it is refused', () => {
  function around(this: unknown): AnyFunction[] {
    // biome-ignore lint/complexity/noArguments: the test needs `arguments`
    return [() => this, () => arguments.length];
  }
  const [usesThis, usesArguments] = around.call(1);
  assert.ok(usesThis !== undefined && usesArguments !== undefined);
  assert.equal(refusal(usesThis).code, 'ERR_LONGPOLE_NOT_SHIPPABLE');
  assert.match(refusal(usesThis).message, /`this`/);
  refusedFor(usesArguments, 'arguments');
});

test('functions that cannot be rebuilt from their text are refused with the reason', () => {
  class Base {}
  class Derived extends Base {
    #own = 1;
    name(): string {
      return super.toString();
    }
    get five(): number {
      return 5;
    }
    peek(): number {
      return this.#own;
    }
  }
  const getter = asFunction(Object.getOwnPropertyDescriptor(Derived.prototype, 'five')?.get);
  const cases: readonly (readonly [AnyFunction, RegExp])[] = [
    [refusal.bind(null), /made by bind/],
    [Array.prototype.map, /built into the engine/],
    [asFunction(Map), /built into the engine/],
    [asFunction(Derived), /class.*`new`/],
    [Derived.prototype.name, /`super`/],
    [Derived.prototype.peek, /'#own'/],
    [getter, /getter/],
    [() => import.meta.url, /`import\.meta`/],
  ];
  for (const [fn, reason] of cases) {
    const error = refusal(fn);
    assert.equal(error.code, 'ERR_LONGPOLE_NOT_SHIPPABLE' satisfies ErrorCode, String(fn));
    assert.match(error.message, reason);
  }
});

test('built-in functions are shipped by their path', () => {
  assert.deepEqual(functionRef(Math.max), { type: 'global', path: 'Math.max', name: 'max' });
  assert.deepEqual(functionRef(JSON.stringify), {
    type: 'global',
    path: 'JSON.stringify',
    name: 'stringify',
  });
  assert.deepEqual(functionRef(parseFloat), { type: 'global', path: 'parseFloat', name: 'parseFloat' });
  assert.deepEqual(functionRef(String), { type: 'global', path: 'String', name: 'String' });
  assert.deepEqual(functionRef(structuredClone), {
    type: 'global',
    path: 'structuredClone',
    name: 'structuredClone',
  });
});

test('strict code stays strict, and sloppy code stays sloppy', () => {
  assert.equal(
    call(function (this: unknown) {
      return this;
    }),
    undefined,
  );
  assert.equal(call(asFunction(new Function('return this'))), globalThis);
  assert.equal(call(asFunction(new Function('return 010'))), 8);
});

test('a function of tasks() is shipped by its module, even with free variables', () => {
  const task = (): number => outer;
  registerTasks('file:///ship.js', new Map([['run', task]]));
  assert.deepEqual(functionRef(task), { type: 'module', url: 'file:///ship.js', name: 'run' });
});

test('a task whose name its module has given to another function is refused', () => {
  const url = 'file:///twice.js';
  const first = (): number => 1;
  const second = (): number => 2;
  registerTasks(url, new Map([['run', first]]));
  registerTasks(url, new Map([['run', second]]));
  assert.equal(functionRef(second).type, 'module');
  const error = refusal(first);
  assert.equal(error.code, 'ERR_LONGPOLE_MODULE_TASK');
  assert.match(error.message, /twice\.js has defined the task 'run' again/);
});

test('a function is parsed once: later calls return the same reference or throw an equal error', () => {
  const good = (a: number): number => a;
  assert.equal(functionRef(good), functionRef(good));
  const bad = (): number => outer;
  assert.equal(refusal(bad).message, refusal(bad).message);
  assert.notEqual(refusal(bad), refusal(bad));
});

test('functions of one text, name and mode have one reference, others have their own', () => {
  const made = (): AnyFunction => (x: number) => x + 1;
  assert.equal(functionRef(made()), functionRef(made()));
  const texts = ['one', 'two'].map((name) =>
    functionRef(Object.defineProperty(made(), 'name', { value: name })),
  );
  assert.deepEqual(
    texts.map(({ name }) => name),
    ['one', 'two'],
  );
  const inMode = (mode: string): unknown =>
    call(asFunction(runInThisContext(`${mode}(function f() { return this; })`)));
  assert.deepEqual([inMode('"use strict";'), inMode('')], [undefined, globalThis]);
  assert.equal(inMode('"use strict";'), undefined);
});
