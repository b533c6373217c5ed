// Measures of a cluster on the scheduler: sums by span, and samples of the scheduler's thread.

import type { ClusterEngine } from '../../engine/cluster/clusterEngine.js';
import { Spans } from '../../engine/metrics/spans.js';
import { ThreadProfiler } from '../../engine/profiler/threadProfiler.js';
import type { ClusterObserver, ProfileSettings } from '../../protocol/clusterObserver.js';

/** Index of the worker for samples of the scheduler's thread. */
const SCHEDULER = -1;

export class Measures implements ClusterObserver {
  readonly spans: Spans;
  /** Seconds per sample. */
  readonly samplingInterval: number;
  readonly #profiler: ThreadProfiler | undefined;

  constructor(
    engine: Pick<ClusterEngine, 'clock' | 'epochOffsetMs' | 'notify' | 'observe'>,
    profile: ProfileSettings | undefined,
  ) {
    // `pending` of the spans is up to date when this object is notified.
    this.spans = new Spans(engine.clock);
    engine.observe(this.spans);
    engine.observe(this);
    this.samplingInterval = profile?.interval ?? 0.01;
    if (profile === undefined) return;
    this.#profiler = new ThreadProfiler({
      ...profile,
      epochOffsetMs: engine.epochOffsetMs,
      onCycle: (cycle) => engine.notify((observer) => observer.profile?.(SCHEDULER, cycle, () => undefined)),
    });
  }

  /** Resolves when the samples of the scheduler's thread until now have been reported. */
  flush(): Promise<void> {
    return this.#profiler?.flush() ?? Promise.resolve();
  }

  computationAdded(): void {
    this.#profiler?.busy();
  }

  computationForgotten(): void {
    this.#pauseIfIdle();
  }

  tasksEnded(): void {
    this.#pauseIfIdle();
  }

  tasksDropped(): void {
    this.#pauseIfIdle();
  }

  close(): void {
    this.#profiler?.close();
  }

  /**
   * Pauses the profiler of the scheduler when no task is pending. Held results may keep a computation alive much
   * longer.
   */
  #pauseIfIdle(): void {
    if (this.spans.pending === 0) this.#profiler?.idle();
  }
}
