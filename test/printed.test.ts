// Public objects, printed with `console.log` and `String`: the texts contain their state, not their private fields.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { asCompleted, config, connect, delayed, LocalCluster, Lock, MemorySampler, Queue } from 'longpole';
import { criticalPath, scaling, TraceAnalyser } from 'longpole/analysis';
import { CacheProfiler, Callback, Profiler, ResourceProfiler } from 'longpole/diagnostics';
import { getSync } from 'longpole/local';
import { CompleteEvent, EventProfiler, FileDatabase, MultiEventDatabase, openTrace } from 'longpole/trace';
import { withFolder } from './support/programs.js';
import { UNSAFE } from './support/unsafeText.js';

/** Checks the texts of `console.log` and of `String`. */
function assertPrinted(value: object, expected: RegExp): void {
  assert.match(inspect(value), expected);
  assert.match(String(value), expected);
}

test('clusters, clients, futures and traces print their class and their state', async () => {
  await withFolder(async (folder) => {
    const cluster = await LocalCluster.start({ workers: 2, memoryLimit: '1GB', profile: false });
    const client = await connect(cluster, { setAsDefault: false });
    assertPrinted(cluster, /^<LocalCluster: 2 threads, 2 GB, no dashboard>$/);
    assertPrinted(client, /^<Client 'client-\d+': 2 threads, 2 GB, no dashboard>$/);
    const stop = client.record(join(folder, 'run.trace'));
    const future = client.submit((x: number) => x + 1, 1, { key: 'inc-1' });
    assertPrinted(future, /^<Future pending inc-1>$/);
    await future;
    assertPrinted(future, /^<Future finished inc-1>$/);
    await stop();
    assertPrinted(client.trace, /^<Trace: 1 task, 2 workers, .*>$/);
    assertPrinted(openTrace(join(folder, 'run.trace')), /^<Trace: 1 task, 2 workers, .*>$/);
    assertPrinted(criticalPath(client.trace), /Kind +Prefix/);
    assertPrinted(scaling(client.trace), /Workers +Makespan/);
    const table = new TraceAnalyser(client.trace).perTaskBottleneck();
    assert.equal(inspect(table), table.toString());
    await client.close();
    await cluster.close();
    assertPrinted(client, /^<Client 'client-\d+': closed>$/);
    assertPrinted(cluster, /^<LocalCluster: closed>$/);
  });
});

test('a Delayed, events and databases print their contents', async () => {
  assertPrinted(delayed((x: number) => x).withOptions({ key: 'x-1' })(1), /^Delayed\('x-1'\)$/);
  const event = new CompleteEvent('fit', 12.5, 0.25, { args: { n: 3n } });
  assert.equal(
    String(event),
    'CompleteEvent(name: "fit", timestamp: 12.5, phase: "X", processId: 0, threadId: 0, args: {"n":3}, duration: 0.25)',
  );
  assert.match(inspect(event), /^CompleteEvent \{/);
  await withFolder(async (folder) => {
    const file = join(folder, 'x.msgpack');
    assertPrinted(new FileDatabase(file), /^FileDatabase at .*x\.msgpack$/);
    assertPrinted(new EventProfiler(file), /x\.msgpack/);
    assertPrinted(new MultiEventDatabase([]), /^MultiEventDatabase with 0 databases$/);
  });
});

test('a Delayed, events and databases print control characters as visible symbols', () => {
  const hostile = '\u001b[2J\u007f\u009b31m\u202e\rname\ud800';
  const printed = [
    delayed((x: number) => x).withOptions({ key: hostile })(1),
    new CompleteEvent(hostile, 12.5, 0.25),
    new FileDatabase(`/none/${hostile}.msgpack`),
    new EventProfiler(`/none/${hostile}.msgpack`),
  ];
  for (const value of printed) {
    assert.doesNotMatch(String(value), UNSAFE);
    assert.match(String(value), /\[2J␡<U\+009B>31m<U\+202E>/);
  }
});

test('profilers, samplers, iterations, shared objects and settings print their contents', async () => {
  const [profiler, cache] = [new Profiler(), new CacheProfiler()];
  getSync({ a: [(x: number) => x, 1], b: [(x: number) => x, 'a'] }, 'b', { callbacks: [profiler, cache] });
  assertPrinted(profiler, /^<Profiler: 2 tasks>$/);
  assertPrinted(cache, /^<CacheProfiler: 2 results>$/);
  assertPrinted(new ResourceProfiler(), /^<ResourceProfiler: 0 samples>$/);
  const sampler = new MemorySampler();
  assertPrinted(sampler, /^<MemorySampler: no samples>$/);
  await sampler.sample('start')[Symbol.asyncDispose]();
  assertPrinted(sampler, /^<MemorySampler: 'start' 2 samples>$/);
  assertPrinted(asCompleted([]), /^<AsCompleted: 0 futures>$/);
  assertPrinted(new Lock('x'), /^<Lock: 'x'>$/);
  assertPrinted(new Queue('tasks'), /^<Queue: 'tasks'>$/);
  assert.match(inspect(config), /^Config Map\(\d+\) \{\n {2}'profile' => /);
});

test('the state in callbacks prints as maps and sets', () => {
  const texts: string[] = [];
  const posttask = (_key: string, _result: unknown, _dsk: unknown, state: object): void => {
    texts.push(inspect(state));
  };
  const inc = (x: number): number => x + 1;
  getSync({ a: 1, b: [inc, 'a'], c: [inc, 'b'] }, 'c', { callbacks: new Callback({ posttask }) });
  assert.match(texts[0]!, /dependencies: Map\(3\) \{/);
  assert.match(texts[0]!, /cache: Map\(2\) \{ 'a' => 1, 'b' => 2 \}/);
  assert.match(texts[0]!, /ready: \[ 'c' \]/);
  assert.match(texts[0]!, /finished: Set\(1\) \{ 'b' \}/);
});

test('a large state prints its first entries and their number', () => {
  const texts: string[] = [];
  const startState = (_dsk: unknown, state: object): void => {
    texts.push(inspect(state, { maxArrayLength: 2 }));
  };
  const inc = (x: number): number => x + 1;
  const graph = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`x-${i}`, [inc, i]]));
  getSync(graph, Object.keys(graph), { callbacks: new Callback({ startState }) });
  assert.match(texts[0]!, /dependencies: Map\(50\) \{.*… 48 more \}/);
});
