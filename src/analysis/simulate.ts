// Simulates how long the recorded graph would take under other conditions: more workers, a faster network, a faster
// function. A discrete-event simulation with the policy of the engine and the measured durations.

import { ANY, checkArgument, checkOptions, NUMBER, type OptionKinds, TRACE } from '../base/arguments.js';
import { invalidArgument } from '../base/errors.js';
import { getOrMake, oncePer } from '../base/lookUps.js';
import type { Trace } from '../trace/trace.js';
import { coreUseOf } from './coreUse.js';
import { contendedLock } from './leaseWaits.js';
import { requestedWindow } from './path/pathWalk.js';
import { copiedSeconds } from './programTransfers.js';
import { type Calibration, calibrationOf } from './simulation/calibration.js';
import { MEMORY_TARGET, recordedConditions } from './simulation/conditions.js';
import { startupOf, stretchOf, threadsPerWorker } from './simulation/machine.js';
import { Replay } from './simulation/replay.js';
import { replayGraphOf } from './simulation/replayGraph.js';
import type { ReplayConditions, ReplayGraph, ReplayResult } from './simulation/replayTypes.js';
import type { Span } from './spans.js';

/** Conditions of a simulation. The default of each is the recorded condition. */
export interface SimulateOptions {
  /**
   * Number of workers, with as many threads as the recorded workers: one for Longpole, often more for Dask. If the
   * workers of a Dask cluster differ, this is the number of threads. 1 to 1,000,000 threads in total.
   */
  readonly workers?: number;
  /** Bytes per second between two workers. */
  readonly bandwidth?: number;
  /** Bytes of memory per worker; 0 for no limit. Results beyond 60 % of the limit are written to disk. */
  readonly memoryLimit?: number;
  /** Factor by which the tasks of each prefix become faster; below 1 they become slower. */
  readonly faster?: Readonly<Record<string, number>>;
  /** Number of tasks into which each task of a prefix is split. They share its work and its result. */
  readonly split?: Readonly<Record<string, number>>;
  /** Seconds of the scheduler per task. 0 also removes all other overhead between tasks. */
  readonly schedulerOverhead?: number;
  /** Seconds since the epoch from which tasks must have started. Default: the start of the run. */
  readonly start?: number;
  /** Seconds since the epoch until which tasks must have started. Default: the end of the run. */
  readonly stop?: number;
}

const OPTIONS: OptionKinds<SimulateOptions> = {
  workers: ANY,
  bandwidth: ANY,
  memoryLimit: ANY,
  faster: ANY,
  split: ANY,
  schedulerOverhead: ANY,
  start: NUMBER,
  stop: NUMBER,
};

export interface Simulation extends Pick<ReplayResult, 'busy' | 'held' | 'spilled'> {
  readonly workers: number;
  /** Seconds from the first submission to the last result. */
  readonly makespan: number;
  /**
   * Lower limit of the estimated band of the makespan, seconds. The band includes: the difference of a simulation of
   * the recorded conditions from the recording; the noise between two runs (8 %, and 40 % of the start of workers); the
   * order of the last tasks; and unknown effects of more or fewer concurrent tasks (5 % for each factor of 2). If tasks
   * waited for cores that other programs used, the band includes runs with and without these waits. A lock or semaphore for which
   * tasks waited bounds the band, too.
   */
  readonly low: number;
  /** Upper limit of the estimated band of the makespan, seconds. */
  readonly high: number;
}

/** A simulation of one number of workers. */
export interface SimulatedRun extends Simulation {
  /** Why the numbers say nothing about the run, e.g. after the loss of workers; undefined if they do. */
  readonly unfit: string | undefined;
}

/** Relative difference of two runs of the same program on the same machine. */
const NOISE = 0.08;
/** Relative difference of the start of workers, which read files and compile. Measured: 5 to 62 % between two runs. */
const STARTING_NOISE = 0.4;
/** Relative error of the estimated effect of concurrent tasks on one another, for each doubling of their number. */
const CONTENTION = 0.05;
const MAX_CONTENTION = 0.3;
/** Largest number of threads. Idle threads take memory, too. */
const MAX_THREADS = 1_000_000;
/** Result if no task ran. */
const NOTHING = { makespan: 0, low: 0, high: 0, busy: 0, held: 0, spilled: 0 } as const;
/** Largest relative margin of a band. */
const MAX_MARGIN = 0.9;

/**
 * Returns the makespan of a trace under other conditions. The band between `low` and `high` is an estimate, not a
 * bound. A million tasks on a thousand workers take about 2 s.
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for an option out of range, and for a prefix that the trace lacks
 */
export function simulate(trace: Trace, options: SimulateOptions = {}): SimulatedRun {
  const simulator = new Simulator(trace, options);
  return { ...simulator.simulate(options.workers), unfit: simulator.unfit };
}

/** Simulates one graph with several numbers of workers. The options fix all other conditions. */
export class Simulator {
  readonly recordedWorkers: number;
  /** Threads of each worker; NaN if workers differ, so that each thread counts as a worker. */
  readonly threadsPerWorker: number;
  /** Lock or semaphore whose contention is the lower bound for all numbers of workers. */
  readonly lock: { readonly object: string; readonly seconds: number } | undefined;
  /** Why predictions say nothing about the run; undefined if they do. */
  readonly unfit: string | undefined;
  readonly #recordedThreads: number;
  readonly #graph: ReplayGraph;
  readonly #conditions: ReplayConditions;
  readonly #floor: number;
  /** Seconds in which tasks wait for a lock or semaphore also if its holders never wait for a core. */
  readonly #locked: number;
  readonly #work: number;
  readonly #recorded: Calibration;
  /** True if the tasks of a thread ran one after another, so that no schedule is shorter than the work per worker. */
  readonly #isBounded: boolean;
  /** Share of the time of tasks in which they waited for a core that another program used. */
  readonly #others: number;
  /** Results by number of threads, because a sweep needs some twice. */
  readonly #replays = new Map<number, ReplayResult>();

  /** The same conditions without faster tasks, and the seconds of work that the faster tasks save. */
  readonly #unchanged: { readonly simulator: Simulator; readonly saved: number } | undefined;

  /** @param slower the simulator without `faster`, if the caller has it */
  constructor(trace: Trace, options: SimulateOptions = {}, slower?: Simulator) {
    checkArgument('simulate(): trace', trace, TRACE);
    checkOptions('simulate()', options, OPTIONS);
    const window = requestedWindow(trace, options);
    const changes = { faster: factors(trace, options.faster), split: factors(trace, options.split, true) };
    const recorded = recordedConditions(trace, window);
    this.threadsPerWorker = threadsPerWorker(trace);
    this.#recordedThreads = recorded.workers;
    this.recordedWorkers = Math.ceil(recorded.workers / (this.threadsPerWorker || 1));
    this.#conditions = changed(recorded, options, this.threadsPerWorker || 1);
    const asRecorded = replayGraphOf(trace, window, { faster: new Map(), split: new Map() });
    const isChanged = changes.faster.size + changes.split.size > 0;
    this.#graph = isChanged ? replayGraphOf(trace, window, changes) : asRecorded;
    this.#recorded = calibrationOf(trace, window, asRecorded, recorded);
    this.unfit = this.#recorded.unfit;
    if (changes.faster.size > 0)
      this.#unchanged = {
        simulator: slower ?? new Simulator(trace, { ...options, faster: {} }),
        saved: savedSeconds(trace, window, changes.faster),
      };
    const { others, cores, lost, demand, isMeasured } = coreUseOf(trace);
    // A task that mostly sleeps cannot wait long for a core.
    const share = others / cores || 0;
    this.#others = isMeasured ? Math.min(lost, share) : Math.min(1, demand) * Math.min(1, share);
    const { floor: longest, work } = bounds(this.#graph);
    const floor = Math.max(longest, copiedSeconds(trace, window));
    // The model has no locks. A change of tasks may shorten the time in which they hold one.
    const isPart = options.start !== undefined || options.stop !== undefined;
    const { object, contended = 0 } = (isPart || isChanged ? undefined : contendedLock(trace)) ?? {};
    this.#floor = Math.max(floor, Math.min(contended, window.stop - window.start));
    this.lock = object === undefined || this.#floor === floor ? undefined : { object, seconds: this.#floor };
    this.#work = work;
    this.#locked = this.lock === undefined ? 0 : Math.max(0, this.#floor - lost * work);
    const least = isChanged ? bounds(asRecorded) : { floor, work };
    this.#isBounded = Math.max(least.floor, least.work / recorded.workers) <= window.stop - window.start;
  }

  simulate(workers?: number): Simulation {
    const each = this.threadsPerWorker || 1;
    if (workers === undefined) {
      const threads = this.#conditions.workers;
      return { workers: Math.ceil(threads / each), ...this.#simulate(threads) };
    }
    const isCount = Number.isInteger(workers) && workers >= 1 && workers * each <= MAX_THREADS;
    check('workers', workers, isCount, 'a whole number from 1 to 1,000,000');
    return { workers, ...this.#simulate(workers * each) };
  }

  #simulate(threads: number): Omit<Simulation, 'workers'> {
    if (this.#graph.size === 0) return NOTHING;
    const { makespan: replayed, busy, held, spilled } = this.#replay(threads);
    const { around, granularity } = this.#recorded;
    const makespan = this.#makespan(threads);
    const doublings = Math.log2((busy * threads) / this.#recorded.concurrency) || 0;
    const contention = Math.min(MAX_CONTENTION, Math.abs(doublings) * CONTENTION);
    const margin = Math.min(MAX_MARGIN, NOISE + contention + this.#others);
    // Another order of the last tasks changes the end by about one task. A single thread has no such effect.
    const end = threads === this.#recordedThreads || threads === 1 ? 0 : granularity;
    const starting = STARTING_NOISE * this.#startup(threads);
    const low = Math.min(makespan, replayed + around) * (1 - margin) - end - starting;
    const high = Math.max(makespan, replayed + around) * (1 + margin) + end + starting;
    // The band does not reach below the bounds of all schedules, except for the noise of durations.
    const bound = Math.max(this.#least(threads) * (1 - margin), this.#locked * (1 - NOISE));
    return { makespan, low: Math.min(makespan, Math.max(low, bound)), high, busy, held, spilled };
  }

  #least(threads: number): number {
    return Math.max(this.#floor, this.#work / threads);
  }

  /** Threads share the work of a single one, so they are at most as many times as fast. */
  #makespan(threads: number): number {
    const own = this.#limited(threads);
    return threads === 1 || !this.#spills ? own : Math.max(own, this.#limited(1) / threads);
  }

  /** Returns the makespan without more gain than the saved work. A single thread takes at most the time of all threads. */
  #limited(threads: number): number {
    const all = this.#recordedThreads;
    const seconds =
      threads === 1 && this.#spills
        ? Math.min(this.#calibrated(1), all * this.#calibrated(all))
        : this.#calibrated(threads);
    if (this.#unchanged === undefined) return seconds;
    const { simulator, saved } = this.#unchanged;
    const stretch = simulator.#replay(threads).computed / simulator.#replay(all).computed;
    return Math.max(seconds, simulator.#makespan(threads) - saved * Math.max(1, stretch));
  }

  /** Only with limited memory may more threads do less work, because one of them would have to use the disk. */
  get #spills(): boolean {
    return Number.isFinite(this.#conditions.memory);
  }

  /** If the recorded run was shorter than its simulation, the calibration must not undercut the longest chain. */
  #calibrated(threads: number): number {
    const { ratio, around } = this.#recorded;
    return Math.max(
      this.#isBounded ? this.#least(threads) : 0,
      this.#replay(threads).makespan * ratio + around,
    );
  }

  /** Returns the seconds until this number of threads has started. */
  #startup(threads: number): number {
    return startupOf(this.#recorded.machine, threads);
  }

  #replay(threads: number): ReplayResult {
    return getOrMake(this.#replays, threads, () => {
      const startup = this.#startup(threads);
      const stretch = stretchOf(this.#recorded.machine, threads);
      return new Replay(this.#graph, { ...this.#conditions, workers: threads, startup, stretch }).run();
    });
  }
}

/** Returns the simulator of the recorded conditions, made once per trace. */
export const simulatorOf = oncePer((trace: Trace) => new Simulator(trace));

/** Returns the seconds by which the tasks of the window become shorter in total. */
function savedSeconds({ tasks }: Trace, { start, stop }: Span, faster: ReadonlyMap<number, number>): number {
  return tasks.duration.reduce((sum, seconds, row) => {
    const isInside = tasks.started[row]! >= start && tasks.started[row]! <= stop;
    return sum + (isInside ? Math.max(0, seconds * (1 - 1 / (faster.get(tasks.prefix[row]!) ?? 1))) || 0 : 0);
  }, 0);
}

/** Returns the longest chain and the sum of the tasks' seconds. */
function bounds({ size, seconds, dependencyOffsets, dependencies }: ReplayGraph): {
  floor: number;
  work: number;
} {
  const ends = new Float64Array(size);
  let [floor, work] = [0, 0];
  for (let id = 0; id < size; id++) {
    let begin = 0;
    for (let edge = dependencyOffsets[id]!; edge < dependencyOffsets[id + 1]!; edge++)
      begin = Math.max(begin, ends[dependencies[edge]!]!);
    ends[id] = begin + seconds[id]!;
    floor = Math.max(floor, ends[id]!);
    work += seconds[id]!;
  }
  return { floor, work };
}

/** @param each threads of a worker, which share its memory */
function changed(recorded: ReplayConditions, options: SimulateOptions, each: number): ReplayConditions {
  const { workers, bandwidth, memoryLimit, schedulerOverhead } = options;
  if (bandwidth !== undefined) check('bandwidth', bandwidth, bandwidth > 0, 'bytes per second above 0');
  if (memoryLimit !== undefined)
    check('memoryLimit', memoryLimit, memoryLimit >= 0, 'bytes, or 0 for no limit');
  if (schedulerOverhead !== undefined)
    check('schedulerOverhead', schedulerOverhead, schedulerOverhead >= 0, 'seconds of at least 0');
  return {
    ...recorded,
    ...(workers === undefined ? {} : { workers: workers * each }),
    ...(bandwidth === undefined ? {} : { bandwidth }),
    ...(memoryLimit === undefined
      ? {}
      : { memory: ((memoryLimit || Number.POSITIVE_INFINITY) * MEMORY_TARGET) / each }),
    ...(schedulerOverhead === undefined ? {} : { schedulerSeconds: schedulerOverhead }),
    ...(schedulerOverhead === 0 ? { taskOverhead: 0, latency: 0, followLatency: 0, report: 0 } : {}),
  };
}

function factors(
  trace: Trace,
  given: Readonly<Record<string, number>> = {},
  whole = false,
): ReadonlyMap<number, number> {
  const result = new Map<number, number>();
  const ids = new Set(Object.keys(given).length === 0 ? [] : trace.tasks.prefix);
  const names = new Map([...ids].filter((id) => id >= 0).map((id) => [trace.strings.get(id), id]));
  for (const [name, factor] of Object.entries(given)) {
    const isCount = Number.isInteger(factor) && factor >= 1;
    const isNumber = factor > 0 && factor < Number.POSITIVE_INFINITY;
    if (whole) check(`split of '${name}'`, factor, isCount, 'a whole number of at least 1');
    else check(`faster of '${name}'`, factor, isNumber, 'a number above 0');
    const id = names.get(name);
    if (id === undefined) {
      throw invalidArgument(
        `The trace has no prefix '${name}'. Its prefixes are: ${[...names.keys()].slice(0, 20).join(', ')}.`,
      );
    }
    result.set(id, factor);
  }
  return result;
}

function check(name: string, value: number, isGood: boolean, expected: string): void {
  if (isGood) return;
  throw invalidArgument(`The option ${name} is ${value}: give ${expected}.`);
}
