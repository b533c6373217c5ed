import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { type ProfileCycle, STACK_IDLE } from '../../protocol/clusterObserver.js';
import { makeMailbox } from '../../protocol/mailbox.js';
import { stopThread } from '../pool/threadControl.js';
import { epochOffsetMs } from '../worker/isolateClock.js';
import { spinUntilOpen } from './busy.test.support.js';
import { ThreadProfiler } from './threadProfiler.js';

const SOURCE = fileURLToPath(new URL('../../../src/engine/profiler/busy.test.support.ts', import.meta.url));
const LINES = readFileSync(SOURCE, 'utf8').split('\n');
const lineOf = (text: string): number => LINES.findIndex((line) => line.includes(text)) + 1;

/** Number of samples that suffices to show where a thread spends most of its time. */
const SAMPLES = 100;

const workers: Worker[] = [];
const gates: Int32Array[] = [];
after(() => {
  // A thread that an inspector's request interrupts may miss its termination.
  for (const gate of gates) open(gate);
  return Promise.all(workers.map((worker) => worker.terminate()));
});

interface Busy {
  readonly gate: Int32Array;
  readonly worker: Worker;
  /** Resolves with the next cycle that satisfies the condition. */
  seen(condition: (cycle: ProfileCycle) => boolean): Promise<ProfileCycle>;
  readonly profiler: ThreadProfiler;
}

function startBusy(name: string, module: string, cycleInterval = 0.05): Busy {
  const gate = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(new URL(module, import.meta.url), { workerData: gate, name });
  workers.push(worker);
  gates.push(gate);
  const watchers = new Set<(cycle: ProfileCycle) => void>();
  const profiler = new ThreadProfiler({
    thread: name,
    loop: worker.performance,
    interval: 0.002,
    cycleInterval,
    epochOffsetMs: epochOffsetMs(),
    tasks: () => ({ starts: [0], stops: [Number.POSITIVE_INFINITY], tasks: [7] }),
    onCycle: (cycle) => {
      for (const watcher of watchers) watcher(cycle);
    },
  });
  profiler.busy();
  const seen = (condition: (cycle: ProfileCycle) => boolean): Promise<ProfileCycle> =>
    new Promise((resolve) => {
      const watcher = (cycle: ProfileCycle): void => {
        if (!condition(cycle)) return;
        watchers.delete(watcher);
        resolve(cycle);
      };
      watchers.add(watcher);
    });
  return { gate, worker, profiler, seen };
}

function open(gate: Int32Array): void {
  Atomics.store(gate, 0, 1);
}

/** Returns `outer>inner` of every sample. */
function stacks({ stacks: samples, parents, names }: ProfileCycle): string[] {
  return Array.from(samples, (stack) => {
    if (stack < 0) return stack === STACK_IDLE ? 'idle' : 'runtime';
    let text = '';
    for (let at = stack; at >= 0; at = parents[at]!) text = `>${names[at]}${text}`;
    return text;
  });
}

const spinning = (cycle: ProfileCycle): boolean =>
  stacks(cycle).some((stack) => stack.includes('>spinUntilOpen'));

test('samples a synchronous task of many cycles while it runs', async () => {
  const { gate, worker, profiler, seen } = startBusy('profiled-sync', 'busy.test.support.js');
  worker.postMessage('go');
  let previous = 0;
  for (let round = 0; round < 5; round++) {
    // The gate is closed, so these samples arrive during the task.
    const cycle = await seen(spinning);
    assert.equal(Atomics.load(gate, 0), 0);
    assert.ok(cycle.start >= previous, 'cycles follow each other');
    previous = cycle.times.at(-1) ?? 0;
    assert.ok(cycle.tasks.every((task) => task === 7));
    assert.ok(cycle.times.every((time, index) => index === 0 || time >= cycle.times[index - 1]!));
  }
  open(gate);
  await once(worker, 'message');
  profiler.close();
});

test("positions are those of the user's TypeScript, functions and lines", async () => {
  const { gate, worker, profiler, seen } = startBusy('profiled-mapped', 'busy.test.support.js');
  worker.postMessage('go');
  const inner = [
    lineOf('for (let step'),
    lineOf('sum += Math.sqrt'),
    lineOf('while (Atomics.load'),
    lineOf('sum += burn'),
  ];
  // The first samples may be in the caller, while V8 compiles. The number of samples per cycle depends on the machine,
  // so cycles are collected until enough samples are in the loops.
  let within = 0;
  const cycle = await seen((one) => {
    within += one.sampleLines.filter((line) => inner.includes(line)).length;
    return spinning(one) && within >= SAMPLES;
  });
  const spin = cycle.names.indexOf('spinUntilOpen');
  assert.equal(cycle.files[spin], SOURCE);
  assert.equal(cycle.lines[spin], lineOf('export function spinUntilOpen'));
  open(gate);
  await once(worker, 'message');
  profiler.close();
});

test('positions of a module that tsx compiled in the isolate', async () => {
  const { gate, worker, profiler, seen } = startBusy('profiled-tsx', 'tsxWorker.test.support.js');
  worker.postMessage('go');
  const cycle = await seen(spinning);
  const spin = cycle.names.indexOf('spinUntilOpen');
  assert.equal(cycle.files[spin], SOURCE);
  assert.equal(cycle.lines[spin], lineOf('export function spinUntilOpen'));
  open(gate);
  await once(worker, 'message');
  profiler.close();
});

test('flush reports the samples so far; close reports the rest', async () => {
  const { gate, worker, profiler, seen } = startBusy('profiled-flush', 'busy.test.support.js', 3600);
  worker.postMessage('go');
  let reported = 0;
  void seen((cycle) => {
    reported += cycle.times.length;
    return false;
  });
  // The cycle lasts an hour, so only flush can have reported it. Samples take time, so the task runs several rounds.
  while (reported === 0) {
    const round = Atomics.load(gate, 1);
    while (Atomics.load(gate, 1) < round + 500) await new Promise((resolve) => setImmediate(resolve));
    await profiler.flush();
  }
  open(gate);
  await once(worker, 'message');
  const before = reported;
  profiler.close();
  await seen(() => true);
  assert.ok(reported >= before);
});

test('a thread that dies ends its profiler, and flush does not wait for it', async () => {
  const { worker, profiler, seen } = startBusy('profiled-dying', 'busy.test.support.js');
  worker.postMessage('go');
  await seen(spinning);
  let hasExited = false;
  const exited = once(worker, 'exit').then(() => {
    hasExited = true;
  });
  // A request of the profiler in progress swallows a termination.
  stopThread(
    'profiled-dying',
    makeMailbox(),
    () => void worker.terminate(),
    () => hasExited,
  );
  await exited;
  await profiler.flush();
  profiler.close();
});

test("this thread's own profile", async () => {
  const gate = new Int32Array(new SharedArrayBuffer(8));
  const opener = new Worker(
    `const { workerData } = require('node:worker_threads');
     for (;;) { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20); Atomics.store(workerData, 0, 1); }`,
    { eval: true, workerData: gate },
  );
  workers.push(opener);
  const found: ProfileCycle[] = [];
  const profiler = new ThreadProfiler({
    interval: 0.001,
    cycleInterval: 0.02,
    epochOffsetMs: epochOffsetMs(),
    onCycle: (one) => {
      if (one.names.includes('spinUntilOpen')) found.push(one);
    },
  });
  profiler.busy();
  while (found.length === 0) {
    Atomics.store(gate, 0, 0);
    spinUntilOpen(gate);
    await new Promise((resolve) => setImmediate(resolve));
  }
  profiler.close();
  const [cycle] = found;
  assert.ok(cycle !== undefined);
  assert.equal(cycle.thread, 'scheduler');
  assert.equal(cycle.files[cycle.names.indexOf('spinUntilOpen')], SOURCE);
});

test('a thread is not profiled while it only waits', ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const state = { idle: 0, active: 0, utilization: 0 };
  const loop = { eventLoopUtilization: () => state };
  const profiler = new ThreadProfiler({ loop, epochOffsetMs: epochOffsetMs(), onCycle: () => undefined });
  profiler.busy();
  mock.timers.tick(1000);
  assert.equal(profiler.isSampling, false);
  state.active = 100;
  mock.timers.tick(50);
  assert.equal(profiler.isSampling, true);
  profiler.close();
});
