import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { inspect } from 'node:util';
import type { Graph } from '../protocol/graph.js';
import type { RunState } from '../protocol/runObserver.js';
import { Callback } from './callback.js';
import { activeCallbacks, type CallbackLike, observersOf, withCallbacks } from './callbackObservers.js';
import { fakeGet } from './fakeEngine.test.support.js';
import { suspended } from './registry.js';

const add = (a: number, b: number): number => a + b;
const mul = (a: number, b: number): number => a * b;
const fail = (): never => {
  throw new Error('boom');
};
const graph: Graph = { one: 1, a: [add, 'one', 2], b: [add, 3, 'a'], c: [mul, 'a', 'b'] };

class Recorder extends Callback {
  readonly calls: unknown[][] = [];
  protected override _start(dsk: Graph): void {
    this.calls.push(['start', dsk]);
  }
  protected override _startState(dsk: Graph, state: RunState): void {
    this.calls.push(['startState', dsk, state.cache.get('one')]);
  }
  protected override _pretask(key: string, dsk: Graph, state: RunState): void {
    this.calls.push(['pretask', key, dsk, state.running.has(key)]);
  }
  protected override _posttask(key: string, result: unknown, dsk: Graph, state: RunState, id: string): void {
    this.calls.push(['posttask', key, result, dsk, state.finished.has(key), id]);
  }
  protected override _finish(dsk: Graph, state: RunState, errored: boolean): void {
    this.calls.push(['finish', dsk, state.finished.size, errored]);
  }
}

class Keys extends Callback {
  readonly keys: string[] = [];
  override pretask(key: string): void {
    this.keys.push(key);
  }
}

afterEach(() => assert.deepEqual(activeCallbacks(), [], 'a test left a callback active'));

describe('the five hooks', () => {
  it('run in order with their arguments', () => {
    const recorder = new Recorder();
    assert.deepEqual(fakeGet(graph, 'c', { callbacks: [recorder], workers: 1 }), [18]);
    assert.deepEqual(recorder.calls, [
      ['start', graph],
      ['startState', graph, 1],
      ['pretask', 'a', graph, true],
      ['posttask', 'a', 3, graph, true, 'fake-0'],
      ['pretask', 'b', graph, true],
      ['posttask', 'b', 6, graph, true, 'fake-0'],
      ['pretask', 'c', graph, true],
      ['posttask', 'c', 18, graph, true, 'fake-0'],
      ['finish', graph, 3, false],
    ]);
  });

  it('may be functions, or methods without the underscore', () => {
    const calls: string[] = [];
    const functions = new Callback({
      start: () => calls.push('start'),
      startState: () => calls.push('startState'),
      pretask: (key) => calls.push(`pretask ${key}`),
      posttask: (key, result) => calls.push(`posttask ${key} ${result}`),
      finish: (_dsk, _state, errored) => calls.push(`finish ${errored}`),
    });
    const keys = new Keys();
    fakeGet({ a: [add, 1, 2] }, 'a', { callbacks: [functions, keys] });
    assert.deepEqual(calls, ['start', 'startState', 'pretask a', 'posttask a 3', 'finish false']);
    assert.deepEqual(keys.keys, ['a']);
  });

  it('are requested from the engine only if they are overridden', () => {
    const wants = (callback: CallbackLike): unknown =>
      observersOf([callback]).map(({ perTask, results }) => [perTask, results]);
    assert.deepEqual(wants(new Callback()), []);
    assert.deepEqual(wants(new Callback({ finish: () => {} })), [[false, false]]);
    assert.deepEqual(wants(new Keys()), [[true, false]]);
    assert.deepEqual(wants(new Callback({ posttask: () => {} })), [[true, true]]);
    assert.deepEqual(wants({ endCallback: () => {} }), [[true, undefined]]);
  });

  it('may call the base class', () => {
    class Calling extends Callback {
      protected override _start(dsk: Graph): void {
        super._start(dsk);
      }
      override finish(dsk: Graph, state: RunState, errored: boolean): void {
        super.finish(dsk, state, errored);
      }
    }
    assert.deepEqual(fakeGet(graph, 'a', { callbacks: new Calling() }), [3]);
  });

  it('must be functions', () => {
    const notAFunction: object = { pretask: 1 };
    assert.throws(() => new Callback(notAFunction), {
      code: 'ERR_LONGPOLE_INVALID_ARGUMENT',
      message: /pretask/,
    });
  });

  it('are called at the start and the end of an empty run', () => {
    const recorder = new Recorder();
    fakeGet(graph, 'one', { callbacks: [recorder] });
    assert.deepEqual(
      recorder.calls.map(([name]) => name),
      ['start', 'startState', 'finish'],
    );
  });
});

describe('errors', () => {
  it('of a task call finish with errored', () => {
    const recorder = new Recorder();
    assert.throws(() => fakeGet({ a: [fail] }, 'a', { callbacks: [recorder] }), /boom/);
    assert.deepEqual(recorder.calls.at(-1)?.at(-1), true);
  });

  for (const hook of ['start', 'startState', 'pretask', 'posttask', 'finish'] as const) {
    it(`of ${hook} are thrown, and finish is called for every callback that started`, () => {
      const before = new Recorder();
      const after = new Recorder();
      const finished: boolean[] = [];
      class Failing extends Callback {
        protected override _finish(_dsk: Graph, _state: RunState, errored: boolean): void {
          finished.push(errored);
        }
      }
      const failing = new Failing({ [hook]: fail });
      assert.throws(() => {
        using one = before;
        using two = failing;
        using three = after;
        void [one, two, three];
        fakeGet(graph, 'c');
      }, /boom/);
      const last = (recorder: Recorder): unknown => recorder.calls.at(-1)?.at(-1);
      const inFinish = hook === 'finish';
      assert.equal(last(before), !inFinish);
      assert.equal(last(after), hook === 'start' ? undefined : !inFinish);
      assert.deepEqual(finished, hook === 'start' || inFinish ? [] : [true]);
    });
  }
});

describe('activation', () => {
  it('with using lasts for the block', () => {
    const keys = new Keys();
    {
      using active = keys;
      assert.deepEqual(activeCallbacks(), [active]);
      fakeGet(graph, 'a');
    }
    fakeGet(graph, 'c');
    assert.deepEqual(keys.keys, ['a']);
  });

  it('is not caused by the constructor', () => {
    const keys = new Keys();
    fakeGet(graph, 'a');
    assert.deepEqual(keys.keys, []);
  });

  it('is not caused by inspection', () => {
    const keys = new Keys();
    inspect(keys, { showHidden: true, depth: null });
    JSON.stringify(keys);
    assert.deepStrictEqual(keys, new Keys());
    assert.ok(Symbol.dispose in keys);
    assert.deepEqual(activeCallbacks(), []);
  });

  it('with await using lasts for the block', async () => {
    const keys = new Keys();
    {
      await using active = keys;
      await Promise.resolve();
      assert.deepEqual(activeCallbacks(), [active]);
    }
    assert.deepEqual(activeCallbacks(), []);
  });

  it('nests, and a disposer counts once', () => {
    const keys = new Keys();
    const leaveOuter = keys[Symbol.dispose];
    const leaveInner = keys[Symbol.dispose];
    leaveInner();
    leaveInner();
    assert.deepEqual(activeCallbacks(), [keys]);
    leaveOuter();
    assert.deepEqual(activeCallbacks(), []);
  });

  it('with register lasts until unregister, and both are idempotent', () => {
    const keys = new Keys();
    keys.unregister();
    keys.register();
    keys.register();
    fakeGet(graph, 'a');
    keys.unregister();
    keys.unregister();
    fakeGet(graph, 'a');
    assert.deepEqual(keys.keys, ['a']);
  });

  it('of one callback several times calls it once, in order of activation', () => {
    const order: string[] = [];
    const first = new Callback({ start: () => order.push('first') });
    const second = new Callback({ start: () => order.push('second') });
    const third = { start: () => order.push('third') };
    second.register();
    try {
      using a = first;
      using b = second;
      void [a, b];
      fakeGet(graph, 'a', { callbacks: [third, first, third] });
    } finally {
      second.unregister();
    }
    assert.deepEqual(order, ['second', 'first', 'third']);
  });

  it('of a registered callback does not end with a block', () => {
    const keys = new Keys();
    keys.register();
    {
      using active = keys;
      void active;
    }
    assert.deepEqual(activeCallbacks(), [keys]);
    keys.unregister();
  });

  it('does not apply to graphs that a task of a synchronous run computes', () => {
    const keys = new Keys();
    const nested: Graph = { outer: [() => suspended(() => fakeGet(graph, 'a')[0])] };
    using active = keys;
    void active;
    assert.deepEqual(fakeGet(nested, 'outer'), [3]);
    assert.deepEqual(keys.keys, ['outer']);
  });
});

describe('withCallbacks', () => {
  it('is active for a function and returns its value', () => {
    const keys = new Keys();
    assert.equal(
      withCallbacks([keys], () => fakeGet(graph, 'a')[0]),
      3,
    );
    assert.deepEqual(keys.keys, ['a']);
    assert.deepEqual(activeCallbacks(), []);
  });

  it('is active until a promise settles', async () => {
    const keys = new Keys();
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const running = withCallbacks(keys, async () => {
      await gate;
      return fakeGet(graph, 'a')[0];
    });
    assert.deepEqual(activeCallbacks(), [keys]);
    open();
    assert.equal(await running, 3);
    assert.deepEqual(keys.keys, ['a']);
    assert.deepEqual(activeCallbacks(), []);
  });

  it('ends when the function throws or rejects', async () => {
    const keys = new Keys();
    assert.throws(() => withCallbacks([keys], fail), /boom/);
    assert.deepEqual(activeCallbacks(), []);
    await assert.rejects(
      withCallbacks([keys], async () => fail()),
      /boom/,
    );
    assert.deepEqual(activeCallbacks(), []);
  });
});

describe('other forms of a callback', () => {
  it('include a tuple of five hooks', () => {
    const calls: string[] = [];
    const tuple = [
      null,
      null,
      (key: string) => calls.push(`pre ${key}`),
      undefined,
      () => calls.push('end'),
    ] as const;
    fakeGet(graph, 'b', { callbacks: tuple });
    fakeGet(graph, 'a', { callbacks: [tuple] });
    assert.deepEqual(calls, ['pre a', 'pre b', 'end', 'pre a', 'end']);
  });

  it('include the older pair, which is called once more at the end with null', () => {
    const calls: unknown[][] = [];
    const pair = {
      startCallback: (key: string | null) => calls.push(['start', key]),
      endCallback: (key: string | null, dsk: Graph, state: RunState, id: string | null) =>
        calls.push(['end', key, dsk === graph, state.finished.size, id]),
    };
    withCallbacks([pair], () => fakeGet(graph, 'b'));
    assert.deepEqual(calls, [
      ['start', 'a'],
      ['end', 'a', true, 1, 'fake-0'],
      ['start', 'b'],
      ['end', 'b', true, 2, 'fake-0'],
      ['start', null],
      ['end', null, true, 2, null],
    ]);
  });

  it('are the only ones: any other value is rejected', () => {
    const wrong: object[] = [{}, { pretasks: () => {} }, [1, 2, 3, 4, 5]];
    for (const callback of wrong) {
      assert.throws(() => fakeGet(graph, 'a', { callbacks: [callback] }), {
        code: 'ERR_LONGPOLE_INVALID_ARGUMENT',
      });
    }
  });
});
