// Simulates how long the recorded graph would take under other conditions: more workers, a faster network, a faster
// function. A discrete-event simulation with the policy of the engine and the measured durations.
import { ANY, checkArgument, checkOptions, NUMBER, type OptionKinds, TRACE } from '../base/arguments.js';
import { invalidArgument } from '../base/errors.js';
import { getOrMake } from '../base/lookUps.js';
import { INSPECT } from '../base/printed.js';
import type { Trace } from '../trace/trace.js';
import { coreUseOf } from './coreUse.js';
import { lanesOf } from './lanes.js';
import { contendedLock } from './leaseWaits.js';
import { requestedWindow, windowOf } from './path/pathWalk.js';
import { type Calibration, calibrationOf } from './simulation/calibration.js';
import { MEMORY_TARGET, recordedConditions } from './simulation/conditions.js';
import { startupOf, stretchOf, threadsPerWorker } from './simulation/machine.js';
import { Replay } from './simulation/replay.js';
import { replayGraphOf } from './simulation/replayGraph.js';
import type { ReplayConditions, ReplayGraph, ReplayResult } from './simulation/replayTypes.js';
import { Table } from './table.js';
import { rowColumns } from './valuesColumn.js';

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

export interface Simulation {
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
  /** Share of the workers' time in which tasks compute, 0 to 1. */
  readonly busy: number;
  /** Largest number of bytes of results in the memory of a worker. A memory limit of `held / 0.6` avoids spilling. */
  readonly held: number;
  /** Bytes written to disk. */
  readonly spilled: number;
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
export function simulate(trace: Trace, options: SimulateOptions = {}): Simulation {
  return new Simulator(trace, options).simulate(options.workers);
}

/** Simulates one graph with several numbers of workers. The options fix all other conditions. */
export class Simulator {
  /** Number of recorded workers. */
  readonly recordedWorkers: number;
  /** Threads of each worker; NaN if workers differ, so that each thread counts as a worker. */
  readonly threadsPerWorker: number;
  /** Lock or semaphore whose contention is the lower bound for all numbers of workers. */
  readonly lock: Scaling['lock'];
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

  constructor(trace: Trace, options: SimulateOptions = {}) {
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
    const { others, cores, lost, demand, isMeasured } = coreUseOf(trace);
    // A task that mostly sleeps cannot wait long for a core.
    const share = others / cores || 0;
    this.#others = isMeasured ? Math.min(lost, share) : Math.min(1, demand) * Math.min(1, share);
    const { floor, work } = bounds(this.#graph);
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
    const { makespan, busy, held, spilled } = this.#replay(threads);
    const { ratio, around, granularity } = this.#recorded;
    const least = Math.max(this.#floor, this.#work / threads);
    // If the recorded run was shorter than its simulation, the calibration must not undercut the longest chain.
    const calibrated = Math.max(this.#isBounded ? least : 0, makespan * ratio + around);
    const doublings = Math.log2((busy * threads) / this.#recorded.concurrency) || 0;
    const contention = Math.min(MAX_CONTENTION, Math.abs(doublings) * CONTENTION);
    const margin = Math.min(MAX_MARGIN, NOISE + contention + this.#others);
    // Another order of the last tasks changes the end by about one task. A single thread has no such effect.
    const end = threads === this.#recordedThreads || threads === 1 ? 0 : granularity;
    const starting = STARTING_NOISE * this.#startup(threads);
    const low = Math.min(calibrated, makespan + around) * (1 - margin) - end - starting;
    const high = Math.max(calibrated, makespan + around) * (1 + margin) + end + starting;
    // The band does not reach below the bounds of all schedules, except for the noise of durations.
    const bound = Math.max(least * (1 - margin), this.#locked * (1 - NOISE));
    return {
      makespan: calibrated,
      low: Math.min(calibrated, Math.max(low, bound)),
      high,
      busy,
      held,
      spilled,
    };
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
    if (whole)
      check(
        `split of '${name}'`,
        factor,
        Number.isInteger(factor) && factor >= 1,
        'a whole number of at least 1',
      );
    else
      check(
        `faster of '${name}'`,
        factor,
        factor > 0 && factor < Number.POSITIVE_INFINITY,
        'a number above 0',
      );
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

/** The conditions of the recording. */
export interface Recorded {
  readonly workers: number;
  /**
   * Threads of each worker; NaN if the workers of a Dask cluster differ, so that `workers` is the number of threads.
   */
  readonly threadsPerWorker: number;
  /** Seconds; NaN if no task ran. */
  readonly makespan: number;
  /** Mean number of cores that other programs kept busy; NaN if unknown. */
  readonly others: number;
}

/** The makespan by number of workers, and the useful number of workers. */
export interface Scaling {
  readonly rows: readonly Simulation[];
  /**
   * Number of workers beyond which an additional worker gives less than a tenth of the speed of the first one; Infinity
   * if every tried number is useful.
   */
  readonly usefulWorkers: number;
  readonly recorded: Recorded;
  /** Lock or semaphore that bounds rows, e.g. `Lock 'x'`, and the seconds below which no number of workers gets. */
  readonly lock: { readonly object: string; readonly seconds: number } | undefined;
  toTable(): Table;
  toString(): string;
  /** @internal */
  readonly [INSPECT]: () => string;
}

/** Smallest speedup by an additional worker that makes it useful. */
const WORTH = 0.1;
/** Largest number of workers of a sweep by default. */
const MOST_WORKERS = 4096;

/**
 * Returns the makespan for several numbers of workers: `workers`, or by default 1, 2, 4, … up to the useful number of
 * workers, at most 4,096.
 *
 * @throws LongpoleError as `simulate`
 */
export function scaling(
  trace: Trace,
  options: Omit<SimulateOptions, 'workers'> & { readonly workers?: readonly number[] } = {},
): Scaling {
  checkArgument('scaling(): trace', trace, TRACE);
  const { workers, ...conditions } = options;
  const hasTasks = lanesOf(trace).count > 0;
  const simulator = new Simulator(trace, conditions);
  const useful = usefulWorkers(simulator);
  const counts = !hasTasks ? [] : (workers ?? doublings(Number.isFinite(useful) ? useful * 2 : MOST_WORKERS));
  const rows = counts.map((count) => simulator.simulate(count));
  const window = windowOf(trace);
  const lock = rows.some(({ makespan }) => makespan <= (simulator.lock?.seconds ?? 0))
    ? simulator.lock
    : undefined;
  const recorded = {
    workers: simulator.recordedWorkers,
    threadsPerWorker: simulator.threadsPerWorker,
    makespan: window.stop - window.start,
    others: coreUseOf(trace).others,
  };
  const toTable = (): Table => scalingTable(rows, hasTasks ? simulator.simulate(1).makespan : Number.NaN);
  const text = (): string => toTable().toString();
  return { rows, usefulWorkers: useful, recorded, lock, toTable, toString: text, [INSPECT]: text };
}

function doublings(most: number): number[] {
  const counts: number[] = [];
  for (let count = 1; count <= Math.min(most, MOST_WORKERS); count *= 2) counts.push(count);
  return counts;
}

/** Doubles the number of workers until the added ones are not useful, and then halves the step. */
function usefulWorkers(simulator: Simulator): number {
  const one = simulator.simulate(1).makespan;
  const speedup = (workers: number) => one / simulator.simulate(workers).makespan;
  const isWorth = (from: number, to: number) => (speedup(to) - speedup(from)) / (to - from) >= WORTH;
  if (!(one > 0)) return 1;
  let good = 1;
  while (isWorth(good, good * 2)) {
    good *= 2;
    if (good >= MOST_WORKERS) return Number.POSITIVE_INFINITY;
  }
  for (let step = good / 2; step >= 1; step /= 2) if (isWorth(good, good + step)) good += step;
  return good;
}

/** Returns one row per simulation, with its speedup over `one`, the seconds with one worker. */
function scalingTable(rows: readonly Simulation[], one: number): Table {
  const { numbers } = rowColumns(rows);
  return new Table([
    numbers('Workers', ({ workers }) => workers),
    numbers('Makespan (s)', ({ makespan }) => makespan),
    numbers('Low (s)', ({ low }) => low),
    numbers('High (s)', ({ high }) => high),
    numbers('Speedup', ({ makespan }) => one / makespan),
    numbers('Busy (%)', ({ busy }) => busy * 100),
    numbers('Held (MB)', ({ held }) => held / 1e6),
    numbers('Spilled (MB)', ({ spilled }) => spilled / 1e6),
  ]);
}
