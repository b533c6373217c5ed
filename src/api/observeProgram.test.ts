// Reports of the local schedulers to observers of the program.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { criticalPath } from '../analysis/criticalPath.js';
import { LiveTrace } from '../trace/live/liveTrace.js';
import type { Trace } from '../trace/trace.js';
import { compute } from './compute.js';
import { Config } from './config.js';
import { delayed, span } from './index.js';
import {
  type GetOptions,
  type Graph,
  getMultiprocessing,
  getSync,
  getThreaded,
  terminateSharedPools,
} from './local.js';
import { observeProgram, watchCluster } from './observeProgram.js';

after(() => terminateSharedPools());

const inc = (x: number): number => x + 1;
const add = (a: number, b: number): number => a + b;
const WORKERS = { getSync: /^main$/, getThreaded: /^threads-/, getMultiprocessing: /^processes-/ };
const GRAPH = { 'inc-1': [inc, 1], 'inc-2': [inc, 'inc-1'], 'add-3': [add, 'inc-1', 'inc-2'] };

async function traceOf(body: () => unknown): Promise<Trace> {
  const live = new LiveTrace();
  const stop = observeProgram(live);
  try {
    await body();
  } finally {
    stop();
  }
  return live.snapshot();
}

function keysOf({ tasks }: Trace): string[] {
  return Array.from({ length: tasks.length }, (_, row) => tasks.keyOf(row)).sort();
}

describe('observeProgram', () => {
  it('releases a cluster that has closed, and ends the observation of an open one', () => {
    const ended: string[] = [];
    const clusterOf = (name: string) => ({ observe: () => () => void ended.push(name) });
    const stop = observeProgram({});
    const close = watchCluster(clusterOf('closed'));
    watchCluster(clusterOf('open'));
    close();
    assert.deepEqual(ended, ['closed']);
    stop();
    assert.deepEqual(ended, ['closed', 'open']);
  });

  for (const [name, get] of [
    ['getSync', async () => getSync(GRAPH, 'add-3')],
    ['getThreaded', () => getThreaded(GRAPH, 'add-3', { numWorkers: 2 })],
    ['getMultiprocessing', () => getMultiprocessing(GRAPH, 'add-3', { numWorkers: 2 })],
  ] as const) {
    it(`${name}: reports every task with its prefix, its times in order, and its dependencies`, async () => {
      const trace = await traceOf(async () => assert.equal(await get(), 5));
      assert.deepEqual(keysOf(trace), ['add-3', 'inc-1', 'inc-2']);
      const { tasks, strings, workers, totals, computations } = trace;
      assert.deepEqual(totals.states, Float64Array.of(3, 0, 0, 0));
      assert.deepEqual([...totals.prefixes.keys()].sort(), ['add', 'inc']);
      assert.deepEqual([computations.length, computations[0]?.client], [1, 'local']);
      for (let row = 0; row < tasks.length; row++) {
        const { submitted, ready, dispatched, received, started, stopped, acknowledged } = tasks;
        const times = [submitted, ready, dispatched, received, started, stopped].map(
          (column) => column[row]!,
        );
        assert.deepEqual(
          times,
          times.toSorted((a, b) => a - b),
          tasks.keyOf(row),
        );
        assert.ok(stopped[row]! <= acknowledged[row]! + 1e-3);
        assert.match(strings.get(workers.name[tasks.worker[row]!]!), WORKERS[name]);
        const needs = tasks.dependencyOffsets[row + 1]! - tasks.dependencyOffsets[row]!;
        assert.equal(needs, { 'inc-1': 0, 'inc-2': 1, 'add-3': 2 }[tasks.keyOf(row)]);
      }
      const { byKind, makespan } = criticalPath(trace);
      assert.ok(
        !byKind.some(({ kind, seconds }) => kind === 'unknown' && seconds > 0),
        JSON.stringify(byKind),
      );
      assert.ok(Math.abs(byKind.reduce((sum, { seconds }) => sum + seconds, 0) - makespan) < 1e-9);
    });
  }

  it('reports the times from which the critical path finds that a task waited for its busy worker', async () => {
    // Runs until the clock has advanced.
    const work = (name: string): string => {
      const begun = performance.now();
      while (performance.now() === begun);
      return name;
    };
    const graph = { 'first-1': [work, 'a'], 'second-1': [work, 'b'] };
    const trace = await traceOf(() => getThreaded(graph, Object.keys(graph), { numWorkers: 1 }));
    const { behind } = criticalPath(trace);
    assert.deepEqual(
      behind.map(({ prefix }) => prefix),
      ['first'],
    );
    const { tasks } = trace;
    const [first, second] = tasks.started[0]! < tasks.started[1]! ? [0, 1] : [1, 0];
    const { seconds } = behind[0]!;
    assert.ok(seconds >= tasks.stopped[first]! - tasks.started[first]!, `${seconds} s`);
    assert.ok(seconds <= tasks.started[second]! - tasks.started[first]!, `${seconds} s`);
  });

  it("reports samples of the program's thread while a run is in progress", async () => {
    const gate = new Int32Array(new SharedArrayBuffer(4));
    // The time limit ends the task if no samples arrive to open the gate.
    const wait = (cells: Int32Array): number => (Atomics.wait(cells, 0, 0, 300_000) === 'timed-out' ? 0 : 1);
    const seen = new Set<number>();
    const stop = observeProgram({
      profile(worker) {
        seen.add(worker);
        Atomics.store(gate, 0, 1);
        Atomics.notify(gate, 0);
      },
    });
    try {
      assert.notEqual(await getThreaded({ a: [wait, gate] }, 'a', { numWorkers: 1 }), 0);
    } finally {
      stop();
    }
    assert.deepEqual(seen, new Set([-1]));
  });

  it('reports resource usage of the machine and the threads in a run that takes long enough', async () => {
    const gate = new Int32Array(new SharedArrayBuffer(4));
    const wait = (cells: Int32Array): number => {
      // The time limit ends the task if no sample arrives to open the gate.
      Atomics.wait(cells, 0, 0, 300_000);
      return cells[0] ?? 0;
    };
    const seen = { host: 0, workers: new Set<number>() };
    const stop = observeProgram({
      resources({ worker, cpu, figures }) {
        if (worker < 0) seen.host = figures?.get('host_cores') ?? 0;
        else if (cpu >= 0) seen.workers.add(worker);
        if (seen.host === 0 || seen.workers.size < 2) return;
        Atomics.store(gate, 0, 1);
        Atomics.notify(gate, 0);
      },
    });
    try {
      const graph = { a: [wait, gate], b: [wait, gate] };
      assert.deepEqual(await getThreaded(graph, ['a', 'b'], { numWorkers: 2 }), [1, 1]);
    } finally {
      stop();
    }
    assert.deepEqual([seen.host > 0, seen.workers], [true, new Set([0, 1])]);
  });

  for (const [name, get] of [
    ['getSync', async (graph: Graph, options?: GetOptions) => getSync(graph, 'inc-1', options)],
    ['getThreaded', (graph: Graph, options?: GetOptions) => getThreaded(graph, 'inc-1', options)],
  ] as const) {
    it(`${name}: reports a failed task with its times, and none of its dependents`, async () => {
      const fail = (): never => {
        throw new Error('no');
      };
      const graph = { fail: [fail], 'inc-1': [inc, 'fail'] };
      // A callback with pretask makes the scheduler report tasks one by one.
      for (const options of [{}, { callbacks: { pretask: () => undefined } }]) {
        const trace = await traceOf(() => assert.rejects(get(graph, options), /no/));
        assert.deepEqual(keysOf(trace), ['fail']);
        assert.deepEqual(trace.totals.states, Float64Array.of(0, 1, 0, 0));
        const { started, stopped, acknowledged } = trace.tasks;
        assert.ok(started[0]! <= stopped[0]! && stopped[0]! <= acknowledged[0]!, `${started[0]} s`);
      }
    });
  }

  it('reports a task with an argument that cannot be copied as failed', async () => {
    const graph = { bad: [(value: unknown): unknown => value, { symbol: Symbol('s') }] };
    const trace = await traceOf(() =>
      assert.rejects(getThreaded(graph, 'bad'), { code: 'ERR_LONGPOLE_NOT_CLONEABLE' }),
    );
    assert.deepEqual(keysOf(trace), ['bad']);
    assert.deepEqual(trace.totals.states, Float64Array.of(0, 1, 0, 0));
  });

  it('reports every attempt of a task that ends its process', async () => {
    const exit = (): never => process.exit(1);
    const trace = await traceOf(() =>
      assert.rejects(getMultiprocessing({ exit: [exit] }, 'exit', { allowedFailures: 2 }), {
        code: 'ERR_LONGPOLE_KILLED_WORKER',
      }),
    );
    assert.deepEqual([...trace.tasks.attempt], [1, 2]);
    assert.deepEqual(trace.totals.states, Float64Array.of(0, 0, 0, 2));
  });

  it('reports types of results, sizes of scalars and typed arrays, and spans', async () => {
    const graph = { n: [inc, 1], zeros: [(n: number): Uint8Array => new Uint8Array(n), 'n'] };
    for (const get of [async () => getSync(graph, 'zeros'), () => getThreaded(graph, 'zeros')]) {
      const { tasks, strings } = await traceOf(get);
      assert.deepEqual([...tasks.nbytes], [8, 2]);
      assert.deepEqual(
        Array.from(tasks.resultType, (type) => strings.get(type)),
        ['number', 'Uint8Array'],
      );
    }
    const { tasks, strings } = await traceOf(() =>
      span('Alice', () => compute(delayed(inc)(1), { scheduler: 'sync' })),
    );
    assert.deepEqual(
      Array.from(tasks.span, (id) => strings.get(id)),
      ['Alice'],
    );
  });

  it('reports several runs in a row, and nothing after the end of the observation', async () => {
    const live = new LiveTrace();
    const stop = observeProgram(live);
    getSync(GRAPH, 'inc-2');
    getSync(GRAPH, 'inc-1');
    stop();
    stop();
    getSync(GRAPH, 'add-3');
    const trace = live.snapshot();
    assert.deepEqual(keysOf(trace), ['inc-1', 'inc-1', 'inc-2']);
    assert.deepEqual(
      trace.computations.map(({ number }) => number),
      [1, 2],
    );
    assert.equal(new Set(trace.tasks.id).size, 3);
  });
});

describe('the setting scheduler', () => {
  it('has one of four values, also from the environment', () => {
    const of = (text: string): Config => new Config({ environment: { LONGPOLE_SCHEDULER: text } });
    assert.equal(of('cluster').get('scheduler'), 'cluster');
    assert.throws(() => of('fast').get('scheduler'), {
      code: 'ERR_LONGPOLE_CONFIG',
      message: /one of threads, /,
    });
  });

  it("'cluster' makes compute() start a cluster", async () => {
    const twice = delayed((x: number) => 2 * x, { name: 'twice' });
    const trace = await traceOf(async () =>
      assert.deepEqual(await compute(twice(1), twice(2), { scheduler: 'cluster' }), [2, 4]),
    );
    assert.deepEqual(trace.totals.states, Float64Array.of(2, 0, 0, 0));
    assert.equal(trace.computations[0]?.client.startsWith('client-'), true);
  });
});
