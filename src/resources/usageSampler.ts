// Converts counters to samples: one for the host, one for each worker. Keeps the previous counters, because most
// figures are rates. NaN stands for unknown.
import { cpus } from 'node:os';
import { getOrMake } from '../base/lookUps.js';
import type { ResourceSample } from '../protocol/clusterObserver.js';
import { VITALS, VITALS_INTERVAL } from '../protocol/isolateMessages.js';
import {
  CHILDREN_CPU,
  CPU_LIMIT,
  CPU_THROTTLED,
  GC_TIME,
  SCHEDULER_CORE_TIME,
  SCHEDULER_CORE_WAIT,
} from '../protocol/traceNames.js';
import { allowedCores, ownCpuLimit } from './containerLimits.js';
import type { GpuUsage } from './gpuMonitor.js';
import type { HostCounters } from './hostCounters.js';
import type { CoreTimes, ProcessCounters } from './processCounters.js';

export interface MonitorTarget {
  /** Index of the worker in the cluster; -1 for the host. */
  readonly worker: number;
  readonly pid: number;
  /** True if the worker is a thread of a process that it shares with others. */
  readonly thread: boolean;
  /**
   * Measurements of its isolate (`makeVitals`): the shared array, or the path of a file with a copy of the array. Null if
   * the target has no isolate.
   */
  readonly vitals: Float64Array | string | null;
}

/** Source of the counters. */
export interface Counters {
  host(): HostCounters;
  process(pid: number): ProcessCounters;
  /** Returns CPU seconds and the bytes read from and written to disks by one thread. */
  thread(pid: number, tid: number): { readonly cpu: number; readonly read: number; readonly written: number };
  coreTimes(pid: number, tid: number): CoreTimes;
  gpus(): ReadonlyMap<number, GpuUsage>;
  /** Returns the copy of an isolate's vitals in a file; null if there is none. */
  vitals(file: string): Float64Array | null;
}

export const HOST = -1;

interface ProcessUse extends ProcessCounters {
  /** CPU in percent of one core. */
  readonly load: number;
}

export class UsageSampler {
  readonly #counters: Counters;
  readonly #machine: number;
  readonly #limit: number | undefined;
  #before = new Map<string, { readonly time: number; readonly value: number }>();
  #now = new Map<string, { readonly time: number; readonly value: number }>();
  /** Worker → recent share of the time in which its event loop was busy. */
  readonly #shares = new Map<number, number>();

  /**
   * @param machine the cores of the whole machine: no figure of CPU exceeds them
   * @param limit the cores of the CPU limit of this process; undefined without a limit
   */
  constructor(counters: Counters, machine = cpus().length, limit = ownCpuLimit()?.cores) {
    this.#limit = limit;
    this.#counters = counters;
    this.#machine = Math.max(1, machine);
  }

  /**
   * Returns a sample per target. The first sample of a target has no rates (NaN). The host's CPU, memory and
   * descriptors are sums over the processes of all targets.
   */
  sample(time: number, targets: readonly MonitorTarget[]): ResourceSample[] {
    const processes = new Map<number, ProcessUse>();
    for (const { pid } of targets) getOrMake(processes, pid, () => this.#processUse(time, pid));
    // Worker processes are children of the scheduler's process.
    const withTasks = new Set(targets.filter(({ worker }) => worker !== HOST).map(({ pid }) => pid));
    const samples = targets.map((target) =>
      target.worker === HOST
        ? this.#hostSample(time, target, processes, withTasks)
        : this.#workerSample(time, target, processes.get(target.pid)!),
    );
    this.#before = this.#now;
    this.#now = new Map();
    return samples;
  }

  #processUse(time: number, pid: number): ProcessUse {
    const counters = this.#counters.process(pid);
    return { ...counters, load: 100 * this.#rate(`cpu ${pid}`, time, counters.cpu, this.#machine) };
  }

  #hostSample(
    time: number,
    target: MonitorTarget,
    processes: ReadonlyMap<number, ProcessUse>,
    withTasks: ReadonlySet<number>,
  ): ResourceSample {
    const host = this.#counters.host();
    const { isolate, figures, thread } = this.#isolate(time, target);
    figures.set('host_cores', allowedCores());
    if (this.#limit !== undefined) figures.set(CPU_LIMIT, this.#limit).set(CPU_THROTTLED, host.throttled);
    const { used, waited } = this.#counters.coreTimes(target.pid, thread);
    figures.set(SCHEDULER_CORE_TIME, used);
    figures.set(SCHEDULER_CORE_WAIT, waited);
    if (withTasks.size > 0)
      figures.set(CHILDREN_CPU, sum(Array.from(withTasks, (pid) => processes.get(pid)?.children ?? 0)));
    const ofProcesses = Math.min(
      100 * this.#machine,
      sum(Array.from(processes.values(), ({ load }) => load)),
    );
    const busy = 100 * this.#rate('host cpu', time, host.busy, this.#machine);
    figures.set('host_cpu', busy);
    // The system counts its own time in ticks of 10 ms, and that of processes in nanoseconds.
    if (ofProcesses > busy) figures.set('host_cpu', ofProcesses);
    figures.set('host_net_io.read_bps', this.#rate('net read', time, host.received));
    figures.set('host_net_io.write_bps', this.#rate('net write', time, host.sent));
    figures.set('host_disk_io.read_bps', this.#rate('disk read', time, host.read));
    figures.set('host_disk_io.write_bps', this.#rate('disk write', time, host.written));
    figures.set('num_fds', sum(Array.from(processes.values(), ({ descriptors }) => descriptors)));
    addGpus(figures, this.#counters.gpus());
    return {
      worker: HOST,
      time,
      cpu: ofProcesses,
      rss: sum(Array.from(processes.values(), ({ rss }) => rss)),
      ...isolate,
      figures,
    };
  }

  #workerSample(time: number, target: MonitorTarget, own: ProcessUse): ResourceSample {
    const { worker, pid } = target;
    const { isolate, figures, thread } = this.#isolate(time, target);
    let { load: cpu, read, written } = own;
    if (target.thread) {
      const counters = this.#counters.thread(pid, thread);
      cpu = 100 * this.#rate(`thread cpu ${worker}`, time, counters.cpu, 1);
      ({ read, written } = counters);
    }
    figures.set('disk_io.read_bps', this.#rate(`disk read ${worker}`, time, read));
    figures.set('disk_io.write_bps', this.#rate(`disk write ${worker}`, time, written));
    figures.set('num_fds', own.descriptors);
    addGpus(figures, this.#counters.gpus());
    return { worker, time, cpu, rss: own.rss, ...isolate, figures };
  }

  /** Returns what the isolate reports. A silent event loop counts as busy, and as late by the length of its silence. */
  #isolate(time: number, { worker, vitals: place }: MonitorTarget) {
    const vitals = typeof place === 'string' ? this.#counters.vitals(place) : place;
    const figures = new Map<string, number>([['event_loop_utilization', Number.NaN]]);
    if (vitals === null || vitals[VITALS.turned] === 0) {
      const isolate = { heap: Number.NaN, external: Number.NaN, eventLoopDelay: Number.NaN };
      return { isolate, figures, thread: 0 };
    }
    const turned = vitals[VITALS.turned]!;
    const overdue = time - turned - VITALS_INTERVAL;
    const active = this.#difference(`active ${worker}`, turned, vitals[VITALS.active]!);
    const idle = this.#difference(`idle ${worker}`, turned, vitals[VITALS.idle]!);
    // The loop has not turned since the last sample: it is busy, or the two timers have just passed each other.
    const late = overdue > VITALS_INTERVAL / 2;
    const known = this.#shares.get(worker) ?? Number.NaN;
    const share = active + idle > 0 ? active / (active + idle) : late ? 1 : known;
    this.#shares.set(worker, share);
    figures.set('event_loop_utilization', 100 * share);
    figures.set(GC_TIME, vitals[VITALS.gc]!);
    const isolate = {
      heap: vitals[VITALS.heap]!,
      external: vitals[VITALS.external]!,
      eventLoopDelay: Math.max(vitals[VITALS.delay]!, overdue, 0),
    };
    return { isolate, figures, thread: vitals[VITALS.thread]! };
  }

  /**
   * Returns the change per second since the last sample, at most `most`; NaN for a counter that decreased or is new. A sampler that is preempted between the
   * clock and a counter reads too much. The excess counts for the next sample, so that sums over time stay exact.
   */
  #rate(name: string, time: number, value: number, most = Number.POSITIVE_INFINITY): number {
    const before = this.#before.get(name);
    const difference = this.#difference(name, time, value);
    if (!(difference >= 0) || before === undefined || !(time > before.time)) return Number.NaN;
    const possible = most * (time - before.time);
    if (difference <= possible) return difference / (time - before.time);
    this.#now.set(name, { time, value: before.value + possible });
    return most;
  }

  #difference(name: string, time: number, value: number): number {
    const before = this.#before.get(name);
    this.#now.set(name, { time, value });
    return before === undefined ? Number.NaN : value - before.value;
  }
}

/** Sums the known values; NaN if there are none. */
function sum(values: readonly number[]): number {
  const known = values.filter((value) => !Number.isNaN(value));
  return known.length === 0 ? Number.NaN : known.reduce((total, value) => total + value, 0);
}

/** Adds all GPUs of the host as one: mean utilization, sum of memory. Adds each GPU as well if there are several. */
function addGpus(figures: Map<string, number>, gpus: ReadonlyMap<number, GpuUsage>): void {
  const all = [...gpus.values()];
  const busy = all.map(({ utilization }) => utilization).filter((value) => !Number.isNaN(value));
  figures.set('gpu_utilization', sum(busy) / busy.length);
  figures.set('gpu_memory_used', sum(all.map(({ memoryUsed }) => memoryUsed)));
  if (gpus.size < 2) return;
  for (const [index, { utilization, memoryUsed }] of gpus) {
    figures.set(`gpu_${index}_utilization`, utilization);
    figures.set(`gpu_${index}_memory_used`, memoryUsed);
  }
}
