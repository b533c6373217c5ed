// Delivers the resource samples of a cluster or of local runs: this process as the host, and the present workers.
import { messageOf } from '../base/errors.js';
import type { ResourceSample } from '../protocol/clusterObserver.js';
import { VITALS_INTERVAL } from '../protocol/isolateMessages.js';
import { SCHEDULER_CORE_TIME, SCHEDULER_CORE_WAIT } from '../protocol/traceNames.js';
import { epochSeconds } from './clock.js';
import { coreTimes } from './processCounters.js';
import { ResourceMonitor, type WatchOptions } from './resourceMonitor.js';
import { HOST, type MonitorTarget } from './usageSampler.js';
import { makeVitals, ownThread, Vitals } from './vitals.js';

/** Changes the targets of samples that are being taken, and ends. */
interface Sampling {
  refresh(): void;
  stop(): void;
}

export class ResourceFeed {
  readonly #workers: () => readonly MonitorTarget[];
  readonly #deliver: (sample: ResourceSample) => void;
  readonly #options: WatchOptions | undefined;
  #sampling: Sampling | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Time of the start, on `performance.now()`; -Infinity if it has started. */
  #due = Number.POSITIVE_INFINITY;

  /** Calls `workers` before each sample, to follow new, ended and restarted workers. */
  constructor(
    workers: () => readonly MonitorTarget[],
    deliver: (sample: ResourceSample) => void,
    options?: WatchOptions,
  ) {
    this.#workers = workers;
    this.#deliver = deliver;
    this.#options = options;
  }

  /**
   * Starts sampling in `ms` milliseconds, unless it starts earlier. The start takes some 50 ms of CPU on another thread, so a
   * short program should end before. If the system refuses a thread, Node prints a warning, and there are no samples.
   */
  startWithin(ms: number): void {
    const due = performance.now() + ms;
    if (this.#due <= due) return;
    this.#due = due;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#due = Number.NEGATIVE_INFINITY;
      this.#deliverDelay((performance.now() - due) / 1000);
      try {
        this.#sampling = this.#start();
      } catch (error) {
        process.emitWarning(messageOf(error));
      }
    }, ms);
    this.#timer.unref();
  }

  /** A program that blocks the event loop from the start delays sampling itself. */
  #deliverDelay(eventLoopDelay: number): void {
    if (!(eventLoopDelay > VITALS_INTERVAL)) return;
    const unknown = { cpu: Number.NaN, rss: Number.NaN, heap: Number.NaN, external: Number.NaN };
    // It may be the only sample, and without these times a thread without a core looks the same.
    const { used, waited } = coreTimes(process.pid, ownThread());
    const figures = new Map([
      [SCHEDULER_CORE_TIME, used],
      [SCHEDULER_CORE_WAIT, waited],
    ]);
    this.#deliver({ worker: HOST, time: epochSeconds(), ...unknown, eventLoopDelay, figures });
  }

  /** Does not start before the next call of `startWithin`, unless it has started already. */
  postpone(): void {
    if (this.#sampling === undefined) this.#cancelStart();
  }

  /** Updates the list of workers. */
  refresh(): void {
    this.#sampling?.refresh();
  }

  /** Delivers all samples taken so far, and ends. */
  stop(): void {
    this.#cancelStart();
    this.#sampling?.stop();
    this.#sampling = undefined;
  }

  /** If the start is late, the program blocked its event loop until now. */
  #cancelStart(): void {
    clearTimeout(this.#timer);
    if (Number.isFinite(this.#due)) this.#deliverDelay((performance.now() - this.#due) / 1000);
    this.#due = Number.POSITIVE_INFINITY;
  }

  /** @throws ERR_LONGPOLE_WORKER_START if the system refuses a thread */
  #start(): Sampling {
    const monitor = ResourceMonitor.shared();
    const cells = makeVitals();
    const host: MonitorTarget = { worker: HOST, pid: process.pid, thread: false, vitals: cells };
    const targets = (): MonitorTarget[] => [host, ...this.#workers()];
    let watched = targets();
    const refresh = (): void => {
      const present = targets();
      if (haveSame(present, watched)) return;
      watched = present;
      watch.setTargets(present);
    };
    const take = (samples: readonly ResourceSample[]): void => {
      for (const sample of samples) this.#deliver(sample);
      refresh();
    };
    const watch = monitor.watch(watched, take, this.#options);
    const vitals = new Vitals(cells);
    const stop = (): void => {
      watch.stop();
      vitals.stop();
      monitor.closeIfIdle();
    };
    return { refresh, stop };
  }
}

function haveSame(some: readonly MonitorTarget[], others: readonly MonitorTarget[]): boolean {
  const isSame = ({ worker, pid, vitals }: MonitorTarget, index: number): boolean =>
    others[index]?.worker === worker && others[index].pid === pid && others[index].vitals === vitals;
  return some.length === others.length && some.every(isSame);
}
