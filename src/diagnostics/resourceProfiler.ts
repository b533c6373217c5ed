// The resource profiler: CPU and memory of the process tree during runs. A separate thread takes the samples. This
// module collects them, and converts CPU sums into percentages when they are read.
import { checkOptions, INTERVAL, type OptionKinds } from '../base/arguments.js';
import type { RunWatcher } from '../protocol/runObserver.js';
import type { TreeSample } from '../resources/processTree.js';
import { type MonitorSession, ResourceMonitor } from '../resources/resourceMonitor.js';
import { ENTERED, LEFT, WATCHERS } from './callback.js';
import { ADD_TO, type ProfilerTrace } from './profilerTrace.js';
import { RunProfiler } from './runProfiler.js';

/** Resource usage of this process with its threads and child processes at one time. */
export interface ResourceData {
  /** Seconds since the epoch. */
  readonly time: number;
  /** Resident memory in MB (1,000,000 bytes). */
  readonly mem: number;
  /**
   * CPU usage in percent of one core since an earlier sample, e.g. about 200 for two busy isolates. 0 in the first
   * sample.
   */
  readonly cpu: number;
}

export interface ResourceProfilerOptions {
  /** Seconds between two samples, more than 0. Default 1. */
  readonly dt?: number | undefined;
}

const OPTIONS: OptionKinds<ResourceProfilerOptions> = {
  dt: INTERVAL,
};

/**
 * Minimum seconds over which a percentage is computed, or since the first sample. The system updates the CPU times of
 * threads only every few milliseconds.
 */
const CPU_WINDOW = 0.1;

interface Stretch {
  readonly samples: readonly TreeSample[];
  /** Index of the first sample that is not cleared. Earlier samples serve to compute the load of later ones. */
  from: number;
}

/**
 * Records memory and CPU usage every `dt` seconds, at the start and at the end.
 *
 *     { using rprof = new ResourceProfiler({ dt: 0.25 }); await getThreaded(graph, 'x'); rprof.visualize(); }
 *
 * A `using` block is sampled as a whole. A registered profiler, or one in the option `callbacks`, samples during runs
 * only. Results accumulate until `clear()`. The first run in a new `using` block clears the results of earlier blocks.
 * The usage excludes the sampling thread, which sleeps between runs and does not keep the process alive. CPU times of
 * child processes have a resolution of 0.01 s on Linux.
 *
 * @source Dask's `dask.diagnostics.ResourceProfiler`
 */
export class ResourceProfiler extends RunProfiler {
  /** Seconds between two samples. */
  readonly dt: number;
  #segments: Stretch[] = [];
  #monitor: ResourceMonitor | undefined;
  #session: MonitorSession | undefined;
  /** Number of runs in progress, plus one in a block. */
  #holders = 0;
  #results: ResourceData[] = [];
  #resultsOf = 0;

  /** @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if `dt` is not a positive number */
  constructor(options: ResourceProfilerOptions = {}) {
    super('sample');
    checkOptions('ResourceProfiler', options, OPTIONS);
    this.dt = options.dt ?? 1;
  }

  /**
   * All samples so far in order of time, also during sampling. The same array until there are new samples.
   *
   * @throws LongpoleError ERR_LONGPOLE_WORKER_START if the sampling thread has died
   */
  override get results(): ResourceData[] {
    if (this.#session) this.#monitor?.drain();
    const count = this.#segments.reduce((sum, segment) => sum + segment.samples.length, 0);
    if (count !== this.#resultsOf) {
      this.#resultsOf = count;
      this.#results = this.#segments.flatMap(resultsOf);
    }
    return this.#results;
  }

  /** Removes all samples. Does not end the sampling. */
  clear(): void {
    this.#forget(this.#session?.samples.length ?? 0);
  }

  /**
   * Ends the sampling, and the sampling thread if no other profiler uses it. Further calls have no effect. The profiler
   * can be used again afterwards.
   */
  close(): void {
    this.#holders = 0;
    this.#stop();
    this.#monitor?.closeIfIdle();
    this.#monitor = undefined;
  }

  /** Activates the profiler for every run until `unregister`. Starts the sampling thread now. */
  override register(): void {
    this.#monitor ??= ResourceMonitor.shared();
    super.register();
  }

  override [ENTERED](): void {
    super[ENTERED]();
    this.#hold();
  }

  override [LEFT](): void {
    this.#release();
  }

  override [WATCHERS](): RunWatcher[] {
    let held = false;
    return [
      {
        runStarted: () => {
          this.runBegins(() => this.#forget(0));
          this.#hold();
          held = true;
        },
        progress: () => {
          if (this.#session) this.#monitor?.drain();
        },
        runFinished: () => {
          if (held) this.#release();
        },
      },
    ];
  }

  override [ADD_TO](page: ProfilerTrace): void {
    page.addResources(this.results);
  }

  #hold(): void {
    if (this.#session === undefined) {
      this.#monitor = ResourceMonitor.shared();
      this.#session = this.#monitor.start(this.dt);
      this.#segments.push({ samples: this.#session.samples, from: 0 });
    }
    this.#holders++;
  }

  #release(): void {
    if (this.#holders === 0) return;
    this.#holders--;
    if (this.#holders === 0) this.#stop();
  }

  #stop(): void {
    const session = this.#session;
    this.#session = undefined;
    if (session) this.#monitor?.stop(session);
  }

  /** Keeps only the current segment, from its sample `from` on. */
  #forget(from: number): void {
    this.#segments = this.#segments.filter((segment) => segment.samples === this.#session?.samples);
    for (const segment of this.#segments) segment.from = from;
    this.#resultsOf = -1;
  }
}

function resultsOf({ samples, from }: Stretch): ResourceData[] {
  let base = 0;
  const all = samples.map((sample, i) => {
    while (base + 1 < i && samples[base + 1]!.time <= sample.time - CPU_WINDOW) base++;
    const { time, cpu } = samples[base]!;
    const elapsed = sample.time - time;
    const load = elapsed > 0 ? Math.max(0, (100 * (sample.cpu - cpu)) / elapsed) : 0;
    return { time: sample.time, mem: sample.rss / 1e6, cpu: load };
  });
  return from === 0 ? all : all.slice(from);
}
