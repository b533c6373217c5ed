// Sums of a cluster's measurements, on the scheduler: metrics, spans, profiles.

import type { ClusterEngine } from '../../engine/cluster/clusterEngine.js';
import { MetricLedger } from '../../engine/metrics/metricLedger.js';
import { Spans } from '../../engine/metrics/spans.js';
import { ThreadProfiler } from '../../engine/profiler/threadProfiler.js';
import { ProfileHistory } from '../../profile/profileHistory.js';
import type {
  ClusterObserver,
  MetricSample,
  ProfileCycle,
  ProfileSettings,
} from '../../protocol/clusterObserver.js';
import { DROPPED_CONTEXT, type KindOf } from '../../protocol/metrics.js';

/** Index of the worker for samples of the scheduler's thread. */
const SCHEDULER = -1;

export class Measures implements ClusterObserver {
  /** Sums by `["execute", prefix, activity, unit]`, `["gather-dep", activity, unit]`, … */
  readonly cumulativeWorkerMetrics = new MetricLedger();
  readonly spans: Spans;
  /** Seconds per sample. */
  readonly samplingInterval: number;
  readonly #workers = new ProfileHistory();
  readonly #scheduler = new ProfileHistory();
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

  /** Returns the samples of the workers, or of the scheduler's thread. */
  history(scheduler: boolean): ProfileHistory {
    return scheduler ? this.#scheduler : this.#workers;
  }

  /** Resolves when the samples of the scheduler's thread until now have been added. */
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

  metric({ context, prefix, activity, unit, value }: MetricSample): void {
    if (context === DROPPED_CONTEXT) return;
    const key = context === 'execute' ? [context, prefix, activity, unit] : [context, activity, unit];
    this.cumulativeWorkerMetrics.add(key, value);
  }

  profile(worker: number, cycle: ProfileCycle, kindOf: KindOf): void {
    this.history(worker === SCHEDULER).add(cycle, kindOf);
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
