// The local schedulers as a source of a trace: a callback that has observers of clusters watch every run that it sees.
import type { ResourceSample } from '../protocol/clusterObserver.js';
import type { RunInfo, RunObserver } from '../protocol/runObserver.js';
import { ResourceFeed } from '../resources/resourceFeed.js';
import type { MonitorTarget } from '../resources/usageSampler.js';
import { OBSERVERS, ProgramCallback } from './callback.js';

/**
 * Has observers watch the runs in which it is active, each as a computation; from the first on they also receive what the
 * machine and the workers use.
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

// What the machine and the workers of local schedulers use: the same samples as of a cluster, from the first run on that
// takes long enough to be worth a monitor thread.

/** Starting the monitor costs some 20 ms of a core: runs shorter than this are not looked at. */
const WORTH_MS = 150;

class LocalResources implements RunObserver {
  readonly #deliver: (sample: ResourceSample) => void;
  readonly #runs = new Set<RunInfo>();
  #feed: ResourceFeed | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(deliver: (sample: ResourceSample) => void) {
    this.#deliver = deliver;
  }

  /** Its isolates need not be there yet: they are looked for before each sample. */
  runStarted(run: RunInfo): void {
    this.#runs.add(run);
    if (this.#feed !== undefined || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#runs.size > 0) this.#feed ??= new ResourceFeed(() => this.#targets(), this.#deliver);
    }, WORTH_MS);
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
