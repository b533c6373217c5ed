// Estimates how many workers a cluster could use.
import type { SchedulerState } from './schedulerState.js';
import type { WorkerState } from './workerState.js';

/** Seconds in which the present work should be done. */
const TARGET_SECONDS = 5;
/** Assumed duration of a task whose function has not been measured, as in Dask (`unknown-task-duration`). */
const UNKNOWN_SECONDS = 0.5;
/** Tasks of a queue or of a worker that an estimate samples. */
const SAMPLE = 100;

export interface DesireOptions {
  /** Seconds in which the present work should be done. Default 5. */
  readonly target?: number;
  /** Number of a function → seconds for which a task of it runs already, so that others may take as long. */
  readonly running?: ReadonlyMap<number, number>;
  /** Workers that finish their tasks and leave. Only the tasks that wait for them count, because others have to run them. */
  readonly leaving?: ReadonlySet<number>;
}

/**
 * Returns the number of workers that would do the present work in `target` seconds, but at most one per task. Workers
 * that have tasks count in any case. Tasks that no present worker may run count like others.
 *
 * @source Dask, `Scheduler.adaptive_target`
 */
export function desiredWorkers(
  state: SchedulerState,
  { target = TARGET_SECONDS, running, leaving }: DesireOptions = {},
): number {
  const secondsOf = (id: number): number =>
    Math.max(state.expectedSeconds(id) || UNKNOWN_SECONDS, running?.get(state.graph.functionOf[id]!) ?? 0);
  let seconds = sampledSum(state.queued, state.queued.size, secondsOf);
  seconds += sampledSum(state.parked, state.parked.size, secondsOf);
  let tasks = state.queued.size + state.parked.size;
  let busy = 0;
  for (const [index, worker] of state.workers) {
    if (leaving?.has(index)) {
      seconds += sampledSum(worker.placed, worker.placed.size, secondsOf);
      tasks += worker.placed.size;
      continue;
    }
    const own = worker.outstanding + worker.seceded.size + worker.placed.size;
    seconds += sampledSum(unfinishedTasks(worker), own, secondsOf);
    tasks += own;
    if (own > 0) busy++;
  }
  return Math.max(busy, Math.min(tasks, Math.ceil(seconds / target)));
}

function* unfinishedTasks({ batches, seceded, placed }: WorkerState): Generator<number> {
  // Batches run in order, so the unfinished tasks are the last ones.
  for (const { ids, left } of batches) yield* ids.subarray(ids.length - left);
  yield* seceded;
  yield* placed;
}

/** Returns the sum over `size` ids, estimated from the first of them. */
function sampledSum(ids: Iterable<number>, size: number, secondsOf: (id: number) => number): number {
  let looked = 0;
  let sum = 0;
  for (const id of ids) {
    if (looked === SAMPLE) break;
    sum += secondsOf(id);
    looked++;
  }
  return looked === 0 ? 0 : (sum * size) / looked;
}
