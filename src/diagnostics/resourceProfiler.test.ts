import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import type { Graph } from '../protocol/graph.js';
import { ResourceMonitor } from '../resources/resourceMonitor.js';
import { fakeGet } from './fakeEngine.test.support.js';
import { type ResourceData, ResourceProfiler } from './resourceProfiler.js';

const add = (a: number, b: number): number => a + b;
const graph: Graph = { a: [add, 1, 2], b: [add, 'a', 1] };
const LIMIT = { timeout: 300_000 };
/** Seconds between samples with which only the samples at the start and the end are taken. */
const NEVER = 3600;

/** A task that blocks this thread, idle, until `condition` holds. */
function blockUntil(condition: () => boolean): Graph {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const wait = (): void => {
    while (!condition()) Atomics.wait(pause, 0, 0, 5);
  };
  return { wait: [wait] };
}

interface Use {
  /** Seconds. */
  readonly cpu: number;
  readonly wall: number;
}

/** Returns a function that measures the usage of this process since this call. */
function meter(): () => Use {
  const started = performance.now();
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return { cpu: (user + system) / 1e6, wall: (performance.now() - started) / 1000 };
  };
}

function burn(cpuSeconds: number): Use {
  const used = meter();
  while (used().cpu < cpuSeconds) for (let i = 0; i < 1e5; i++);
  return used();
}

function checkResults(results: readonly ResourceData[]): void {
  results.forEach(({ time, mem, cpu }, i) => {
    assert.ok(Math.abs(time - Date.now() / 1000) < 60);
    assert.ok(mem > 10 && mem < 100_000, `${mem} MB`);
    assert.ok(cpu >= 0);
    assert.ok(i === 0 || time >= results[i - 1]!.time);
  });
}

describe('ResourceProfiler', () => {
  it('takes a sample at the start and one at the end of the shortest run', LIMIT, () => {
    const rprof = new ResourceProfiler({ dt: NEVER });
    fakeGet(graph, 'b', { callbacks: rprof });
    assert.equal(rprof.results.length, 2);
    checkResults(rprof.results);
    assert.equal(rprof.results[0]?.cpu, 0);
    assert.equal(rprof.results, rprof.results, 'the same array if there are no new samples');
    fakeGet(graph, 'b', { callbacks: rprof });
    assert.equal(rprof.results.length, 4);
    rprof.clear();
    assert.deepEqual(rprof.results, []);
    rprof.close();
    rprof.close();
    fakeGet(graph, 'b', { callbacks: rprof });
    assert.equal(rprof.results.length, 2, 'can be used again after close');
    rprof.close();
  });

  it('samples while this thread is blocked', LIMIT, () => {
    const rprof = new ResourceProfiler({ dt: 0.01 });
    fakeGet(
      blockUntil(() => rprof.results.length >= 5),
      'wait',
      { callbacks: rprof },
    );
    assert.ok(rprof.results.length >= 6);
    checkResults(rprof.results);
    rprof.close();
  });

  it('measures the load of this process', LIMIT, () => {
    const rprof = new ResourceProfiler({ dt: NEVER });
    let inside: Use = { cpu: 0, wall: 0 };
    const task = (): void => {
      inside = burn(0.3);
    };
    const used = meter();
    fakeGet({ task: [task] }, 'task', { callbacks: rprof });
    const outside = used();
    // The two samples enclose the task and lie within the outer measurement, however long this thread waits in between.
    const [low, high] = [(100 * inside.cpu) / outside.wall, (100 * outside.cpu) / inside.wall];
    const measured = rprof.results.at(-1)?.cpu ?? 0;
    assert.ok(measured > low - 1 && measured < high + 1, `${measured} % is not from ${low} % to ${high} %`);
    rprof.close();
  });

  it('counts child processes', LIMIT, async () => {
    const child = spawn(process.execPath, ['-e', 'process.stdout.write("x"); for (;;);']);
    try {
      await once(child.stdout, 'data');
      const before = process.cpuUsage();
      const rprof = new ResourceProfiler({ dt: 0.05 });
      // Percent times seconds. The child gets a core sooner or later.
      const counted = (): number =>
        rprof.results.reduce(
          (sum, { time, cpu }, i, all) => sum + (i > 0 ? cpu * (time - all[i - 1]!.time) : 0),
          0,
        ) / 100;
      const own = (): number => {
        const { user, system } = process.cpuUsage(before);
        return (user + system) / 1e6;
      };
      // The run ends when the samples have more than this process alone has used.
      fakeGet(
        blockUntil(() => counted() > own()),
        'wait',
        { callbacks: rprof },
      );
      rprof.close();
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('collects throughout a block', LIMIT, () => {
    const rprof = new ResourceProfiler({ dt: 0.01 });
    {
      using active = rprof;
      assert.ok(active.results.length >= 1, 'the first sample is available at once');
      const pause = new Int32Array(new SharedArrayBuffer(4));
      while (active.results.length < 3) Atomics.wait(pause, 0, 0, 5);
      fakeGet(graph, 'b');
    }
    assert.ok(rprof.results.length >= 4);
    rprof.close();
  });

  it('begins and ends with a block, and with runs while registered', LIMIT, () => {
    const rprof = new ResourceProfiler({ dt: NEVER });
    {
      using active = rprof;
      assert.equal(active.results.length, 1);
      fakeGet(graph, 'b');
      assert.equal(active.results.length, 1, 'a run in a block adds no samples');
    }
    assert.equal(rprof.results.length, 2);
    rprof.register();
    assert.equal(rprof.results.length, 2, 'nothing between runs');
    fakeGet(graph, 'b');
    rprof.unregister();
    assert.equal(rprof.results.length, 4);
    {
      using active = rprof;
      void active;
      fakeGet(graph, 'b');
    }
    assert.equal(rprof.results.length, 2, 'the first run of a block clears earlier results');
    rprof.close();
  });

  it('clears results while it samples', LIMIT, () => {
    const rprof = new ResourceProfiler({ dt: 0.01 });
    let cleared = false;
    const condition = (): boolean => {
      if (!cleared && rprof.results.length >= 3) {
        const last = rprof.results.at(-1)?.time ?? Number.NaN;
        rprof.clear();
        cleared = true;
        assert.ok(rprof.results.every(({ time }) => time > last));
      }
      return cleared && rprof.results.length >= 3;
    };
    fakeGet(blockUntil(condition), 'wait', { callbacks: rprof });
    assert.ok(rprof.results.every(({ cpu }) => cpu < 1000));
    rprof.close();
  });

  it('rejects a dt that is not a positive number', () => {
    for (const dt of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.throws(() => new ResourceProfiler({ dt }), { code: 'ERR_LONGPOLE_INVALID_ARGUMENT' });
    }
  });
});

describe('the sampling thread', () => {
  it('does not keep the process alive', LIMIT, async () => {
    const program = `
      const { ResourceProfiler } = await import(${JSON.stringify(new URL('./resourceProfiler.js', import.meta.url).href)});
      const rprof = new ResourceProfiler({ dt: 0.01 });
      rprof.register();
      globalThis.active = rprof[Symbol.dispose];
      while (rprof.results.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
      process.stdout.write('end');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program]);
    // The child may exit before this thread receives its output.
    const exited = once(child, 'exit');
    const [output] = await once(child.stdout, 'data');
    assert.equal(String(output), 'end');
    const [code] = await exited;
    assert.equal(code, 0);
  });

  it('causes an error with its reason if it cannot start', LIMIT, async () => {
    const monitor = new ResourceMonitor(new URL('data:text/javascript,throw new Error("no luck")'));
    const session = monitor.start(1);
    let thrown: unknown;
    while (thrown === undefined) {
      await new Promise(setImmediate);
      try {
        monitor.drain();
      } catch (error) {
        thrown = error;
      }
    }
    assert.throws(() => monitor.start(1), { code: 'ERR_LONGPOLE_WORKER_START', message: /no luck/ });
    assert.throws(() => monitor.stop(session), { code: 'ERR_LONGPOLE_WORKER_START' });
    assert.equal(session.samples.length, 2);
  });
});
