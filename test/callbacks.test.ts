// Callbacks through the public API, with each of the three schedulers.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { Callback, type CallbackLike, type RunState, withCallbacks } from 'longpole/diagnostics';
import { type Graph, getMultiprocessing, getSync, getThreaded, terminateSharedPools } from 'longpole/local';

const add = (a: number, b: number): number => a + b;
const mul = (a: number, b: number): number => a * b;
const fail = (): never => {
  throw new Error('boom');
};
const graph: Graph = { one: 1, a: [add, 'one', 2], b: [add, 3, 'a'], c: [mul, 'a', 'b'] };
const failing: Graph = { a: [add, 1, 2], b: [fail, 'a'], c: [add, 'b', 1] };

interface Options {
  readonly callbacks?: CallbackLike | readonly CallbackLike[];
  readonly numWorkers?: number;
}

const schedulers: Record<string, (dsk: Graph, keys: string, options?: Options) => Promise<unknown>> = {
  getSync: async (dsk, keys, options) => getSync(dsk, keys, options),
  getThreaded: (dsk, keys, options) => getThreaded(dsk, keys, { numWorkers: 2, ...options }),
  getMultiprocessing: (dsk, keys, options) => getMultiprocessing(dsk, keys, { numWorkers: 2, ...options }),
};

class PrintKeys extends Callback {
  readonly printed: string[] = [];
  protected override _pretask(key: string): void {
    this.printed.push(`Computing: '${key}'!`);
  }
}

after(() => terminateSharedPools());

for (const [name, get] of Object.entries(schedulers)) {
  describe(`callbacks of ${name}`, () => {
    it('are called in the documented order with the documented arguments', async () => {
      const calls: unknown[][] = [];
      const callback = new Callback({
        start: (dsk) => calls.push(['start', dsk === graph]),
        startState: (dsk, state) => calls.push(['startState', dsk === graph, state.cache.get('one')]),
        pretask: (key, dsk, state) => calls.push(['pretask', key, dsk === graph, state.running.has(key)]),
        posttask: (key, result, dsk, state, id) =>
          calls.push(['posttask', key, result, dsk === graph, state.finished.has(key), typeof id]),
        finish: (dsk, state, errored) => calls.push(['finish', dsk === graph, state.finished.size, errored]),
      });
      assert.equal(await get(graph, 'c', { callbacks: [callback] }), 18);
      assert.deepEqual(calls, [
        ['start', true],
        ['startState', true, 1],
        ['pretask', 'a', true, true],
        ['posttask', 'a', 3, true, true, 'string'],
        ['pretask', 'b', true, true],
        ['posttask', 'b', 6, true, true, 'string'],
        ['pretask', 'c', true, true],
        ['posttask', 'c', 18, true, true, 'string'],
        ['finish', true, 3, false],
      ]);
    });

    it('are active in a `using` block, while they are registered, and as an option of a call', async () => {
      const keys = new PrintKeys();
      await get(graph, 'a');
      {
        using active = keys;
        void active;
        await get(graph, 'c');
      }
      assert.deepEqual(keys.printed, ["Computing: 'a'!", "Computing: 'b'!", "Computing: 'c'!"]);
      keys.printed.length = 0;
      keys.register();
      await get(graph, 'a', { callbacks: keys });
      keys.unregister();
      await get(graph, 'a');
      await withCallbacks([keys], () => get(graph, 'b'));
      assert.deepEqual(keys.printed, ["Computing: 'a'!", "Computing: 'a'!", "Computing: 'b'!"]);
    });

    it('are called once for every task of a large graph, after its dependencies and before its dependents', async () => {
      const width = 300;
      const leaves = Array.from({ length: width }, (_, i) => `leaf-${i}`);
      const dsk: Graph = new Map<string, unknown>([
        ...leaves.map((key, i): [string, unknown] => [key, [add, i, 1]]),
        ...leaves.map((key, i): [string, unknown] => [`mid-${i}`, [mul, key, 2]]),
        [
          'sum',
          [(...all: number[]): number => all.reduce((a, b) => a + b, 0), ...leaves.map((_, i) => `mid-${i}`)],
        ],
      ]);
      const started = new Set<string>();
      const results = new Map<string, unknown>();
      const check = new Callback({
        pretask: (key, _dsk, state) => {
          assert.ok(!started.has(key));
          started.add(key);
          for (const need of state.dependencies.get(key) ?? [])
            assert.ok(results.has(need), `${key} before ${need}`);
        },
        posttask: (key, result) => {
          assert.ok(started.has(key) && !results.has(key));
          results.set(key, result);
        },
      });
      const expected = width * (width + 1);
      assert.equal(await get(dsk, 'sum', { callbacks: check }), expected);
      assert.equal(results.size, 2 * width + 1);
      assert.equal(results.get('leaf-7'), 8);
      assert.equal(results.get('mid-7'), 16);
    });

    it("receive the state with Dask's fields, of which a requested key waits for no dependents", async () => {
      const seen: RunState[] = [];
      const callback = new Callback({ startState: (_dsk, state) => seen.push({ ...state }) });
      await get({ lit: 5, a: [add, 1, 2], b: [add, 'lit', 'a'] }, 'b', { callbacks: callback });
      const [{ waitingData, ...state } = assert.fail()] = seen;
      assert.deepEqual(
        Object.keys(state).sort().join(' '),
        'cache dependencies dependents finished ready released running waiting',
      );
      assert.deepEqual([...state.ready], ['a']);
      // At the end: 'a' is released, and data and results are held.
      assert.deepEqual(
        new Map(waitingData),
        new Map([
          ['lit', new Set()],
          ['b', new Set()],
        ]),
      );
    });

    it('receive errored = true in `finish` when a task throws', async () => {
      const finished: unknown[] = [];
      const posted: string[] = [];
      const callback = new Callback({
        posttask: (key) => posted.push(key),
        finish: (_dsk, _state, errored) => finished.push(errored),
      });
      await assert.rejects(get(failing, 'c', { callbacks: callback }), {
        code: 'ERR_LONGPOLE_TASK',
        key: 'b',
      });
      assert.deepEqual(posted, ['a']);
      assert.deepEqual(finished, [true]);
    });

    for (const hook of ['start', 'startState', 'pretask', 'posttask', 'finish'] as const) {
      it(`fail the run if ${hook} throws, and do not disturb the next run`, async () => {
        const finished: boolean[] = [];
        const other = new Callback({
          finish: (_dsk: Graph, _state: RunState, errored: boolean) => finished.push(errored),
        });
        const callbacks = [other, new Callback({ [hook]: fail })];
        await assert.rejects(get(graph, 'c', { callbacks }), /boom/);
        assert.deepEqual(finished, [hook !== 'finish']);
        assert.equal(await get(graph, 'c'), 18);
      });
    }

    it('may be the older pair of functions, which is called with null at the end', async () => {
      const calls: unknown[][] = [];
      const pair = {
        startCallback: (key: string | null) => calls.push(['start', key]),
        endCallback: (key: string | null, _dsk: Graph, _state: RunState, id: string | null) =>
          calls.push(['end', key, typeof id]),
      };
      await get(graph, 'b', { callbacks: [pair] });
      assert.deepEqual(calls, [
        ['start', 'a'],
        ['end', 'a', 'string'],
        ['start', 'b'],
        ['end', 'b', 'string'],
        ['start', null],
        ['end', null, 'object'],
      ]);
    });

    it('are refused if they have none of the hooks', async () => {
      const wrong: object = { pretasks: fail };
      await assert.rejects(get(graph, 'a', { callbacks: [wrong] }), {
        code: 'ERR_LONGPOLE_INVALID_ARGUMENT',
      });
    });
  });
}

describe('a task that computes another graph', () => {
  it('is one task for the active callbacks', () => {
    using keys = new PrintKeys();
    const nested: Graph = { outer: [() => getSync(graph, 'c')] };
    assert.equal(getSync(nested, 'outer'), 18);
    assert.deepEqual(keys.printed, ["Computing: 'outer'!"]);
    assert.equal(getSync(graph, 'c'), 18);
    assert.equal(keys.printed.length, 4);
  });
});
