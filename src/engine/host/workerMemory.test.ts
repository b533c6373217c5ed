import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import type { MemorySample } from '../../protocol/clusterObserver.js';
import { VITALS } from '../../protocol/isolateMessages.js';
import { makeVitals } from '../../resources/vitals.js';
import { Store } from '../store/store.js';
import { endOfIsolate, heapLimit } from './heapLimit.js';
import { WorkerMemory } from './workerMemory.js';

const LIMIT = 1e9;
const FACTS = { name: 'w', address: '', pid: 1, memoryLimit: LIMIT, localDirectory: '', nthreads: 1 };

/** Returns the memory of a worker whose process has the given size; undefined: a thread of this process. */
function memoryOf(
  bytes: (() => number) | undefined,
  refreshVitals = (_vitals: Float64Array): void => undefined,
  clock = () => 0,
) {
  const samples: MemorySample[] = [];
  const ended: string[] = [];
  const store = new Store({ file: String, name: 'w', now: () => 0 });
  const common = { facts: FACTS, index: 0, clock, store, thresholds: {} };
  const vitals = makeVitals();
  const memory = new WorkerMemory(
    { ...common, processBytes: bytes, giveUp: (why) => ended.push(why) },
    { memory: (sample) => samples.push(sample), paused: () => undefined, noteFull: () => undefined },
    {
      vitals,
      running: { run: 1, id: 0, batch: 1, since: 0 },
      collectGarbage: () => undefined,
      refreshVitals: () => refreshVitals(vitals),
    },
  );
  return { memory, samples, ended };
}

test('memory that grows by a twentieth of the limit is measured before the next heartbeat', () => {
  let bytes = 0.5 * LIMIT;
  const { memory, samples, ended } = memoryOf(() => bytes);
  memory.measure();
  bytes = 0.55 * LIMIT;
  memory.measureIfGrown();
  assert.equal(samples.length, 1);
  for (const share of [0.62, 0.7, 0.8, 0.9, 1, 1.12]) {
    assert.deepEqual(ended, []);
    bytes = share * LIMIT;
    memory.measureIfGrown();
  }
  assert.deepEqual(ended, [
    'Its memory of 1120 MB exceeds the limit of 1000 MB, and neither spilling nor garbage collection has freed enough.',
  ]);
});

test('a worker that ends because it stays close to its limit does not claim to exceed it', () => {
  let now = 0;
  const { memory, ended } = memoryOf(
    () => 0.97 * LIMIT,
    undefined,
    () => now,
  );
  for (; now < 4; now += 0.2) if (ended.length === 0) memory.measure();
  assert.match(ended[0] ?? '', /^Its memory of 970 MB is close to the limit of 1000 MB, /);
});

test('what a running task holds on a thread is measured before the next heartbeat, however large the limit is', () => {
  let rss = 100e6;
  let held = 0;
  const { memory, samples } = memoryOf(undefined, (vitals) => {
    vitals[VITALS.external] = held;
  });
  let now = 1e6;
  const clock = mock.method(performance, 'now', () => (now += 10));
  const size = mock.method(process.memoryUsage, 'rss', () => rss);
  try {
    memory.measureIfGrown();
    held = 40e6;
    rss += held;
    memory.measureIfGrown();
    assert.deepEqual(
      samples.map(({ process: bytes }) => bytes),
      [40e6],
      'growth of 40 MB is less than a twentieth of the limit',
    );
  } finally {
    size.mock.restore();
    clock.mock.restore();
  }
});

test('the workers of a process share a measurement of its size', () => {
  let now = 1e9;
  const clock = mock.method(performance, 'now', () => now);
  const size = mock.method(process.memoryUsage, 'rss', () => 100e6);
  try {
    for (const { memory } of [memoryOf(undefined), memoryOf(undefined)]) memory.measureIfGrown();
    assert.equal(size.mock.callCount(), 1);
    now += 10;
    memoryOf(undefined).memory.measureIfGrown();
    assert.equal(size.mock.callCount(), 2);
  } finally {
    size.mock.restore();
    clock.mock.restore();
  }
});

test("the heap limit of an isolate is the rest of its worker's memory limit, if the worker has a termination threshold", () => {
  const worker = { memoryLimit: 300e6 };
  assert.equal(heapLimit(worker, 0.95, 50e6), 250e6);
  assert.equal(heapLimit(worker, undefined, 290e6), 64 * 2 ** 20);
  assert.equal(heapLimit(worker, false, 0), undefined);
  assert.equal(heapLimit({ memoryLimit: 0 }, 0.95, 0), undefined);
  assert.equal(heapLimit({ memoryLimit: 1e15 }, 0.95, 0), undefined, 'the limit of V8 is lower');
  const cause = Object.assign(new Error('heap'), { code: 'ERR_WORKER_OUT_OF_MEMORY' });
  assert.match(endOfIsolate(cause, worker, 250e6).message, /heap needed more than 250 MB.* 300 MB/);
  const other = new Error('other');
  assert.equal(endOfIsolate(other, worker, 250e6), other);
});
