// What the machine and the workers of local schedulers use: the same samples as of a cluster, from the first run on that
// takes long enough to be worth a monitor thread.
import type { ResourceSample } from '../protocol/clusterObserver.js';
import type { RunInfo, RunObserver } from '../protocol/runObserver.js';
import { ResourceFeed } from '../resources/resourceFeed.js';
import type { MonitorTarget } from '../resources/usageSampler.js';

/** Starting the monitor costs some 20 ms of a core: runs shorter than this are not looked at. */
const WORTH_MS = 150;

export class LocalResources implements RunObserver {
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
