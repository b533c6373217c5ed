import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VITALS } from '../protocol/isolateMessages.js';
import type { GpuUsage } from './gpuMonitor.js';
import { type Counters, HOST, type MonitorTarget, UsageSampler } from './usageSampler.js';
import { makeVitals } from './vitals.js';

const NOTHING = { received: 0, sent: 0, read: 0, written: 0, busy: 0, throttled: Number.NaN };
const IDLE = { cpu: 0, children: 0, rss: 100, descriptors: 10, read: 0, written: 0 };

function counters(changes: Partial<Counters>): Counters {
  return {
    host: () => NOTHING,
    process: () => IDLE,
    thread: () => ({ cpu: 0, read: 0, written: 0 }),
    coreTimes: () => ({ used: 0, waited: 0 }),
    gpus: () => new Map(),
    vitals: () => null,
    ...changes,
  };
}

const host: MonitorTarget = { worker: HOST, pid: 1, thread: false, vitals: null };

describe('UsageSampler', () => {
  it('returns rates since the previous sample, and no rates in the first sample', () => {
    let traffic = 0;
    const sampler = new UsageSampler(
      counters({
        host: () => ({
          received: traffic,
          sent: 2 * traffic,
          read: 0,
          written: 5,
          busy: traffic / 1000,
          throttled: Number.NaN,
        }),
      }),
    );
    const [first] = sampler.sample(10, [host]);
    assert.equal(first?.figures?.get('host_net_io.read_bps'), Number.NaN);
    traffic = 500;
    const [second] = sampler.sample(10.5, [host]);
    assert.equal(second?.time, 10.5);
    assert.equal(second?.figures?.get('host_net_io.read_bps'), 1000);
    assert.equal(second?.figures?.get('host_net_io.write_bps'), 2000);
    assert.equal(second?.figures?.get('host_disk_io.write_bps'), 0);
    assert.equal(second?.figures?.get('host_cpu'), 100);
    traffic = 400;
    const [third] = sampler.sample(11, [host]);
    assert.equal(third?.figures?.get('host_net_io.read_bps'), Number.NaN, 'a counter that decreased');
  });

  it("reports the times of the scheduler's thread with and without a core, since its start", () => {
    const cells = makeVitals();
    cells[VITALS.turned] = 10;
    cells[VITALS.thread] = 7;
    const coreTimes = (pid: number, tid: number) => ({ used: 100 * pid + tid, waited: tid });
    const worker: MonitorTarget = { worker: 0, pid: 2, thread: false, vitals: cells };
    const [ofHost, ofWorker] = new UsageSampler(counters({ coreTimes })).sample(10, [
      { ...host, vitals: cells },
      worker,
    ]);
    assert.equal(ofHost?.figures?.get('scheduler_core_time'), 107);
    assert.equal(ofHost?.figures?.get('scheduler_core_wait'), 7);
    assert.ok(!ofWorker?.figures?.has('scheduler_core_wait'));
  });

  it('reads the counters of a process once for all of its workers', () => {
    const read: number[] = [];
    const process = (pid: number) => ({ ...IDLE, cpu: read.push(pid) });
    const worker = (index: number): MonitorTarget => ({ ...host, worker: index, pid: 2 });
    const sampler = new UsageSampler(counters({ process }));
    assert.equal(sampler.sample(0, [host, worker(0), worker(1)]).length, 3);
    assert.deepEqual(read, [1, 2]);
  });

  it('adds up the child processes of the processes that run tasks', () => {
    const sampler = new UsageSampler(counters({ process: (pid) => ({ ...IDLE, children: 10 ** pid }) }));
    const at = (worker: number, pid: number, thread = false): MonitorTarget => ({
      worker,
      pid,
      thread,
      vitals: null,
    });
    const children = (...workers: MonitorTarget[]): number | undefined =>
      sampler.sample(0, [host, ...workers])[0]?.figures?.get('children_cpu');
    // Worker processes are children of the host's process.
    assert.equal(children(at(0, 2), at(1, 3)), 1100);
    assert.equal(children(at(0, 1, true), at(1, 1, true)), 10);
    assert.equal(children(), undefined);
  });

  it('adds up processes for the host, once each, and separates workers', () => {
    const cpu = new Map([
      [1, 5],
      [2, 7],
    ]);
    const sampler = new UsageSampler(
      counters({ process: (pid) => ({ ...IDLE, cpu: cpu.get(pid)!, rss: 100 * pid, descriptors: pid }) }),
      4,
    );
    const workers = [0, 1].map((worker): MonitorTarget => ({ worker, pid: 2, thread: false, vitals: null }));
    const targets = [host, ...workers];
    sampler.sample(0, targets);
    cpu.set(1, 5.5).set(2, 9);
    const [ofHost, ...ofWorkers] = sampler.sample(1, targets);
    assert.deepEqual([ofHost?.cpu, ofHost?.rss, ofHost?.figures?.get('num_fds')], [250, 300, 3]);
    assert.deepEqual(
      ofWorkers.map((sample) => [sample.worker, sample.cpu, sample.rss]),
      [
        [0, 200, 200],
        [1, 200, 200],
      ],
    );
  });

  it('limits CPU to that of the machine and of a thread, and adds the excess of a late reading to the next sample', () => {
    let [busy, cpu, thread] = [0, 0, 0];
    const sampler = new UsageSampler(
      counters({
        host: () => ({ ...NOTHING, busy }),
        process: () => ({ ...IDLE, cpu }),
        thread: () => ({ cpu: thread, read: 0, written: 0 }),
      }),
      2,
    );
    const worker: MonitorTarget = { worker: 0, pid: 1, thread: true, vitals: null };
    const sample = () => {
      const [ofHost, ofWorker] = sampler.sample(time, [host, worker]);
      return [ofHost?.figures?.get('host_cpu'), ofHost?.cpu, ofWorker?.cpu];
    };
    let time = 0;
    sample();
    // Read half a second after the clock.
    [time, busy, cpu, thread] = [1, 3, 3, 1.5];
    assert.deepEqual(sample(), [200, 200, 100]);
    [time, busy, cpu, thread] = [2, 3.5, 4, 1.5];
    assert.deepEqual(sample(), [200, 200, 50]);
    // The machine is as busy as its processes are.
    [time, busy, cpu] = [3, 4, 5];
    assert.deepEqual(sample(), [100, 100, 0]);
  });

  it('uses the CPU of the thread, and the vitals of its isolate', () => {
    let cpu = 0;
    const vitals = Float64Array.of(3e6, 2e6, 0, 100, 0.004, 0, 0, 77);
    const sampler = new UsageSampler(
      counters({ thread: (_pid, tid) => ({ cpu: tid === 77 ? cpu : Number.NaN, read: 0, written: 0 }) }),
    );
    const worker: MonitorTarget = { worker: 0, pid: 1, thread: true, vitals };
    sampler.sample(100, [worker]);
    cpu = 0.09;
    vitals[VITALS.turned] = 100.1;
    vitals[VITALS.active] = 25;
    vitals[VITALS.idle] = 75;
    const [sample] = sampler.sample(100.1, [worker]);
    assert.ok(Math.abs(sample!.cpu - 90) < 1e-6);
    assert.deepEqual([sample?.heap, sample?.external, sample?.eventLoopDelay], [3e6, 2e6, 0.004]);
    assert.equal(sample?.figures?.get('gc_time'), 0);
    assert.equal(sample?.figures?.get('event_loop_utilization'), 25);
    const [late] = sampler.sample(105.2, [worker]);
    assert.ok(Math.abs(late!.eventLoopDelay - 5) < 1e-9, 'silent for 5.1 s, of which 0.1 s were due');
    assert.equal(late?.figures?.get('event_loop_utilization'), 100);
  });

  it('omits unknown figures', () => {
    const vitals = makeVitals();
    const [sample] = new UsageSampler(counters({})).sample(1, [{ ...host, vitals }]);
    for (const value of [sample!.cpu, sample!.heap, sample!.eventLoopDelay]) assert.equal(value, Number.NaN);
    assert.equal(sample?.figures?.get('gpu_utilization'), Number.NaN);
    assert.equal(sample?.figures?.get('gpu_memory_used'), Number.NaN);
  });

  it('reports several GPUs together, and each of them', () => {
    const gpus = new Map<number, GpuUsage>([
      [0, { utilization: 10, memoryUsed: 1e9 }],
      [1, { utilization: 90, memoryUsed: 2e9 }],
      [2, { utilization: Number.NaN, memoryUsed: Number.NaN }],
    ]);
    const [sample] = new UsageSampler(counters({ gpus: () => gpus })).sample(1, [host]);
    assert.equal(sample?.figures?.get('gpu_utilization'), 50);
    assert.equal(sample?.figures?.get('gpu_memory_used'), 3e9);
    assert.equal(sample?.figures?.get('gpu_1_utilization'), 90);
    assert.equal(sample?.figures?.get('gpu_2_memory_used'), Number.NaN);
  });
});
