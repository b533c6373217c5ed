// The cluster releases everything that the program can no longer reach. Finished computations leave no results on the
// workers and no entries in the tables of the engine.
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import * as v8 from 'node:v8';
import { type Client, connect, Future, type LocalCluster } from 'longpole';
import { collectGarbage } from '../support/garbage.js';
import { t } from './clusterTasks.js';
import { heldBytes } from './heldBytes.js';
import { clusterTest, rejection, until } from './support.js';

const LARGE = 10_000;
const ROUNDS = 5;

/** Collects garbage until a count has the wanted value. */
async function untilCollected(
  what: string,
  count: () => number | Promise<number>,
  wanted = 0,
): Promise<void> {
  await until(what, async () => {
    await collectGarbage();
    return (await count()) === wanted;
  });
}

/** Returns the sizes of all tables of the engine that have entries for computations, tasks, results or waits. */
function entries({ engine }: LocalCluster): Record<string, number> {
  const { graph, ...state } = engine.scheduler.state;
  const workers = [...engine.scheduler.state.workers.values()];
  const sum = (of: (worker: (typeof workers)[number]) => number): number =>
    workers.reduce((total, worker) => total + of(worker), 0);
  return {
    computations: [...engine.computations].length,
    handles: engine.results.byKey.size,
    stored: engine.stored.size,
    segments: graph.segments.filter(({ dead }) => !dead).length,
    tasks: graph.size - graph.deadSize,
    held: state.held.size,
    awaited: state.awaited.size,
    parked: state.parked.size,
    released: state.releasedIds.length,
    arrivals: state.arrivals?.length ?? 0,
    replicas: sum(({ replicas }) => replicas.size),
    batches: sum(({ batches }) => batches.length),
  };
}

/** Functions that compute something and drop all futures, by the names of the situations. */
const WAYS: Readonly<Record<string, (client: Client, round: number) => Promise<unknown>>> = {
  'a pending result as an argument': async (client) => {
    const array = client.submit((length: number) => new Float64Array(length), LARGE);
    const length = client.submit((values: Float64Array) => values.length, array);
    assert.equal(await length.result(), LARGE);
  },
  'a finished result as an argument': async (client) => {
    const array = client.submit(t.zeros, LARGE, 1);
    await array.wait();
    assert.equal(await client.submit(t.total, array).result(), LARGE);
  },
  'a function in the scope of a future': async (client) => {
    const array = client.submit(t.zeros, LARGE, 1);
    const see = (): unknown => array;
    const fn = (values: Float64Array): number => values.length;
    assert.equal(await client.submit(fn, array).result(), LARGE);
    assert.equal(see(), array);
  },
  'compute, persist and scatter': async (client, round) => {
    const data = await client.scatter(new Float64Array(LARGE));
    const kept = client.persist(t.plus(data, round));
    assert.equal(await client.compute(t.total(kept)), LARGE * round);
  },
  'computations without tasks': async (client) => {
    assert.deepEqual(await client.compute([]), []);
    assert.deepEqual(await client.get({}, []), []);
  },
  'results that move between workers': async (client) => {
    const arrays = client.map(t.zeros, [LARGE, LARGE], [1, 2], { workers: 'worker-0' });
    assert.equal(await client.submit(t.totals, arrays, { workers: 'worker-1' }).result(), 3 * LARGE);
  },
  'futures released before their tasks ended': async (client) => {
    const array = client.submit(t.zeros, LARGE, 1);
    const total = client.submit(t.total, array);
    assert.equal(total.status, 'pending');
    total.release();
    array.release();
  },
  cancelled: async (client) => {
    const array = client.submit(t.zeros, LARGE, 1);
    const total = client.submit(t.total, array);
    array.cancel();
    await total.wait();
    await rejection(array.result());
  },
  failed: async (client) => {
    const array = client.submit(t.zeros, LARGE, 1);
    const failed = client.submit(t.fail, 'so', { retries: 1 });
    await rejection(client.gather([array, client.submit(t.add, failed, 1)]));
    await rejection(client.submit(t.echo, new Map([[1, () => 1]])).result());
    await rejection(client.submit(() => client.name).result());
  },
  aborted: async (client) => {
    const controller = new AbortController();
    const array = client.submit(t.zeros, LARGE, 1, { signal: controller.signal });
    assert.equal(array.status, 'pending');
    controller.abort();
    await array.wait();
  },
};

clusterTest(
  'computations whose futures were dropped leave no entries, results, handles or futures behind',
  async ({ client, cluster }) => {
    const before = entries(cluster);
    const left = watchHandles(cluster);
    const [probe] = await probes(client, cluster);
    await untilCollected('no computation or handle is left at the start', left);
    await untilCollected('no future is left at the start', () => countOf(Future));
    for (const type of [Future, probe!.computation, probe!.handle]) inheritCounted(type);
    const prototypes = countOf(Counted);
    for (const [way, compute] of Object.entries(WAYS)) {
      for (let round = 0; round < ROUNDS; round++) await compute(client, round);
      await untilCollected(`${way}: no computation or handle is left`, left);
      await until(`${way}: no result is left`, async () => (await heldBytes(client)) === 0);
      // A worker may report a cancelled batch after the answer to a call.
      await until(`${way}: no entry is left`, () => isDeepStrictEqual(entries(cluster), before));
    }
    await untilCollected('no future, computation or handle is left', () => countOf(Counted), prototypes);
  },
  { record: false },
);

/** Returns a function that counts the remaining handles that the engine has made since, and their computations. */
function watchHandles({ engine }: LocalCluster): () => number {
  const { byKey } = engine.results;
  const add = byKey.set.bind(byKey);
  const made: WeakRef<object>[] = [];
  byKey.set = (key, handle) => {
    made.push(new WeakRef(handle), new WeakRef(handle.computation));
    return add(key, handle);
  };
  return () => made.filter((reference) => reference.deref() !== undefined).length;
}

/**
 * Common ancestor of classes. A count reads the whole heap and costs more than the computations, so one serves all classes
 * and situations.
 */
class Counted {}

/** Makes the oldest ancestor of a class inherit from Counted. */
function inheritCounted(type: object): void {
  if (typeof type !== 'function') throw new Error('The argument is not a class.');
  let { prototype }: { prototype: object } = type;
  for (;;) {
    const parent: object = Object.getPrototypeOf(prototype);
    if (parent === Counted.prototype) return;
    if (parent === Object.prototype) break;
    prototype = parent;
  }
  Object.setPrototypeOf(prototype, Counted.prototype);
}

interface Probe {
  readonly handle: object;
  readonly computation: object;
}

/** Returns the classes of the objects that the engine holds for a result. */
async function probes(client: Client, { engine }: LocalCluster): Promise<Probe[]> {
  const future = client.submit(t.inc, 1);
  await future.wait();
  const handles = [...engine.results.byKey.values()];
  future.release();
  return handles.map((handle) => ({
    handle: handle.constructor,
    computation: handle.computation.constructor,
  }));
}

/** Returns the number of reachable objects of a class. */
function countOf(type: object): number {
  if (typeof type !== 'function') throw new Error('The argument is not a class.');
  return v8.queryObjects(type, { format: 'count' });
}

clusterTest('a released future does not keep the argument of its task alive', async ({ client, cluster }) => {
  const given = new WeakRef(new Float64Array(LARGE));
  const held = client.submit(t.total, given.deref() ?? new Float64Array(0));
  assert.equal(await held.result(), 0);
  held.release();
  await untilCollected('the argument is gone', () => (given.deref() === undefined ? 0 : 1));
  assert.equal(held.status, 'cancelled');
  assert.equal(entries(cluster)['tasks'], 0);
});

clusterTest(
  'the cluster keeps an argument exactly as long as a held result depends on the argument',
  async ({ client, processes }) => {
    const arrays = Array.from({ length: 4 }, (_, i) => new Float64Array(LARGE).fill(i));
    const references = arrays.map((array) => new WeakRef(array));
    const [own, made, ...others] = client.map(t.plus, arrays.splice(0), [1, 1, 1, 1]);
    const total = client.submit(t.total, made!);
    await client.gather([own, total, ...others]);
    for (const future of [made!, ...others]) future.release();
    const count = (from: number, to: number): number =>
      references.slice(from, to).filter((reference) => reference.deref() !== undefined).length;
    await untilCollected('the arguments of the others are gone', () => count(2, 4));
    assert.equal(count(0, 2), 2);
    if (processes)
      for (const { pid } of Object.values(client.schedulerInfo().workers)) process.kill(pid, 'SIGKILL');
    else await rejection(client.submit(t.exit, 7).result());
    assert.deepEqual([(await own!.result())[0], await total.result()], [1, 2 * LARGE]);
    own!.release();
    total.release();
    await untilCollected('all arguments are gone', () => count(0, 4));
  },
);

clusterTest(
  'a long-lived signal has no listeners for tasks that have ended or were released',
  async ({ client, folder }) => {
    const listeners = new Set<() => void>();
    const signal = {
      aborted: false,
      reason: undefined,
      addEventListener: (_type: string, listener: () => void) => void listeners.add(listener),
      removeEventListener: (_type: string, listener: () => void) => void listeners.delete(listener),
    };
    const failed = client.submit(t.fail, 'so', { signal });
    const gate = client.submit(t.holdAsync, folder, 'gate', 1, { signal });
    await failed.wait();
    assert.equal(listeners.size, 1);
    gate.release();
    await until('the signal has no listeners', () => listeners.size === 0);
  },
);

clusterTest(
  'a lost result is computed again even if the program holds no futures of its inputs',
  async ({ client, cluster, processes }) => {
    const other = await connect(cluster, { setAsDefault: false });
    const { total } = await (async () => {
      const arrays = client.map((length: number) => new Float64Array(length).fill(2), [LARGE, LARGE]);
      const sums = arrays.map((array) =>
        client.submit((values: Float64Array) => values.map((value) => value + 1), array),
      );
      await Promise.all(sums.map((sum) => sum.wait()));
      const sum = client.submit(
        (parts: Float64Array[]) => parts[0]!.map((value, i) => value + parts[1]![i]!),
        sums,
      );
      return { total: sum };
    })();
    await total.wait();
    await untilCollected('only one future is left', () => countOf(Future), 1);
    if (processes)
      for (const { pid } of Object.values(client.schedulerInfo().workers)) process.kill(pid, 'SIGKILL');
    else await rejection(client.submit(t.exit, 7).result());
    assert.equal((await total.result())[LARGE - 1], 6);
    await other.close();
  },
);
