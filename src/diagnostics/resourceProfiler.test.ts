import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import type { Graph } from '../protocol/graph.js';
import { fakeGet } from './fakeEngine.test.support.js';
import { ResourceMonitor } from './resourceMonitor.js';
import { type ResourceData, ResourceProfiler } from './resourceProfiler.js';

const add = (a: number, b: number): number => a + b;
const graph: Graph = { a: [add, 1, 2], b: [add, 'a', 1] };
const LIMIT = { timeout: 60_000 };

/** A task that blocks this thread, idle, until `condition` holds. */
function blockUntil(condition: () => boolean): Graph {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const wait = (): void => {
    while (!condition()) Atomics.wait(pause, 0, 0, 5);
  };
  return { wait: [wait] };
}

function burn(cpuMicroseconds: number): void {
  const before = process.cpuUsage();
  for (let used = 0; used < cpuMicroseconds; ) {
    for (let i = 0; i < 1e5; i++);
    const { user, system } = process.cpuUsage(before);
    used = user + system;
  }
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
    const rprof = new ResourceProfiler();
    fakeGet(graph, 'b', { callbacks: rprof });
    assert.equal(rprof.results.length, 2);
    checkResults(rprof.results);
    assert.equal(rprof.results[0]?.cpu, 0);
    assert.equal(rprof.results, rprof.results, 'nothing new: the same array');
    fakeGet(graph, 'b', { callbacks: rprof });
    assert.equal(rprof.results.length, 4);
    rprof.clear();
    assert.deepEqual(rprof.results, []);
    rprof.close();
    rprof.close();
    fakeGet(graph, 'b', { callbacks: rprof });
    assert.equal(rprof.results.length, 2, 'starts again after close');
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

  it('knows the load of this process', LIMIT, () => {
    const rprof = new ResourceProfiler();
    const idle = process.cpuUsage();
    const started = performance.now();
    fakeGet({ burn: [burn, 300_000] }, 'burn', { callbacks: rprof });
    const { user, system } = process.cpuUsage(idle);
    const expected = (user + system) / 10 / (performance.now() - started);
    const measured = rprof.results.at(-1)?.cpu ?? 0;
    // The other threads of the process count, the sampling thread does not.
    assert.ok(Math.abs(measured - expected) < 25, `${measured} % is not near ${expected} %`);
    rprof.close();
  });

  it('counts child processes', LIMIT, async () => {
    const child = spawn(process.execPath, ['-e', 'process.stdout.write("x"); for (;;);']);
    try {
      await once(child.stdout, 'data');
      const before = process.cpuUsage();
      const rprof = new ResourceProfiler({ dt: 0.05 });
      const long = (): boolean => (rprof.results.at(-1)?.time ?? 0) - (rprof.results[0]?.time ?? 0) > 0.5;
      fakeGet(blockUntil(long), 'wait', { callbacks: rprof });
      const { results } = rprof;
      const own = process.cpuUsage(before);
      const total = results.reduce(
        (sum, { time, cpu }, i) => sum + (i > 0 ? cpu * (time - results[i - 1]!.time) : 0),
        0,
      );
      assert.ok(total / 100 > (own.user + own.system) / 1e6, 'more than this process alone has used');
      rprof.close();
    } finally {
      child.kill();
    }
  });

  it('collects throughout a block, and during runs while registered', LIMIT, () => {
    const rprof = new ResourceProfiler({ dt: 0.01 });
    {
      using active = rprof;
      assert.equal(active.results.length, 1);
      const pause = new Int32Array(new SharedArrayBuffer(4));
      while (active.results.length < 3) Atomics.wait(pause, 0, 0, 5);
      fakeGet(graph, 'b');
    }
    const inBlock = rprof.results.length;
    assert.ok(inBlock >= 4);
    rprof.register();
    fakeGet(graph, 'b');
    rprof.unregister();
    assert.equal(rprof.results.length, inBlock + 2);
    {
      using active = rprof;
      void active;
      fakeGet(graph, 'b');
    }
    assert.ok(rprof.results.length < inBlock + 2, 'the first run of a block starts afresh');
    rprof.close();
  });

  it('clears while it collects', LIMIT, () => {
    const rprof = new ResourceProfiler({ dt: 0.01 });
    let cleared = false;
    const condition = (): boolean => {
      if (!cleared && rprof.results.length >= 3) {
        rprof.clear();
        cleared = true;
        assert.ok(rprof.results.length <= 1);
      }
      return cleared && rprof.results.length >= 3;
    };
    fakeGet(blockUntil(condition), 'wait', { callbacks: rprof });
    assert.ok(rprof.results.every(({ cpu }) => cpu < 1000));
    rprof.close();
  });

  it('refuses a dt that is not a time', () => {
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
    const [said] = await once(child.stdout, 'data');
    assert.equal(String(said), 'end');
    const [code] = await once(child, 'exit');
    assert.equal(code, 0);
  });

  it('that cannot start is a clear error', LIMIT, async () => {
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
