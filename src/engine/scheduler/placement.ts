// Chooses the worker for a task that could run. Weighs the place of its input bytes against the time until the worker
// is free, like Dask's objective. Tasks with small inputs go to the common queue, from which workers take tasks
// themselves.
import type { SchedulerColumns } from './schedulerColumns.js';
import type { WorkerState } from './workerState.js';

/** The part of the scheduler's state on which a placement depends. */
export interface PlacementState extends SchedulerColumns {
  readonly workers: ReadonlyMap<number, WorkerState>;
  readonly restricted: boolean;
  readonly storedCount: number;
  readonly now: number;
  mayRun(id: number, worker: WorkerState): boolean;
  unplace(id: number, worker: WorkerState): void;
}

/** Input bytes below which a transfer is negligible. */
const PLACE_BYTES = 64 * 1024;
/** Bytes per second between two workers before the first measurement. */
const DEFAULT_BANDWIDTH = 1e9;

/** Returns a worker; 'any' for the common queue; 'none' if no worker may run the task now. */
export function choosePlace(state: PlacementState, id: number): WorkerState | 'any' | 'none' {
  const segment = state.restricted ? state.graph.segmentOf(id) : null;
  const isRestricted = segment !== null && (segment.workers !== null || segment.resources !== null);
  const bytes = state.storedCount > 0 ? inputBytes(state, id) : NO_BYTES;
  if (!isRestricted && bytes.total < PLACE_BYTES) return 'any';
  let best: WorkerState | undefined;
  let lowest = Number.POSITIVE_INFINITY;
  for (const worker of state.workers.values()) {
    if (isRestricted && !state.mayRun(id, worker)) continue;
    const cost = startCost(state, worker, bytes);
    if (cost >= lowest) continue;
    lowest = cost;
    best = worker;
  }
  if (best !== undefined) return best;
  return isRestricted ? 'none' : 'any';
}

/** Tasks of a batch that an estimate samples, because most batches have one kind of tasks. */
const SAMPLE = 8;

/** Returns the expected seconds of the worker's tasks and of those placed there. An estimate, because it costs O(1). */
export function occupancyOf(state: PlacementState, worker: WorkerState): number {
  let seconds = worker.placedWork.seconds;
  for (const { ids, left } of worker.batches) {
    // Batches run in order, so the unfinished tasks are the last ones.
    const step = Math.max(1, Math.floor(left / SAMPLE));
    let looked = 0;
    let sum = 0;
    for (let index = ids.length - left; index < ids.length; index += step) {
      sum += state.load(ids[index]!);
      looked++;
    }
    seconds += (sum * left) / looked;
  }
  return seconds + overdueSeconds(state, worker);
}

/**
 * Returns by how much the worker's present task runs longer than expected. Such a task is expected to run once more as
 * long as it has run.
 *
 * @source Dask's scheduler, which counts twice the elapsed time of a task that exceeds its expected duration
 */
export function overdueSeconds(state: PlacementState, { batches, since }: WorkerState): number {
  const first = batches[0];
  if (first === undefined) return 0;
  return Math.max(0, state.now - since - state.load(first.ids[first.ids.length - first.left]!));
}

/**
 * Returns the expected seconds until the task could start there. A paused worker is worse than any other, one that
 * leaves takes no task, and a full one may take none for long.
 */
function startCost(state: PlacementState, worker: WorkerState, bytes: InputBytes): number {
  const missing = bytes.total - (bytes.at.get(worker.index) ?? 0);
  const penalty = worker.full ? 1e12 : worker.leaving ? 1e10 : worker.paused ? 1e9 : 0;
  return occupancyOf(state, worker) + missing / DEFAULT_BANDWIDTH + penalty;
}

interface InputBytes {
  readonly total: number;
  /** Worker → bytes of inputs that it holds. */
  readonly at: ReadonlyMap<number, number>;
}

const NO_BYTES: InputBytes = { total: 0, at: new Map() };

/** Returns the stored results that a task needs, by worker. */
function inputBytes(state: PlacementState, id: number): InputBytes {
  const { dependencyOffsets, dependencies } = state.graph;
  let total = 0;
  let at: Map<number, number> | undefined;
  const end = dependencyOffsets[id + 1]!;
  for (let edge = dependencyOffsets[id]!; edge < end; edge++) {
    const dependency = dependencies[edge]!;
    const origin = state.graph.originOf(dependency);
    if (state.stored[origin] === 0) continue;
    const size = state.nbytes[origin]!;
    total += size;
    at ??= new Map();
    const holder = state.location[origin]!;
    at.set(holder, (at.get(holder) ?? 0) + size);
    for (const worker of state.workers.values()) {
      if (worker.index !== holder && (worker.replicas.has(dependency) || worker.storeCopies.has(origin)))
        at.set(worker.index, (at.get(worker.index) ?? 0) + size);
    }
  }
  return at === undefined ? NO_BYTES : { total, at };
}

/** Returns the seconds for moving a task's stored inputs to a worker. */
export function moveSeconds(state: PlacementState, id: number, worker: WorkerState): number {
  const bytes = inputBytes(state, id);
  return (bytes.total - (bytes.at.get(worker.index) ?? 0)) / DEFAULT_BANDWIDTH;
}

/**
 * Returns a task that an idle worker should take over from a busy one, because moving its inputs takes less time than
 * waiting. Undefined if there is none.
 */
export function takeOver(state: PlacementState, idle: WorkerState): number | undefined {
  for (const victim of state.workers.values()) {
    if (victim === idle || victim.placed.size === 0) continue;
    if (victim.outstanding === 0 && !victim.paused && !victim.quarantined) continue;
    for (const id of victim.placed) {
      if (!state.mayRun(id, idle)) continue;
      const wait = victim.paused ? Number.POSITIVE_INFINITY : occupancyOf(state, victim) - state.load(id);
      if (moveSeconds(state, id, idle) >= wait) break;
      state.unplace(id, victim);
      return id;
    }
  }
  return undefined;
}
