import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nbytes } from '../graph/sizeOf.js';
import type { Graph } from '../protocol/graph.js';
import { CacheProfiler } from './cacheProfiler.js';
import { fakeGet } from './fakeEngine.test.support.js';

const add = (a: number, b: number): number => a + b;
const zeros = (length: number): Float64Array => new Float64Array(length);
const fail = (): never => {
  throw new Error('boom');
};
/** b and d depend on a, c on b, d on c; d is requested. Each task takes one second, from 100 on. */
const graph: Graph = { a: [add, 1, 2], b: [add, 'a', 1], c: [add, 'b', 1], d: [add, 'a', 'c'] };

describe('CacheProfiler', () => {
  it('counts every result from its task to its last dependent', () => {
    using cprof = new CacheProfiler();
    fakeGet(graph, 'd', { startTime: 100 });
    const end = cprof.results.at(-1)?.freeTime ?? 0;
    assert.deepEqual(cprof.results, [
      { key: 'b', task: [add, 'a', 1], metric: 1, cacheTime: 102, freeTime: 103 },
      { key: 'a', task: [add, 1, 2], metric: 1, cacheTime: 101, freeTime: 104 },
      { key: 'c', task: [add, 'b', 1], metric: 1, cacheTime: 103, freeTime: 104 },
      { key: 'd', task: [add, 'a', 'c'], metric: 1, cacheTime: 104, freeTime: end },
    ]);
    assert.ok(end > 1e9, 'a requested result is held until the run ends');
    assert.equal(cprof.metricName, 'count');
    cprof.clear();
    assert.deepEqual(cprof.results, []);
  });

  it('measures every result once with a metric', () => {
    const seen: unknown[] = [];
    const size = (value: unknown): number => seen.push(value);
    using cprof = new CacheProfiler({ metric: size });
    fakeGet(graph, 'd');
    assert.deepEqual(seen, [3, 4, 5, 8]);
    assert.deepEqual(
      new Map(cprof.results.map(({ key, metric }) => [key, metric])),
      new Map([
        ['b', 2],
        ['a', 1],
        ['c', 3],
        ['d', 4],
      ]),
    );
    assert.equal(cprof.metricName, 'size');
    assert.equal(new CacheProfiler({ metric: size, metricName: 'foo' }).metricName, 'foo');
    assert.equal(new CacheProfiler(size).metricName, 'size');
  });

  it('takes nbytes as a metric', () => {
    using cprof = new CacheProfiler({ metric: nbytes });
    fakeGet({ z: [zeros, 1000] }, 'z');
    assert.deepEqual(
      cprof.results.map(({ metric }) => metric),
      [8000],
    );
  });

  it('throws an error of the metric, and an error for a metric that returns no number', () => {
    assert.throws(() => fakeGet(graph, 'd', { callbacks: new CacheProfiler({ metric: fail }) }), /boom/);
    const text: (value: unknown) => number = () => JSON.parse('"big"');
    assert.throws(() => fakeGet(graph, 'd', { callbacks: new CacheProfiler({ metric: text }) }), {
      code: 'ERR_LONGPOLE_INVALID_ARGUMENT',
      message: /returned string for the result of 'a'/,
    });
  });

  it('holds unused results of a failed run until its end', () => {
    using cprof = new CacheProfiler();
    assert.throws(() => fakeGet({ a: [add, 1, 2], b: [add, 'a', 1], c: [fail, 'a', 'b'] }, 'c'), /boom/);
    assert.deepEqual(
      cprof.results.map(({ key }) => key),
      ['a', 'b'],
    );
    assert.equal(cprof.results[0]?.freeTime, cprof.results[1]?.freeTime);
  });

  it('lists only released results during the run', () => {
    const cprof = new CacheProfiler();
    const seen: string[][] = [];
    const look = { pretask: () => void seen.push(cprof.results.map(({ key }) => key)) };
    fakeGet(graph, 'd', { callbacks: [cprof, look], batch: 1 });
    assert.deepEqual(seen, [[], [], [], ['b']]);
    assert.equal(cprof.results.length, 4);
  });

  it('accumulates results while registered', () => {
    const cprof = new CacheProfiler();
    cprof.register();
    fakeGet(graph, 'd');
    fakeGet(graph, 'b');
    cprof.unregister();
    assert.equal(cprof.results.length, 6);
  });
});
