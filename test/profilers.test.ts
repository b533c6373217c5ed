// Profiler, ResourceProfiler and CacheProfiler through the public API, with each of the three schedulers.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { compute, delayed } from 'longpole';
import {
  CacheProfiler,
  type CallbackLike,
  nbytes,
  Profiler,
  processProf,
  ResourceProfiler,
  threadProf,
  visualize,
} from 'longpole/diagnostics';
import { type Graph, getMultiprocessing, getSync, getThreaded, terminateSharedPools } from 'longpole/local';

const add = (a: number, b: number): number => a + b;
const mul = (a: number, b: number): number => a * b;
const div = (a: number, b: number): number => {
  if (b === 0) throw new Error('division by zero');
  return a / b;
};
const graph: Graph = { a: 1, b: 2, c: [add, 'a', 'b'], d: [mul, 'a', 'b'], e: [mul, 'c', 'd'] };
const chain: Graph = { x: [add, 1, 2], y: [add, 'x', 'x'], z: [add, 'x', 'y'] };

type Get = (dsk: Graph, keys: string, callbacks?: CallbackLike | readonly CallbackLike[]) => Promise<unknown>;

const schedulers: Record<string, Get> = {
  getSync: async (dsk, keys, callbacks = []) => getSync(dsk, keys, { callbacks }),
  getThreaded: (dsk, keys, callbacks = []) => getThreaded(dsk, keys, { callbacks, numWorkers: 2 }),
  getMultiprocessing: (dsk, keys, callbacks = []) =>
    getMultiprocessing(dsk, keys, { callbacks, numWorkers: 2 }),
};

const now = (): number => (performance.timeOrigin + performance.now()) / 1000;

after(() => terminateSharedPools());

/** Sampling interval in seconds. It is longer than any test, so that only the samples at the start and the end exist. */
const NEVER = 3600;

describe('ResourceProfiler', () => {
  /** Returns the CPU seconds in the results. The load of a sample is the mean since the sample before. */
  const cpuSeconds = (rprof: ResourceProfiler): number =>
    rprof.results.reduce(
      (sum, { time, cpu }, i, all) => sum + (i > 0 ? (cpu / 100) * (time - all[i - 1]!.time) : 0),
      0,
    );
  /** Computes until the process has used this CPU time. */
  const burn = (seconds: number): number => {
    const before = process.cpuUsage();
    for (let used = 0; used < seconds * 1e6; ) {
      for (let i = 0; i < 1e5; i++);
      const { user, system } = process.cpuUsage(before);
      used = user + system;
    }
    return process.pid;
  };

  /**
   * Tick of the system's CPU times, in seconds. The user and the system time of a process are whole ticks, so a difference of
   * two samples is wrong by up to two ticks.
   */
  const TICK = 0.01;

  // The first test of this file: samples count child processes, and idle workers of other tests use some CPU time.
  it('counts the CPU time of every thread', { timeout: 300_000 }, async () => {
    await getThreaded({ a: [add, 1, 2] }, 'a', { numWorkers: 2 });
    // The CPU time is read before the first sample and after the last one.
    const before = process.cpuUsage();
    const rprof = new ResourceProfiler({ dt: NEVER });
    // One sample is taken before the tasks and one after them. A task ends when the process has used 0.4 s of CPU time.
    await getThreaded({ a: [burn, 0.4], b: [burn, 0.4] }, ['a', 'b'], { numWorkers: 2, callbacks: rprof });
    const seen = cpuSeconds(rprof);
    rprof.close();
    const { user, system } = process.cpuUsage(before);
    const used = (user + system) / 1e6;
    assert.ok(seen >= 0.4 - 2 * TICK && seen <= used + 2 * TICK, `${seen} of ${used} s`);
  });

  it('counts the CPU time and memory of every child process', { timeout: 300_000 }, async () => {
    await getMultiprocessing({ a: [add, 1, 2] }, 'a', { numWorkers: 2 });
    const rprof = new ResourceProfiler({ dt: NEVER });
    const alone = process.memoryUsage.rss() / 1e6;
    await getMultiprocessing({ a: [burn, 0.2], b: [burn, 0.2] }, ['a', 'b'], {
      numWorkers: 2,
      callbacks: rprof,
    });
    const seen = cpuSeconds(rprof);
    const all = rprof.results.at(-1)?.mem ?? 0;
    rprof.close();
    assert.ok(seen >= 0.4 - 4 * TICK, `${seen} s`);
    const own = Math.max(alone, process.memoryUsage.rss() / 1e6);
    assert.ok(all > own, `${all} MB with two more processes, ${own} MB alone`);
  });

  it('samples while getSync blocks the thread', { timeout: 300_000 }, () => {
    using rprof = new ResourceProfiler({ dt: 0.02 });
    const pause = new Int32Array(new SharedArrayBuffer(4));
    const untilSampled = (): void => {
      while (rprof.results.length < 3) Atomics.wait(pause, 0, 0, 5);
    };
    getSync({ a: [untilSampled] }, 'a');
    const { length } = rprof.results;
    rprof.close();
    assert.ok(length >= 3);
  });
});

for (const [name, get] of Object.entries(schedulers)) {
  describe(`Profiler with ${name}`, () => {
    it('records the key, task, times and worker of every task', async () => {
      const before = now();
      using prof = new Profiler();
      assert.equal(await get(graph, 'e'), 6);
      const end = now();
      const results = prof.results.toSorted((a, b) => a.key.localeCompare(b.key));
      assert.deepEqual(
        results.map(({ key, task }) => [key, task]),
        [
          ['c', [add, 'a', 'b']],
          ['d', [mul, 'a', 'b']],
          ['e', [mul, 'c', 'd']],
        ],
      );
      for (const { startTime, endTime, workerId } of results) {
        // The clocks of other processes may differ slightly.
        assert.ok(before - 0.01 <= startTime && startTime <= endTime && endTime <= end + 0.01);
        assert.equal(typeof workerId, 'string');
      }
      const [c, d, e] = results;
      assert.ok(
        e!.startTime >= Math.max(c!.endTime, d!.endTime) - 0.001,
        'a task starts after its dependencies',
      );
    });

    it('keeps the tasks that had finished before an error', async () => {
      using prof = new Profiler();
      const failing: Graph = { x: [div, 1, 1], y: [div, 'x', 2], z: [div, 'y', 0] };
      await assert.rejects(get(failing, 'z'), /division by zero/);
      assert.deepEqual(
        prof.results.map(({ key }) => key),
        ['x', 'y'],
      );
    });

    it('has one row per task of a large graph', async () => {
      const leaves = Array.from({ length: 5000 }, (_, i) => `leaf-${i}`);
      const dsk = new Map<string, unknown>(leaves.map((key, i) => [key, [add, i, 1]]));
      dsk.set('count', [(...all: number[]): number => all.length, ...leaves]);
      const prof = new Profiler();
      const cprof = new CacheProfiler();
      assert.equal(await get(dsk, 'count', [prof, cprof]), 5000);
      assert.equal(new Set(prof.results.map(({ key }) => key)).size, 5001);
      assert.equal(prof.results.length, 5001);
      assert.equal(cprof.results.length, 5001);
    });
  });

  describe(`CacheProfiler with ${name}`, () => {
    it('records when a result entered the cache and when it was released', async () => {
      using cprof = new CacheProfiler();
      using prof = new Profiler();
      await get(chain, 'z');
      const stop = new Map(prof.results.map(({ key, endTime }) => [key, endTime]));
      assert.deepEqual(
        cprof.results.map(({ key, task, metric, cacheTime }) => [key, task, metric, cacheTime]).sort(),
        [
          ['x', [add, 1, 2], 1, stop.get('x')],
          ['y', [add, 'x', 'x'], 1, stop.get('y')],
          ['z', [add, 'x', 'y'], 1, stop.get('z')],
        ],
      );
      const free = new Map(cprof.results.map(({ key, freeTime }) => [key, freeTime]));
      assert.equal(free.get('x'), stop.get('z'));
      assert.equal(free.get('y'), stop.get('z'));
      assert.ok(free.get('z')! >= stop.get('z')!);
    });

    it('measures results in bytes', async () => {
      using cprof = new CacheProfiler({ metric: nbytes });
      const zeros = (n: number): Float64Array => new Float64Array(n);
      const length = (array: Float64Array): number => array.length;
      assert.equal(await get({ big: [zeros, 10_000], n: [length, 'big'] }, 'n'), 10_000);
      assert.deepEqual(
        new Map(cprof.results.map(({ key, metric }) => [key, metric])),
        new Map([
          ['big', 80_000],
          ['n', 8],
        ]),
      );
    });
  });
}

describe('threadProf and processProf', () => {
  it('run a graph on their scheduler and record it', async () => {
    for (const ready of [threadProf, processProf]) {
      assert.equal(await ready.get(graph, 'e', { numWorkers: 2 }), 6);
      assert.deepEqual(ready.results.map(({ key }) => key).sort(), ['c', 'd', 'e']);
      ready.clear();
    }
  });

  it('have a `get` that can be passed to compute() as its scheduler', async () => {
    const inc = delayed((x: number) => x + 1, { name: 'inc' });
    const one = inc(1);
    assert.equal(await inc(one).compute({ get: threadProf.get, numWorkers: 2 }), 3);
    assert.equal(threadProf.results.length, 2);
    threadProf.clear();
    const prof = new Profiler(getSync);
    // A value that equals a key of another graph stays a value.
    const echo = delayed((text: string) => text, { name: 'echo' });
    assert.deepEqual(await compute(one, inc(one), echo(one.key), { get: prof.get }), [2, 3, one.key]);
    assert.equal(prof.results.length, 3);
  });

  it('can be created from any scheduler', () => {
    const prof = new Profiler(getSync);
    assert.deepEqual(prof.get(graph, ['e', ['c']]), [6, [3]]);
    assert.equal(prof.results.length, 3);
  });
});

describe('visualize', () => {
  it('writes one page for all profilers and returns its path', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'longpole-page-'));
    try {
      const prof = new Profiler();
      const rprof = new ResourceProfiler({ dt: 0.05 });
      const cprof = new CacheProfiler({ metric: nbytes });
      await getThreaded(graph, 'e', { callbacks: [prof, rprof, cprof], numWorkers: 2 });
      const filename = join(folder, 'all.html');
      assert.equal(visualize([prof, rprof, cprof], { filename }), filename);
      assert.match(readFileSync(filename, 'utf8'), /^<!doctype html>/i);
      for (const one of [prof, rprof, cprof]) {
        one.clear();
        const empty = one.visualize({ filename: join(folder, 'one.html') });
        assert.match(readFileSync(empty, 'utf8'), /^<!doctype html>/i);
      }
      rprof.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
