// Reports runs of the local schedulers to observers of clusters, so that a trace can record them.
import type { ResourceSample } from '../protocol/clusterObserver.js';
import type { RunInfo, RunObserver } from '../protocol/runObserver.js';
import { ResourceFeed } from '../resources/resourceFeed.js';
import type { MonitorTarget } from '../resources/usageSampler.js';
import { OBSERVERS, ProgramCallback } from './callback.js';

/**
 * Reports each run that starts while this callback is active as a computation. From the first run on, also reports the
 * resource usage of the machine and of the workers.
 */
export class LocalRuns extends ProgramCallback {
  readonly #observers: readonly RunObserver[];
  readonly #resources: LocalResources;

  constructor(...observers: readonly RunObserver[]) {
    super();
    this.#observers = observers;
    this.#resources = new LocalResources((sample) => {
      for (const observer of observers) observer.resources?.(sample);
    });
  }

  override unregister(): void {
    this.#resources.stop();
    super.unregister();
  }

  override [OBSERVERS](): RunObserver[] {
    return [...this.#observers, this.#resources];
  }
}

// Samples resource usage of the machine and the workers, as for a cluster, from the first run on that takes long
// enough.

/** Shortest run, in milliseconds, for which the monitor thread starts. Starting it costs about 20 ms of a core. */
const MIN_RUN_MS = 150;

class LocalResources implements RunObserver {
  readonly #deliver: (sample: ResourceSample) => void;
  readonly #runs = new Set<RunInfo>();
  #feed: ResourceFeed | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(deliver: (sample: ResourceSample) => void) {
    this.#deliver = deliver;
  }

  /** The isolates of the run may start later, because the targets are determined before each sample. */
  runStarted(run: RunInfo): void {
    this.#runs.add(run);
    if (this.#feed !== undefined || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#runs.size > 0) this.#feed ??= new ResourceFeed(() => this.#targets(), this.#deliver);
    }, MIN_RUN_MS);
    this.#timer.unref();
  }

  runFinished(run: RunInfo): void {
    this.#runs.delete(run);
    if (this.#runs.size === 0) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
    this.#feed?.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#feed?.stop();
    this.#feed = undefined;
  }

  #targets(): MonitorTarget[] {
    const targets = new Map<number, MonitorTarget>();
    for (const { workers } of this.#runs) {
      for (const { index: worker, pid, vitals } of workers.values())
        if (vitals !== undefined) targets.set(worker, { worker, pid, thread: vitals !== null, vitals });
    }
    return [...targets.values()];
  }
}
