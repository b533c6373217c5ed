// The calls that submit tasks and return results: submit, map, compute, persist, get, gather.
import assert from 'node:assert/strict';
import { on } from 'node:events';
import { join } from 'node:path';
import { type Client, connect, type Future, LocalCluster, LongpoleError, literal, TaskError } from 'longpole';
import { registerDefaultProfiler } from 'longpole/trace';
import { t } from './clusterTasks.js';
import { clusterTest, rejection, sharedClusterTest } from './support.js';

sharedClusterTest(
  'submit accepts values, futures, and futures in arrays, objects and Maps',
  async ({ client }) => {
    const one = client.submit(t.inc, 0);
    assert.equal(await one.result(), 1);
    const two = client.submit(t.add, one, 1);
    const parts = client.submit(t.echo, { list: [one, [two]], map: new Map([['k', two]]), text: 'one' });
    assert.deepEqual(await parts.result(), { list: [1, [2]], map: new Map([['k', 2]]), text: 'one' });
    assert.equal(await client.submit(t.sum, [one, two, 3]).result(), 6);
    assert.equal(await client.submit(t.asyncAdd, one, two).result(), 3);
    assert.equal(await client.submit((a: number, b: number) => a * b, two, 21).result(), 42);
    assert.equal(await client.submit(Math.max, 3, two).result(), 3);
  },
);

sharedClusterTest(
  'a chain and a fan of 500 tasks can be submitted in one turn of the event loop',
  async ({ client }) => {
    let link: Future<number> = client.submit(t.inc, 0);
    for (let i = 1; i < 500; i++) link = client.submit(t.inc, link);
    const fan = Array.from({ length: 500 }, (_, i) => client.submit(t.add, link, i));
    const total = client.submit(t.sum, fan);
    assert.equal(await total.result(), 500 * 500 + (499 * 500) / 2);
  },
);

sharedClusterTest(
  'futures of many earlier computations can be arguments of a later one',
  async ({ client }) => {
    const futures: Future<number>[] = [];
    for (let i = 0; i < 60; i++) {
      const future = client.submit(t.value, i);
      if (i % 3 === 0) await future.wait();
      futures.push(future);
      if (i % 2 === 0) await Promise.resolve();
    }
    assert.equal(await client.submit(t.sum, futures).result(), (59 * 60) / 2);
    const large = client.submit(t.zeros, 40_000, 1);
    await large.wait();
    const again = Array.from({ length: 10 }, (_, i) => client.submit(t.plus, large, i));
    assert.equal(await client.submit(t.totals, again).result(), 40_000 * (10 + 45));
  },
);

sharedClusterTest(
  'submit with an existing key does not compute the task again',
  async ({ client, folder }) => {
    const path = join(folder, 'calls');
    const first = client.submit(t.count, path, { key: 'counted' });
    const second = client.submit(t.count, path, { key: 'counted' });
    assert.equal(await first.result(), 1);
    assert.equal(await second.result(), 1);
    assert.equal(await client.submit(t.count, path, { key: 'counted' }).result(), 1);
    first.release();
    second.release();
  },
);

sharedClusterTest(
  'pure calls with equal arguments are one task, and other calls are separate tasks',
  async ({ client, folder }) => {
    const path = join(folder, 'calls');
    const pure = [0, 1, 2].map(() => client.submit(t.count, path, { pure: true }));
    assert.deepEqual(await client.gather(pure), [1, 1, 1]);
    assert.equal(new Set(pure.map(({ key }) => key)).size, 1);
    assert.equal(await client.submit(t.count, path).result(), 2);
    assert.equal(await client.submit(t.count, path).result(), 3);
  },
);

sharedClusterTest(
  'a function that cannot be sent to a worker fails only its future and the dependents',
  async ({ client }) => {
    const outside = 3;
    const bad = client.submit((x: number) => x + outside, 1);
    const good = client.submit(t.inc, 1);
    const behind = client.submit(t.inc, bad);
    assert.equal(await good.result(), 2);
    const error = await rejection(bad.result());
    assert.ok(error instanceof LongpoleError);
    assert.equal(error.code, 'ERR_LONGPOLE_FREE_VARIABLE');
    assert.equal(bad.status, 'error');
    assert.equal(await bad.exception(), error);
    assert.equal((await rejection(behind.result())) instanceof LongpoleError, true);
    assert.equal(await client.submit(t.inc, 2).result(), 3);
  },
);

sharedClusterTest(
  'a worker continues if its tasks end while the scheduler takes them back for another worker',
  async ({ client }) => {
    // Each task is a computation of 0 to 3 ms. The worker that is idle first gets tasks that the other has not begun.
    const times = Array.from({ length: 30 }, (_, i) => ((i * 37) % 30) / 10);
    for (let round = 0; round < 10; round++) {
      const futures = times.map((ms, i) => client.submit(t.busy, ms, i));
      assert.equal((await client.gather(futures)).length, times.length);
      for (const future of futures) future.release();
    }
  },
);

sharedClusterTest(
  'an argument that cannot be cloned fails only its task and the dependents',
  async ({ client }) => {
    const notCloneable = { name: 'TaskError', code: 'ERR_LONGPOLE_NOT_CLONEABLE', message: /Symbol\(s\)/ };
    const futures = client.map(t.echo, [1, { fn: Object.create({}) as object, symbol: Symbol('s') }, 3]);
    const behind = client.submit(t.echo, futures[1]);
    assert.equal(await futures[0]?.result(), 1);
    assert.equal(await futures[2]?.result(), 3);
    await assert.rejects(async () => futures[1]?.result(), notCloneable);
    await assert.rejects(behind.result(), notCloneable);
  },
);

sharedClusterTest(
  'an argument that cannot be cloned fails its task even if the task waits for a result of another worker',
  async ({ client }) => {
    const [first, second] = Object.keys(client.schedulerInfo().workers);
    const large = client.submit(t.echo, new Float64Array(200_000), { workers: first });
    assert.equal(await large.exception(), undefined);
    const bad = client.submit(t.echo, [large, Symbol('s')], { workers: second });
    const good = client.submit(t.echo, [large, 's'], { workers: second });
    await assert.rejects(bad.result(), { code: 'ERR_LONGPOLE_NOT_CLONEABLE' });
    assert.deepEqual(await good.result(), [new Float64Array(200_000), 's']);
  },
);

sharedClusterTest('submit throws on invalid arguments and options', async ({ client }) => {
  const invalid = { code: 'ERR_LONGPOLE_INVALID_ARGUMENT' };
  const submit: (...args: unknown[]) => unknown = Reflect.get(client, 'submit').bind(client);
  assert.throws(() => submit(3), invalid);
  assert.throws(() => submit(null), invalid);
  assert.throws(() => submit(t.inc, 1, { priority: 'high' }), invalid);
  assert.throws(() => submit(t.inc, 1, { retries: -1 }), invalid);
  assert.throws(() => submit(t.inc, 1, { workers: [] }), invalid);
  assert.throws(() => submit(t.inc, 1, { resources: { GPU: 0 } }), invalid);
  assert.throws(() => submit(t.inc, 1, { timeout: -1 }), invalid);
  assert.throws(() => submit(t.inc, 1, { signal: 5 }), invalid);
  assert.equal(await client.submit(t.inc, 1).result(), 2);
});

sharedClusterTest(
  'map accepts one or several iterables of values or futures, also empty ones',
  async ({ client }) => {
    assert.deepEqual(await client.gather(client.map(t.inc, [1, 2, 3])), [2, 3, 4]);
    assert.deepEqual(await client.gather(client.map(t.add, [1, 2, 3], new Set([10, 20]))), [11, 22]);
    function* numbers(): Generator<number> {
      for (let i = 0; i < 100; i++) yield i;
    }
    const futures = client.map(t.inc, numbers(), { key: 'mapped' });
    assert.deepEqual(
      futures.slice(0, 2).map(({ key }) => key),
      ['mapped-0', 'mapped-1'],
    );
    const sums = client.map(t.add, futures, futures);
    assert.deepEqual(
      await client.gather(sums),
      Array.from({ length: 100 }, (_, i) => 2 * (i + 1)),
    );
    assert.deepEqual(client.map(t.inc, []), []);
    assert.deepEqual(await client.gather(client.map(t.inc, [1, 2], {})), [2, 3]);
    assert.deepEqual(await client.gather(client.map(t.inc, [1, 2], undefined)), [2, 3]);
    const plain = {
      *[Symbol.iterator]() {
        yield* [10, 20];
      },
    };
    assert.deepEqual(await client.gather(client.map(t.add, [1, 2], plain)), [11, 22]);
    for (const wrong of [[], [{}], [undefined], [[1], { retires: 3 }]])
      assert.throws(() => Reflect.apply(client.map, client, [t.inc, ...wrong]), {
        code: 'ERR_LONGPOLE_INVALID_ARGUMENT',
      });
    assert.deepEqual(await client.gather([]), []);
  },
);

sharedClusterTest('map submits 20,000 tasks', async ({ client }) => {
  const futures = client.map(
    t.inc,
    Array.from({ length: 20_000 }, (_, i) => i),
  );
  const values = await client.gather(futures);
  assert.ok(values.every((value, i) => value === i + 1));
});

sharedClusterTest(
  'compute and persist run the shared tasks of several Delayed once',
  async ({ client, folder }) => {
    const path = join(folder, 'calls');
    const shared = t.count(path);
    const [left, right] = [t.add(shared, 10), t.add(shared, 20)];
    assert.deepEqual(await client.compute([left, right]), [11, 21]);
    assert.equal(await client.compute(left), 12);
    const kept = client.persist(shared);
    assert.equal(await kept.result(), 3);
    assert.deepEqual(await client.compute([left, right]), [13, 23]);
    const [a, b] = client.persist([left, right]);
    assert.deepEqual(await client.gather([a!, b!]), [13, 23]);
    assert.deepEqual(await client.compute([left, shared, left]), [13, 3, 13]);
    assert.deepEqual(await client.compute([]), []);
  },
);

sharedClusterTest('compute accepts Delayed whose arguments contain futures', async ({ client }) => {
  const [scattered] = await client.scatter([new Float64Array(10_000).fill(2)]);
  assert.equal(await client.compute(t.total(scattered!)), 20_000);
  const future = client.submit(t.inc, 1);
  assert.deepEqual(await client.compute(t.echo([future, { deep: [future] }])), [2, { deep: [2] }]);
});

sharedClusterTest(
  'get computes a Dask graph and returns the results in the shape of the keys',
  async ({ client }) => {
    const graph = {
      x: 1,
      y: [t.inc, 'x'],
      z: [t.add, 'y', [t.inc, 'y']],
      alias: 'z',
      list: ['x', 'y', ['z']],
    };
    assert.equal(await client.get(graph, 'z'), 5);
    assert.deepEqual(await client.get(graph, ['x', ['y', 'alias'], 'list']), [1, [2, 5], [1, 2, [5]]]);
    const error = await rejection(client.get(graph, 'nowhere'));
    assert.ok(error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_UNKNOWN_KEY');
    const cycle = await rejection(client.get({ a: [t.inc, 'b'], b: [t.inc, 'a'] }, 'a'));
    assert.ok(cycle instanceof LongpoleError && cycle.code === 'ERR_LONGPOLE_CYCLE');
  },
);

sharedClusterTest('gather throws the first error, or skips failed futures', async ({ client }) => {
  const futures: Future<number>[] = [
    client.submit(t.inc, 1),
    client.submit(t.fail, 'no'),
    client.submit(t.inc, 2),
  ];
  const error = await rejection(client.gather(futures));
  assert.ok(error instanceof TaskError);
  assert.match(error.message, /RangeError: no/);
  assert.deepEqual(await client.gather(futures, { errors: 'skip' }), [2, undefined, 3]);
  assert.equal(await client.gather(futures[0]!), 2);
  assert.equal(await client.gather(futures[1]!, { errors: 'skip' }), undefined);
});

sharedClusterTest('gather accepts futures in nested arrays, objects, Maps and Sets', async ({ client }) => {
  const [a, b] = [client.submit(t.inc, 1), client.submit(t.inc, 2)];
  const nested: [[number], [number, [number]]] = await client.gather([[a], [b, [a]]]);
  assert.deepEqual(nested, [[2], [3, [2]]]);
  const named: { a: number; more: [number] } = await client.gather({ a, more: [b] });
  assert.deepEqual(named, { a: 2, more: [3] });
  assert.deepEqual(await client.gather([new Map([[a, [b]]]), new Set([b])]), [
    new Map([[2, [3]]]),
    new Set([3]),
  ]);
});

sharedClusterTest(
  'the dependents of a failed task fail with its error, and its siblings run',
  async ({ client }) => {
    const root = client.submit(t.inc, 0);
    const bad = client.submit(t.fail, 'in the middle');
    const joined = client.submit(t.add, bad, root);
    const last = client.submit(t.inc, joined);
    const siblings = Array.from({ length: 20 }, (_, i) => client.submit(t.add, root, i));
    assert.deepEqual(
      await client.gather(siblings),
      Array.from({ length: 20 }, (_, i) => 1 + i),
    );
    for (const future of [bad, joined, last]) {
      const error = await rejection(future.result());
      assert.ok(error instanceof TaskError);
      assert.equal(error.key, bad.key);
      assert.equal(error.function, 'fail');
      assert.ok(error.cause instanceof Error && error.cause.name === 'RangeError');
      assert.match(error.cause.stack ?? '', /clusterTasks/);
      assert.equal(future.status, 'error');
      assert.equal(await future.exception(), error);
    }
    assert.equal(await root.exception(), undefined);
    const later = client.submit(t.inc, last);
    const before = await rejection(later.result());
    assert.ok(before instanceof TaskError && before.key === bad.key);
    assert.equal(before, await bad.exception());
    const delayedError = await rejection(client.compute(t.inc(t.fail('deep'))));
    assert.ok(delayedError instanceof TaskError);
  },
);

sharedClusterTest(
  'the status of a future is pending until its task has ended, then finished',
  async ({ client, folder }) => {
    const { open, started } = await import('./support.js');
    const held = client.submit(t.hold, folder, 'gate', 5);
    const waiting = client.submit(t.inc, held);
    await started(folder, 'gate');
    assert.equal(held.status, 'pending');
    assert.equal(waiting.status, 'pending');
    assert.equal(waiting.done, false);
    open(folder, 'gate');
    assert.equal(await waiting.result(), 6);
    assert.equal(held.status, 'finished');
    assert.equal(waiting.done, true);
    assert.match(String(waiting), /finished/);
  },
);

sharedClusterTest('a task can compute on threads that it starts', async ({ client }) => {
  const nested = client.submit(async (n: number) => {
    const { compute, delayed } = await import('longpole');
    const square = delayed((x: number) => x * x);
    const parts = await compute(...Array.from({ length: n }, (_, i) => square(i)), { numWorkers: 2 });
    return parts.reduce((sum, part) => sum + part, 0);
  }, 10);
  assert.equal(await nested.result(), 285);
});

async function firstKeys(client: Client): Promise<string[]> {
  return [client.submit(t.inc, 1).key];
}

sharedClusterTest('keys begin with the name of the function', async ({ client }) => {
  assert.match((await firstKeys(client))[0]!, /^inc-/);
  assert.match(client.submit((x: number) => x, 1).key, /-/);
  assert.equal(client.submit(t.inc, 1, { key: 'mine' }).key, 'mine');
});

sharedClusterTest('gather and cancel refuse futures of another cluster', async ({ client }) => {
  await using other = await connect({ workers: 1, profile: false }, { setAsDefault: false });
  const future = other.submit(t.zeros, 100_000, 7);
  await future.wait();
  client.submit(t.zeros, 100_000, 8);
  for (const use of [() => client.gather(future), async () => client.cancel(future)]) {
    const error = await rejection(use());
    assert.ok(error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_FUTURE');
    assert.match(error.message, /another cluster/);
  }
  assert.equal((await future.result())[0], 7);
});

clusterTest('wrong usage is an error with a code', async ({ client }) => {
  const codes: readonly [string, () => unknown][] = [
    ['ERR_LONGPOLE_INVALID_ARGUMENT', () => Reflect.apply(client.map, client, [t.inc])],
    ['ERR_LONGPOLE_NOT_CLONEABLE', () => client.scatter(() => 1)],
    ['ERR_LONGPOLE_INVALID_ARGUMENT', () => client.scatter([1], { workers: 'no-such-worker' })],
    ['ERR_LONGPOLE_INVALID_ARGUMENT', () => client.run(() => 1, { workers: ['no-such-worker'] })],
    ['ERR_LONGPOLE_INVALID_ARGUMENT', () => client.submit(t.inc, 1, { key: '' }).result()],
    [
      'ERR_LONGPOLE_INVALID_ARGUMENT',
      () => Reflect.apply(client.persist, client, [t.inc(1), { workers: 5 }]),
    ],
    [
      'ERR_LONGPOLE_INVALID_ARGUMENT',
      () => Reflect.apply(client.compute, client, [t.inc(1), { resources: 5 }]),
    ],
    ['ERR_LONGPOLE_INVALID_ARGUMENT', () => Reflect.apply(client.registerPlugin, client, [5])],
    ['ERR_LONGPOLE_INVALID_ARGUMENT', () => Reflect.apply(client.compute, client, [5])],
    ['ERR_LONGPOLE_INVALID_ARGUMENT', () => Reflect.apply(client.persist, client, [[t.inc(1), 'inc']])],
    ['ERR_LONGPOLE_INVALID_ARGUMENT', () => Reflect.apply(client.cancel, client, [5])],
    ['ERR_LONGPOLE_INVALID_ARGUMENT', () => Reflect.apply(client.record, client, [])],
    ['ERR_LONGPOLE_INVALID_ARGUMENT', () => Reflect.apply(client.runOnScheduler, client, [5])],
    ['ERR_LONGPOLE_INVALID_ARGUMENT', () => Reflect.apply(registerDefaultProfiler, undefined, [5])],
    // No user, not even root, can create a folder there.
    ['ERR_LONGPOLE_TRACE_FILE', () => client.record('/dev/null/run.trace')],
    ['ERR_LONGPOLE_LOCAL_DIRECTORY', () => LocalCluster.start({ localDirectory: '/dev/null/files' })],
  ];
  for (const [code, call] of codes) {
    const error = await rejection((async () => call())());
    assert.ok(error instanceof LongpoleError && error.code === code, String(error));
  }
  const aborted = new AbortController();
  const future = client.submit(t.inc, 1, { signal: aborted.signal, workers: 'no-such-worker' });
  for await (const [warning] of on(process, 'warning'))
    if (/Tasks may only run on no-such-worker/.test(String(warning))) break;
  aborted.abort();
  const error = await rejection(future.result());
  assert.ok(error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_ABORTED');
  const held = client.submit(t.inc, 1);
  await held.result();
  await client.close();
  const late = await rejection(client.gather(held));
  assert.ok(late instanceof LongpoleError && late.code === 'ERR_LONGPOLE_CLOSED');
});

clusterTest(
  'an object that may be options or an argument of the function is refused, unless literal() marks it as an argument',
  async ({ client }) => {
    const keyOf = (about: { readonly key: string }): string => about.key;
    assert.equal(await client.submit(keyOf, literal({ key: 'a' })).result(), 'a');
    assert.equal(await client.submit(keyOf, { key: 'a' }, { retries: 1 }).result(), 'a');
    assert.throws(() => client.submit(keyOf, { key: 'a' }), {
      code: 'ERR_LONGPOLE_INVALID_ARGUMENT',
      message: /\{ key \} may be options or argument 1 of 'keyOf'/,
    });
  },
);

sharedClusterTest(
  'map ends with the shortest iterable, also if another one is endless',
  async ({ client }) => {
    let isClosed = false;
    function* numbers(): Generator<number> {
      try {
        for (let next = 0; next < 1000; next++) yield next;
        throw new Error('More elements were read than there are calls.');
      } finally {
        isClosed = true;
      }
    }
    assert.deepEqual(await client.gather(client.map(t.add, [1, 2, 3], numbers())), [1, 3, 5]);
    assert.ok(isClosed);
  },
);
