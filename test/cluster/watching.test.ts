// Progress bars and profilers observe the computations of a connected client, as they observe local schedulers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compute, connect, delayed, Future } from 'longpole';
import {
  CacheProfiler,
  nbytes,
  Profiler,
  ProgressBar,
  ResourceProfiler,
  withCallbacks,
} from 'longpole/diagnostics';
import { rejection } from './support.js';

const inc = delayed((x: number) => x + 1, { name: 'inc' });
const add = delayed((a: number, b: number) => a + b, { name: 'add' });
const fail = delayed((_x: number): number => {
  throw new Error('no');
});

function log(): { readonly lines: string[]; readonly out: { write(text: string): void } } {
  const lines: string[] = [];
  return { lines, out: { write: (text) => void lines.push(text) } };
}

/** Returns the lines of completed runs. A run of more than five seconds has other lines before. */
const fullLines = (lines: readonly string[]): string[] =>
  lines.filter((line) => /^\[#{40}\] \| 100% Completed \| .* s\n$/.test(line));

test('withCallbacks returns the future that its function returns', async () => {
  await using client = await connect({ workers: 1, profile: false });
  const future = withCallbacks([], () => client.submit(() => 7));
  assert.ok(future instanceof Future);
  assert.equal(await future, 7);
});

test('a progress bar and profilers observe a cluster', async () => {
  await using client = await connect({ workers: 2, profile: false });
  const { lines, out } = log();
  {
    using bar = new ProgressBar({ out });
    using profiler = new Profiler();
    using cache = new CacheProfiler();
    using resources = new ResourceProfiler({ dt: 0.05 });
    assert.deepEqual(await compute(add(inc(1), inc(2))), [5]);
    assert.equal(fullLines(lines).length, 1);
    assert.ok(bar.lastDuration > 0);
    const prefixes = profiler.results.map(({ key }) => key.split('-')[0]).sort();
    assert.deepEqual(prefixes, ['add', 'inc', 'inc']);
    assert.ok(profiler.results.every(({ workerId }) => workerId.startsWith('worker-')));
    assert.ok(profiler.results.every(({ startTime, endTime }) => startTime <= endTime));
    assert.equal(cache.results.length, 3);
    assert.ok(resources.results.length > 0);
    await client.get({ a: [Math.abs, -1] }, 'a');
    assert.equal(profiler.results.length, 4);
  }
  lines.length = 0;
  const profiler = new Profiler();
  await compute(inc(1), { callbacks: [new ProgressBar({ out }), profiler] });
  assert.equal(fullLines(lines).length, 1);
  assert.match(profiler.results[0]!.workerId, /^worker-/);
});

test('a progress bar keeps its last value when a task of a cluster fails', async () => {
  await using _client = await connect({ workers: 1, profile: false });
  const { lines, out } = log();
  using _bar = new ProgressBar({ out });
  assert.match(String(await rejection(compute(fail(inc(1))))), /no/);
  assert.match(lines.join(''), /\| 50% Completed \|/);
});

test('an error of a callback is the error of the computation', async () => {
  await using _client = await connect({ workers: 1, profile: false });
  const out = {
    write: () => {
      throw new Error('the disk is full');
    },
  };
  assert.match(
    String(await rejection(compute(inc(1), { callbacks: new ProgressBar({ out }) }))),
    /disk is full/,
  );
});

test('callbacks for every task make the computation run on a local scheduler', async () => {
  await using client = await connect({ workers: 1, profile: false });
  const keys: string[] = [];
  const posttask = (key: string): void => void keys.push(key);
  assert.deepEqual(await compute(inc(1), { callbacks: { posttask } }), [2]);
  assert.equal(keys.length, 1);
  const cache = new CacheProfiler({ metric: nbytes });
  assert.deepEqual(await compute(inc(1), { callbacks: cache }), [2]);
  assert.equal(cache.results.length, 1);
  assert.equal(client.trace.tasks.length, 0);
});
