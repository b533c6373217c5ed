// The resource profiler: CPU and memory of the whole process tree while a run goes on. Sampling happens on a thread of its
// own; this side only collects the samples and turns CPU sums into percentages when they are read.
import { checkOptions, INTERVAL, type OptionKinds } from '../base/arguments.js';
import type { RunObserver, RunWatcher } from '../protocol/runObserver.js';
import { type MonitorSession, ResourceMonitor } from '../resources/resourceMonitor.js';
import type { TreeSample } from '../resources/resourceMonitorMessages.js';
import { Callback, ENTERED, LEFT, OBSERVERS, WATCHERS } from './callback.js';
import { ADD_TO, type PageSource, type ProfilerTrace } from './profilerTrace.js';
import { type VisualizeOptions, visualize } from './visualize.js';

/** Use of the machine by this process, all its threads and child processes, at one moment. */
export interface ResourceData {
  /** Seconds since the epoch. */
  readonly time: number;
  /** Resident memory in MB (1,000,000 bytes). */
  readonly mem: number;
  /** CPU in percent of one core since the sample before: two busy isolates show about 200. 0 in the first sample. */
  readonly cpu: number;
}

export interface ResourceProfilerOptions {
  /** Seconds between two samples; more than 0; default 1. */
  readonly dt?: number | undefined;
}

const OPTIONS: OptionKinds<ResourceProfilerOptions> = {
  dt: INTERVAL,
};

/**
 * The system brings thread times up to date every few milliseconds only: percentages are taken over at least this many
 * seconds, or since collecting began.
 */
const CPU_WINDOW = 0.1;

interface Stretch {
  readonly samples: readonly TreeSample[];
  /** Samples before this one were cleared; they still serve to compute the load of later ones. */
  from: number;
}

/**
 * Records memory and CPU every `dt` seconds, once more at the start and at the end.
 *
 *     { using rprof = new ResourceProfiler({ dt: 0.25 }); await getThreaded(graph, 'x'); rprof.visualize(); }
 *
 * Collects throughout a `using` block; while registered, or given as an option, during runs only. Results add up until
 * `clear()`; the first run in a new `using` block starts afresh. The sampling thread does not count, never keeps the
 * process alive, and stays asleep between runs. CPU time of child processes is known to 0.01 s on Linux.
 *
 * @source Dask's `dask.diagnostics.ResourceProfiler`
 */
export class ResourceProfiler extends Callback implements PageSource {
  /** Seconds between two samples. */
  readonly dt: number;
  #segments: Stretch[] = [];
  #monitor: ResourceMonitor | undefined;
  #session: MonitorSession | undefined;
  /** Runs in progress, and one for a block. */
  #holders = 0;
  #fresh = false;
  #results: ResourceData[] = [];
  #resultsOf = 0;

  /** @throws ERR_LONGPOLE_INVALID_ARGUMENT if `dt` is not a positive number */
  constructor(options: ResourceProfilerOptions = {}) {
    super();
    checkOptions('ResourceProfiler', options, OPTIONS);
    this.dt = options.dt ?? 1;
  }

  /**
   * Every sample so far, in order of time; also while collecting. The same array until there is something new.
   *
   * @throws ERR_LONGPOLE_WORKER_START if the sampling thread has died
   */
  get results(): ResourceData[] {
    if (this.#session) this.#monitor?.drain();
    const count = this.#segments.reduce((sum, segment) => sum + segment.samples.length, 0);
    if (count !== this.#resultsOf) {
      this.#resultsOf = count;
      this.#results = this.#segments.flatMap(resultsOf);
    }
    return this.#results;
  }

  /** Forgets all samples; goes on collecting if it does. */
  clear(): void {
    this.#forget(this.#session?.samples.length ?? 0);
  }

  /** Ends collecting, and the sampling thread if no other profiler uses it. May be called twice, and used again after. */
  close(): void {
    this.#holders = 0;
    this.#stop();
    this.#monitor?.closeIfIdle();
    this.#monitor = undefined;
  }

  /**
   * Writes a self-contained HTML page with the lines of CPU and memory, and returns its path.
   *
   * @throws ERR_LONGPOLE_INVALID_ARGUMENT for options that are not valid
   */
  visualize(options?: VisualizeOptions): string {
    return visualize(this, options);
  }

  /** As every callback; the sampling thread starts already now. */
  override register(): void {
    this.#monitor ??= ResourceMonitor.shared();
    super.register();
  }

  override [ENTERED](): void {
    this.#fresh = true;
    this.#hold();
  }

  override [LEFT](): void {
    this.#release();
  }

  override [OBSERVERS](): RunObserver[] {
    return this[WATCHERS]();
  }

  override [WATCHERS](): RunWatcher[] {
    let held = false;
    return [
      {
        runStarted: () => {
          if (this.#fresh) this.#forget(0);
          this.#fresh = false;
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

  [ADD_TO](page: ProfilerTrace): void {
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

  /** Keeps only the segment that is being collected, from its sample `from` on. */
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
