// Adapts the number of workers of a LocalCluster to its load.
import {
  COUNT,
  checkOptions,
  INTERVAL,
  invalid,
  type OptionKinds,
  wholeNumber,
} from '../../base/arguments.js';
import { coreCount } from '../../resources/containerLimits.js';

export interface AdaptOptions {
  /** Smallest number of workers, at least 0. Default 0. One worker stays as long as workers hold results. */
  readonly minimum?: number;
  /** Largest number of workers, at least 1. Default: one per core, but at least `minimum`. */
  readonly maximum?: number;
  /** Seconds between two checks of the load. Default 1. */
  readonly interval?: number;
  /** Consecutive checks that must find too many workers before some leave. Default 3. */
  readonly waitCount?: number;
  /** Seconds in which the present work should be done, which decides the number of workers. Default 5. */
  readonly targetDuration?: number;
}

const ADAPT_OPTIONS: OptionKinds<AdaptOptions> = {
  minimum: wholeNumber(0),
  maximum: COUNT,
  interval: INTERVAL,
  waitCount: COUNT,
  targetDuration: INTERVAL,
};

/** @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT */
export function adaptSettings(where: string, options: AdaptOptions): Required<AdaptOptions> {
  checkOptions(where, options, ADAPT_OPTIONS);
  const { minimum = 0, interval = 1, waitCount = 3, targetDuration = 5 } = options;
  const { maximum = Math.max(1, minimum, coreCount()) } = options;
  if (maximum < minimum) throw invalid(`${where}: maximum`, maximum, `at least the minimum, ${minimum}`);
  return { minimum, maximum, interval, waitCount, targetDuration };
}

export interface AdaptedWorkers {
  /** Number of workers, including those that are starting, without those that leave. */
  readonly size: number;
  /** Returns the number of workers that the present work could use. */
  wanted(targetDuration: number): number;
  /** Starts workers, or retires those with the least work. */
  scale(size: number): Promise<void>;
  /** Receives the error of `scale`. The next check tries again. */
  failed(error: unknown): void;
}

/** @source Dask, `distributed.deploy.adaptive_core.AdaptiveCore` */
export class Adaptive {
  readonly #workers: AdaptedWorkers;
  readonly #settings: Required<AdaptOptions>;
  /** Consecutive checks that found too many workers. */
  #surplus = 0;
  #hasEnded = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(workers: AdaptedWorkers, settings: Required<AdaptOptions>) {
    this.#workers = workers;
    this.#settings = settings;
  }

  /** Brings the number of workers into its limits, and then checks the load until `end`. */
  async begin(): Promise<void> {
    const { minimum, maximum, interval } = this.#settings;
    // A worker that leaves may take long, e.g. to finish a task. Checks do not wait for that.
    this.#timer = setInterval(() => void this.check(), interval * 1000);
    this.#timer.unref();
    await this.#workers.scale(Math.min(maximum, Math.max(minimum, this.#workers.size)));
  }

  /** Starts workers at once if the load needs them. Retires workers after `waitCount` checks. Never rejects. */
  async check(): Promise<void> {
    if (this.#hasEnded) return;
    const { minimum, maximum, waitCount, targetDuration } = this.#settings;
    const { size } = this.#workers;
    const wanted = Math.min(maximum, Math.max(minimum, this.#workers.wanted(targetDuration)));
    this.#surplus = wanted < size ? this.#surplus + 1 : 0;
    if (wanted === size || (wanted < size && this.#surplus < waitCount)) return;
    this.#surplus = 0;
    try {
      await this.#workers.scale(wanted);
    } catch (error) {
      this.#workers.failed(error);
    }
  }

  end(): void {
    this.#hasEnded = true;
    clearInterval(this.#timer);
  }
}
