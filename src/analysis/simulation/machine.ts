// Models how workers on one machine slow one another down: they share cores, caches and memory, and isolates that start
// at the same time compete.

import type { Trace } from '../../trace/trace.js';
import { coreUseOf } from '../coreUse.js';
import type { Span } from '../spans.js';
import { median } from '../statistics.js';
import { submissionsOf } from '../submissionTimes.js';
import { firstStart, firstTasks, isRemote } from '../workerLives.js';

export interface Machine {
  /** Number of cores; NaN if unknown, so that workers do not affect one another. */
  readonly cores: number;
  readonly workers: number;
  /** Cores that one running task uses; below 1 if tasks mostly sleep. */
  readonly demand: number;
  /** Cores that other programs want, if tasks waited for them. Their number of threads is not known, so it is fitted. */
  readonly rivals: number;
  /** Seconds from the first submission to the start of the first tasks. */
  readonly startup: number;
  /** HELPER_WASTE, or 0 if workers are not isolates. */
  readonly waste: number;
}

/** Share by which tasks take longer for each doubling of their number on a machine with enough cores. */
const SHARED_MEMORY = 0.06;
/**
 * Share by which helper threads (mostly of the garbage collector) use more CPU at full overload. Helper threads wait
 * actively for one another, also for a thread without a core. Measured on two cores with tasks that allocate much: a
 * demand of 1.38 cores for one task, and of 1.52 each for two. Tasks on typed arrays have no helper threads, so they
 * are not affected.
 */
const HELPER_WASTE = 0.37;
/** Relative excess of wanted over existing cores from which HELPER_WASTE applies fully. */
const FULL_OVERLOAD = 0.25;
/** Cores that a starting isolate uses, with its threads for compilation and garbage collection. */
const STARTING_DEMAND = 1.4;
/**
 * Cores that the program uses during the start of workers. On two cores, two workers took 1.52 times as long to start
 * as one (1.47 to 1.6; six programs, 24 recordings each).
 */
const STARTING_PROGRAM = 0.26;
/** Seconds before the first task below which the workers had started already. */
const MIN_STARTUP = 5e-3;
/** Ratio to the first worker's start above which a worker was idle at first, not starting. */
const LATE = 1.5;

export function machineOf(trace: Trace, workers: number, window?: Span): Machine {
  const { cores, demand } = coreUseOf(trace);
  return {
    cores,
    workers,
    demand,
    rivals: 0,
    startup: window !== undefined && firstStart(trace) < window.start ? 0 : startupSeconds(trace),
    waste: isRemote(trace) ? 0 : HELPER_WASTE,
  };
}

/**
 * Returns the threads of each worker of a Dask cluster; NaN if workers differ. Longpole's workers have one thread. If a
 * trace has no number of threads, it is 1.
 */
export function threadsPerWorker(trace: Trace): number {
  if (!isRemote(trace)) return 1;
  const [first = 1] = trace.workers.threads;
  return trace.workers.threads.every((threads) => threads === first) ? first : Number.NaN;
}

/** Returns the factor by which tasks take longer, by the number of `workers` that run a task; see ReplayConditions. */
export function stretchOf(machine: Machine, workers: number): Float64Array {
  const { cores, workers: seen, rivals } = machine;
  if (!(cores > 0)) return new Float64Array(0);
  // More workers than recorded run on more machines of the same kind, with the same other programs. A part of a machine is
  // as full as a whole one, so that no number of workers has more room than the next.
  const machines = Math.max(1, workers / Math.max(cores, seen));
  return Float64Array.from({ length: workers + 1 }, (_, running) => {
    // A task runs on one machine.
    const here = Math.max(Math.min(1, running), running / machines);
    const crowd = Math.max(1, (wanted(here, machine) + rivals) / cores);
    return crowd * memoryStretch(computing(here, machine), cores);
  });
}

/** Returns the mean number of `running` tasks that compute and do not sleep. */
export function computing(running: number, { demand }: Pick<Machine, 'demand'>): number {
  return running * Math.min(1, demand);
}

/** Returns the cores that `running` tasks use, with their helper threads. */
export function wanted(running: number, { demand, cores, waste: most }: Machine): number {
  if (demand <= 1) return running * demand;
  const overload = (running * demand) / cores - 1;
  const waste = most * Math.min(1, Math.max(0, overload / FULL_OVERLOAD));
  return running * (1 + (demand - 1) * (1 + waste));
}

/** Returns the factor by which shared caches and memory make tasks longer. */
export function memoryStretch(running: number, cores: number): number {
  return 1 + SHARED_MEMORY * Math.log2(Math.max(1, Math.min(running, cores)));
}

/** Returns the seconds until `workers` have started. */
export function startupOf({ cores, workers: seen, startup, rivals }: Machine, workers: number): number {
  if (!(cores > 0)) return startup;
  const crowd = (count: number) => {
    const starting = Math.min(count, Math.max(cores, seen)) * STARTING_DEMAND;
    return Math.max(1, (starting + STARTING_PROGRAM + rivals) / cores);
  };
  return (startup * crowd(workers)) / crowd(seen);
}

/** Returns the median seconds from the first submission to a worker's first task; 0 if workers had started before. */
function startupSeconds(trace: Trace): number {
  const [first = Number.NaN] = submissionsOf(trace).time;
  const begins = firstTasks(trace).map((time) => time - first);
  const earliest = begins.reduce((least, begin) => Math.min(least, begin), Number.POSITIVE_INFINITY);
  if (!(earliest >= MIN_STARTUP) || earliest === Number.POSITIVE_INFINITY) return 0;
  return median(begins.filter((begin) => begin <= LATE * earliest));
}
