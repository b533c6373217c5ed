// The makespan of a trace for several numbers of workers, and the number beyond which more workers help little.
import { checkArgument, TRACE } from '../base/arguments.js';
import { INSPECT } from '../base/printed.js';
import type { Trace } from '../trace/trace.js';
import { coreUseOf } from './coreUse.js';
import { lanesOf } from './lanes.js';
import { windowOf } from './path/pathWalk.js';
import { type SimulateOptions, type Simulation, Simulator } from './simulate.js';
import { rowColumns, Table } from './table.js';

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
  /** Why the rows say nothing about the run, e.g. after the loss of workers; undefined if they do. */
  readonly unfit: string | undefined;
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
  const { unfit } = simulator;
  return { rows, usefulWorkers: useful, recorded, lock, unfit, toTable, toString: text, [INSPECT]: text };
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
