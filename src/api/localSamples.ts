// Samples the program's thread while runs of local schedulers are in progress, as a cluster samples its scheduler's
// thread. The samples distinguish the program's own computations from Longpole's work and from the unpacking of results.
import { ThreadProfiler } from '../engine/profiler/threadProfiler.js';
import { epochOffsetMs } from '../engine/worker/isolateClock.js';
import type { ClusterObserver } from '../protocol/clusterObserver.js';
import type { RunObserver } from '../protocol/runObserver.js';

/** Index of the worker for samples of the scheduler's thread. */
const SCHEDULER = -1;
/** Milliseconds of runs after which the samples so far are reported when no run is left. The program may end then. */
const REPORT_AFTER = 250;

export class LocalSamples implements RunObserver {
  readonly #observer: ClusterObserver;
  #profiler: ThreadProfiler | undefined;
  /** Number of runs in progress. */
  #runs = 0;
  /** Time since which the samples of runs have not been reported, on `performance.now()`. */
  #since = 0;

  /** @param observer receives the samples in `profile` */
  constructor(observer: ClusterObserver) {
    this.#observer = observer;
  }

  runStarted(): void {
    if (this.#runs === 0) this.#since = performance.now();
    this.#runs++;
    this.#profiler ??= new ThreadProfiler({
      epochOffsetMs: epochOffsetMs(),
      onCycle: (cycle) => this.#observer.profile?.(SCHEDULER, cycle, () => undefined),
    });
    this.#profiler.busy();
  }

  runFinished(): void {
    this.#runs--;
    if (this.#runs > 0) return;
    if (performance.now() - this.#since >= REPORT_AFTER) void this.#profiler?.flush();
    this.#profiler?.idle();
  }

  /** Ends the sampling. The last samples are still reported. */
  stop(): void {
    this.#profiler?.close();
    this.#profiler = undefined;
  }
}
