// Tests the watch with the real thread, the real /proc, and programs that stand for nvidia-smi.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { ResourceSample } from '../protocol/clusterObserver.js';
import { epochSeconds } from './clock.js';
import { parseGpuLine } from './gpuMonitor.js';
import { ResourceFeed } from './resourceFeed.js';
import { ResourceMonitor } from './resourceMonitor.js';
import { HOST, type MonitorTarget } from './usageSampler.js';
import { makeVitals, Vitals } from './vitals.js';

const LIMIT = { timeout: 300_000 };
/** Seconds by which the clocks of two threads may differ if the system's clock was set between their starts. */
const CLOCKS = 1;
const linux = process.platform === 'linux';
const folder = mkdtempSync(join(tmpdir(), 'longpole-monitor-'));
after(() => {
  rmSync(folder, { recursive: true, force: true });
  ResourceMonitor.shared().closeIfIdle();
});
const host: MonitorTarget = { worker: HOST, pid: process.pid, thread: false, vitals: null };

/** Watches until the samples contain `wanted`, and returns it. */
function watchFor(
  targets: readonly MonitorTarget[],
  gpu: string,
  wanted: (sample: ResourceSample) => boolean,
): Promise<ResourceSample> {
  return new Promise((resolve) => {
    // The watch does not keep the process alive.
    const alive = setInterval(() => undefined, 1000);
    const watch = ResourceMonitor.shared().watch(
      targets,
      (samples) => {
        const found = samples.find(wanted);
        if (found === undefined) return;
        clearInterval(alive);
        watch.stop();
        resolve(found);
      },
      { interval: 0.02, gpu },
    );
  });
}

/** Writes a shell program of two lines. Its arguments go to the file `name.args`. */
function program(name: string, body: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\necho "$@" >> '${path}.args'\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

const figure = (sample: ResourceSample, name: string): number => sample.figures?.get(name) ?? Number.NaN;

describe('a watch', () => {
  it('samples the host and its isolate', LIMIT, async () => {
    const vitals = makeVitals();
    const gauge = new Vitals(vitals);
    // Rates are unknown in a sample in which a counter decreased, e.g. because a network interface disappeared.
    const rates = linux ? ['host_cpu', 'host_net_io.read_bps', 'host_net_io.write_bps'] : [];
    const sample = await watchFor(
      [{ ...host, vitals }],
      'no-such-program',
      (one) => !Number.isNaN(one.cpu) && rates.every((name) => !Number.isNaN(figure(one, name))),
    );
    gauge.stop();
    assert.ok(Math.abs(sample.time - Date.now() / 1000) < 60);
    assert.ok(sample.cpu >= 0 && sample.rss > 1e7 && sample.heap > 1e6 && sample.external > 0);
    assert.ok(sample.eventLoopDelay >= 0 && sample.eventLoopDelay < 60);
    assert.equal(figure(sample, 'gpu_utilization'), Number.NaN, 'no GPU: not known, not 0');
    assert.equal(figure(sample, 'gpu_memory_used'), Number.NaN);
    if (!linux) return;
    for (const name of rates) assert.ok(figure(sample, name) >= 0, name);
    assert.ok(figure(sample, 'num_fds') >= 3);
  });

  it('continues while this thread is blocked, and reports for how long', LIMIT, async () => {
    const vitals = makeVitals();
    const gauge = new Vitals(vitals);
    const samples: ResourceSample[] = [];
    const began = epochSeconds();
    const watch = ResourceMonitor.shared().watch([{ ...host, vitals }], (some) => samples.push(...some), {
      interval: 0.02,
    });
    const pause = new Int32Array(new SharedArrayBuffer(4));
    while (samples.length < 3 || samples.at(-1)!.eventLoopDelay < 0.1) {
      Atomics.wait(pause, 0, 0, 5);
      watch.drain();
    }
    watch.stop();
    watch.stop();
    gauge.stop();
    // Each thread has its own offset to the epoch.
    const ended = epochSeconds() + CLOCKS;
    for (const [index, { time }] of samples.entries())
      assert.ok(time > (samples[index - 1]?.time ?? began - CLOCKS) && time < ended, `${time}`);
  });

  it('samples another process', { ...LIMIT, skip: linux ? false : 'needs /proc' }, async () => {
    const busy = spawn(process.execPath, ['-e', 'process.stdout.write("x"); for (;;);'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(busy.stdout, 'data');
    const worker: MonitorTarget = { worker: 3, pid: busy.pid ?? 0, thread: false, vitals: null };
    const sample = await watchFor(
      [host, worker],
      'no-such-program',
      (one) => one.worker === 3 && one.cpu > 10,
    );
    assert.ok(sample.rss > 1e7);
    assert.ok(figure(sample, 'num_fds') >= 3);
    assert.ok(figure(sample, 'disk_io.read_bps') >= 0);
    busy.kill('SIGKILL');
    await once(busy, 'exit');
    const gone = await watchFor([host, worker], 'no-such-program', (one) => one.worker === 3);
    assert.equal(gone.rss, Number.NaN);
  });
});

describe('GPU figures', () => {
  it('are read line by line', () => {
    assert.deepEqual(parseGpuLine('0, 37, 3012'), {
      index: 0,
      usage: { utilization: 37, memoryUsed: 3012 * 2 ** 20 },
    });
    for (const unknown of ['[N/A]', '[Not Supported]', '[Unknown Error]', 'N/A'])
      assert.deepEqual(parseGpuLine(`1, ${unknown}, 12`), {
        index: 1,
        usage: { utilization: Number.NaN, memoryUsed: 12 * 2 ** 20 },
      });
    assert.equal(parseGpuLine('No devices were found'), undefined);
    assert.equal(parseGpuLine(''), undefined);
  });

  it('come from a child that prints them', LIMIT, async () => {
    // Prints repeatedly, like the real tool, because figures that are some seconds old are dropped.
    const tool = program('smi', "while :; do printf '0, 50, 1024\\n1, [N/A], 512\\n'; sleep 0.1; done");
    const sample = await watchFor([host], tool, (one) => figure(one, 'gpu_memory_used') === 1536 * 2 ** 20);
    assert.equal(figure(sample, 'gpu_utilization'), 50);
    assert.equal(figure(sample, 'gpu_1_memory_used'), 512 * 2 ** 20);
    assert.match(
      readFileSync(`${tool}.args`, 'utf8'),
      /^--query-gpu=index,utilization.gpu,memory.used --format=csv,noheader,nounits --loop-ms=100\n$/,
    );
  });

  it('continue when the child dies', LIMIT, async () => {
    // Prints how often the child has been started.
    const tool = program('mortal', 'echo "0, $(wc -l < "$0.args"), 1"');
    const sample = await watchFor([host], tool, (one) => figure(one, 'gpu_utilization') >= 2);
    assert.equal(figure(sample, 'gpu_memory_used'), 2 ** 20);
  });
});

describe('a feed', () => {
  it('follows workers that start and end', LIMIT, async () => {
    const workers: MonitorTarget[] = [];
    const seen = new Set<number>();
    let arrived: () => void = () => undefined;
    const both = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const alive = setInterval(() => undefined, 1000);
    const feed = new ResourceFeed(
      () => workers,
      ({ worker, rss, heap }) => {
        // The start was late.
        if (Number.isNaN(rss)) return;
        assert.ok(rss > 1e7);
        seen.add(worker);
        if (worker === HOST) {
          assert.ok(heap > 1e6, 'the isolate reports its heap');
          if (!seen.has(5)) workers[0] = { worker: 5, pid: process.pid, thread: true, vitals: null };
        }
        if (seen.size === 2) arrived();
      },
      { interval: 0.02, gpu: 'no-such-program' },
    );
    feed.startWithin(0);
    await both;
    assert.deepEqual([...seen], [HOST, 5]);
    feed.stop();
    clearInterval(alive);
  });

  it('starts at the first of its times, unless it is postponed', ({ mock }) => {
    mock.timers.enable({ apis: ['setTimeout'] });
    let starts = 0;
    const feed = new ResourceFeed(
      () => {
        starts++;
        return [];
      },
      () => undefined,
    );
    feed.startWithin(100);
    feed.postpone();
    mock.timers.tick(1000);
    assert.equal(starts, 0);
    feed.startWithin(1000);
    feed.startWithin(100);
    feed.startWithin(1000);
    mock.timers.tick(100);
    assert.equal(starts, 1);
    feed.postpone();
    feed.startWithin(0);
    mock.timers.tick(1000);
    assert.equal(starts, 1, 'it has started');
    feed.stop();
  });

  it('delivers how long the program blocked the start', ({ mock }) => {
    mock.timers.enable({ apis: ['setTimeout'] });
    let now = 0;
    mock.method(performance, 'now', () => now);
    const delays = (length: number, whatEnds: 'timer' | 'stop' | 'postpone' = 'timer'): number[] => {
      const found: number[] = [];
      const feed = new ResourceFeed(
        () => [],
        ({ worker, eventLoopDelay }) => found.push(worker, eventLoopDelay),
      );
      feed.startWithin(150);
      now += length;
      if (whatEnds === 'timer') mock.timers.tick(150);
      if (whatEnds === 'postpone') feed.postpone();
      feed.stop();
      return found;
    };
    assert.deepEqual(delays(2150), [HOST, 2]);
    assert.deepEqual(delays(160), []);
    // The computation ended before the event loop reached the timer.
    assert.deepEqual(delays(2150, 'stop'), [HOST, 2]);
    assert.deepEqual(delays(2150, 'postpone'), [HOST, 2]);
    assert.deepEqual(delays(140, 'stop'), []);
  });
});
