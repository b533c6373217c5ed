// What workers that share a machine cost each other: cores that they all want, caches and memory behind them, and isolates
// that start at the same time.
import type { Trace } from '../../trace/trace.js';
import { coreUseOf } from '../coreUse.js';
import { lanesOf } from '../lanes.js';
import type { Window } from '../path/pathWalk.js';
import { median } from '../statistics.js';
import { submissionsOf } from '../submissionTimes.js';
import { firstStart } from '../workerStarts.js';

/** A machine as it was seen, and how many workers it had. */
export interface Machine {
  /** NaN: not known; then workers do not get in each other's way. */
  readonly cores: number;
  readonly workers: number;
  /** Cores that one running task wants; less than one where tasks mostly sleep. */
  readonly demand: number;
  /** Seconds from the first submission until workers began. */
  readonly startup: number;
  /** See HELPER_WASTE; 0 where workers are no isolates. */
  readonly waste: number;
}

/** Share by which tasks take longer each time their number on a machine doubles, although all have a core. */
export const SHARED_MEMORY = 0.06;
/**
 * Threads that help tasks (parallel garbage collection above all) wait for each other actively: where cores are short, for
 * one that has none. From so much overload on they need this share more. Measured on two cores with tasks that allocate
 * much (demand 1.38 of one, 1.52 of two together); tasks on typed arrays have no helpers, and nothing changes for them.
 */
const HELPER_WASTE = 0.37;
const FULL_OVERLOAD = 0.25;
/** Cores that an isolate keeps busy while it starts: compiling and collecting garbage have threads of their own. */
const STARTING_DEMAND = 1.4;
/**
 * And the program meanwhile, which submits what they will run. Two workers took 1.52 times as long to start as one, on two
 * cores: 24 recordings of each, of six programs (1.47 to 1.6).
 */
const STARTING_PROGRAM = 0.26;
/** Seconds; whatever began earlier was there already. */
const MIN_STARTUP = 5e-3;
/** Workers that began this many times later than the first had nothing to do before. */
const LATE = 1.5;

export function machineOf(trace: Trace, workers: number, window?: Window): Machine {
  const { cores, demand } = coreUseOf(trace);
  return {
    cores,
    workers,
    demand,
    startup: window !== undefined && firstStart(trace) < window.start ? 0 : startupSeconds(trace),
    waste: isRemote(trace) ? 0 : HELPER_WASTE,
  };
}

/** Longpole's own workers are at `thread://`, `process://` and, at workers of Dask, `longpole+tcp://` and so on. */
const DASK_ADDRESS = /^(tcp|tls|ucx|ucxx|ws|wss|inproc):\/\//;

/** The scheduler is a process of its own and the workers are Dask's: processes of Python, which have no helper threads. */
export function isRemote({ workers, strings }: Trace): boolean {
  return workers.address.some((id) => id >= 0 && DASK_ADDRESS.test(strings.get(id)));
}

/**
 * Threads of each worker of a Dask cluster; NaN: its workers differ. Workers of Longpole have one, and so has what the trace
 * does not say.
 */
export function threadsPerWorker(trace: Trace): number {
  if (!isRemote(trace)) return 1;
  const [first = 1] = trace.workers.threads;
  return trace.workers.threads.every((threads) => threads === first) ? first : Number.NaN;
}

/** How many times longer a task takes, by how many of the `workers` run one: see ReplayConditions. */
export function stretchOf(machine: Machine, workers: number): Float64Array {
  const { cores, workers: seen } = machine;
  if (!(cores > 0)) return new Float64Array(0);
  // More workers than a machine was seen with have more machines like it.
  const machines = Math.ceil(workers / Math.max(cores, seen));
  return Float64Array.from({ length: workers + 1 }, (_, running) => {
    const here = running / machines;
    return Math.max(1, wanted(here, machine) / cores) * memoryStretch(computing(here, machine), cores);
  });
}

/** How many of so many tasks compute at a time, and do not sleep. */
export function computing(running: number, { demand }: Pick<Machine, 'demand'>): number {
  return running * Math.min(1, demand);
}

/** Cores that so many tasks want, with what helps them. */
function wanted(running: number, { demand, cores, waste: most }: Machine): number {
  if (demand <= 1) return running * demand;
  const overload = (running * demand) / cores - 1;
  const waste = most * Math.min(1, Math.max(0, overload / FULL_OVERLOAD));
  return running * (1 + (demand - 1) * (1 + waste));
}

/** How many times longer tasks take because others compute beside them. */
export function memoryStretch(running: number, cores: number): number {
  return 1 + SHARED_MEMORY * Math.log2(Math.max(1, Math.min(running, cores)));
}

/** Seconds until `workers` are there. */
export function startupOf({ cores, workers: seen, startup }: Machine, workers: number): number {
  if (!(cores > 0)) return startup;
  const crowd = (count: number) =>
    Math.max(1, (Math.min(count, Math.max(cores, seen)) * STARTING_DEMAND + STARTING_PROGRAM) / cores);
  return (startup * crowd(workers)) / crowd(seen);
}

/** From the first submission until workers that had something to do began; 0 where they were there before. */
function startupSeconds(trace: Trace): number {
  const [first = Number.NaN] = submissionsOf(trace).time;
  const { count, spans, offsets } = lanesOf(trace);
  const begins = Float64Array.from({ length: count }, (_, lane) => {
    return trace.tasks.started[spans.rows[offsets[lane]!]!]! - first;
  });
  const earliest = begins.reduce((least, begin) => Math.min(least, begin), Number.POSITIVE_INFINITY);
  if (!(earliest >= MIN_STARTUP) || earliest === Number.POSITIVE_INFINITY) return 0;
  return median(begins.filter((begin) => begin <= LATE * earliest));
}
