import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MemorySample } from '../../protocol/clusterObserver.js';
import { ProcessMemory } from './processMemory.js';

function sampleOf(worker: number, managed: number, spilled = 0): MemorySample {
  return { worker, time: 0, process: 7000, managed, unmanaged: 7000 - managed, spilled, tasks: 1 };
}

/** Returns the memory of two workers, whose processes have the sizes in `resident` by id. */
function memoryOf(threads: boolean, resident: ReadonlyMap<number, number>) {
  const samples = [sampleOf(0, 100, 5), sampleOf(1, 200)];
  const now = { time: 0 };
  const workers = new Map(
    samples.map((memorySample, index) => [index, { memorySample, host: { pid: threads ? 10 : 10 + index } }]),
  );
  const engine = { clock: () => now.time, options: { threads }, workers };
  return { memory: new ProcessMemory(engine, (pid) => resident.get(pid) ?? Number.NaN), now, workers };
}

test('threads share one process, which counts once', () => {
  const { memory } = memoryOf(true, new Map([[10, 5000]]));
  const { process, managed, unmanaged, spilled } = memory.read();
  assert.deepEqual(
    { process, managed, unmanaged, spilled },
    { process: 5000, managed: 300, unmanaged: 4700, spilled: 5 },
  );
});

test('the memory of processes is their sum; one of unknown size has that of its last heartbeat', () => {
  const { memory } = memoryOf(false, new Map([[10, 5000]]));
  const { process, managed, unmanaged } = memory.read();
  assert.deepEqual({ process, managed, unmanaged }, { process: 12_000, managed: 300, unmanaged: 11_700 });
});

test('before the first heartbeat, the size of the process is known', () => {
  const workers = new Map([[0, { memorySample: undefined, host: { pid: process.pid } }]]);
  const memory = new ProcessMemory({ clock: () => 0, options: { threads: true }, workers });
  const first = memory.read();
  assert.ok(first.process > 0);
  assert.equal(first.unmanaged_old, first.process);
});

test('managed memory never exceeds the process, which may have been measured later', () => {
  const { memory } = memoryOf(true, new Map([[10, 250]]));
  const { managed, unmanaged, optimistic } = memory.read();
  assert.deepEqual({ managed, unmanaged, optimistic }, { managed: 250, unmanaged: 0, optimistic: 250 });
});

for (const threads of [true, false]) {
  test(`unmanaged memory is old once it has been there for 30 s, on ${threads ? 'threads' : 'processes'}`, () => {
    const resident = new Map([
      [10, 1100],
      [11, 200],
    ]);
    const { memory, now } = memoryOf(threads, resident);
    const managed = 300;
    const base = threads ? 800 : 1000;
    const at = (time: number, process: number) => {
      now.time = time;
      resident.set(10, process);
      // A heartbeat also counts, without a sampler.
      memory.memory(sampleOf(0, 100));
      const { unmanaged, unmanaged_old, unmanaged_recent, optimistic } = memory.read();
      assert.equal(unmanaged_old + unmanaged_recent, unmanaged);
      assert.equal(optimistic, managed + unmanaged_old);
      return unmanaged_old - base;
    };
    assert.equal(at(0, 1100), 0);
    assert.equal(at(10, 3100), 0, 'new memory is recent');
    assert.equal(at(20, 4100), 0);
    assert.equal(at(30, 4100), 0);
    assert.equal(at(31, 4100), 2000, 'the minimum of the last 30 s');
    assert.equal(at(40.5, 4100), 3000);
    assert.equal(at(41, 600), -500, 'freed memory is not old');
  });
}

test('a removed worker has no history', () => {
  const resident = new Map([
    [10, 1100],
    [11, 1200],
  ]);
  const { memory, workers } = memoryOf(false, resident);
  assert.equal(memory.read().unmanaged_old, 2000);
  const info = {
    index: 1,
    name: '',
    address: '',
    host: '',
    pid: 11,
    threads: 1,
    memoryLimit: 0,
    startTime: 0,
  };
  memory.workerRemoved(info);
  resident.set(11, 2200);
  assert.equal(memory.read().unmanaged_recent, 0, 'the history has begun again');
  workers.delete(1);
  assert.equal(memory.read().process, 1100);
});
