// Chooses the tasks that go to a worker in one message. Where possible, a batch is a connected part of the graph:
// after a task, those dependents may follow whose other dependencies are at the same worker. Most results then never
// leave their isolate. The size of a batch depends on time, not on a count. Tasks known to be short travel by the
// thousand and long ones alone, so that the work stays divisible.
import { NO_IDS } from '../../protocol/isolateMessages.js';
import { dependenciesOf } from '../../protocol/program.js';
import type { Dispatch } from './events.js';
import { moveSeconds, overdueSeconds } from './placement.js';
import { isOnlyFor, mayAwaitJoin, mayStayPrivate } from './privacy.js';
import { nextRoot } from './regions.js';
import { STORED } from './schedulerColumns.js';
import type { SchedulerState } from './schedulerState.js';
import { PROCESSING } from './taskStates.js';
import type { SentBatch, WorkerState } from './workerState.js';

export interface BatchLimits {
  /** Most tasks in a batch. */
  readonly maxTasks: number;
  /** Expected seconds of work in a batch. */
  readonly targetSeconds: number;
  /** Limit for tasks that use results of the batch, in seconds: their inputs need not leave the isolate. */
  readonly maxFollowSeconds: number;
  /** Expected seconds of a task whose function has not been measured yet. */
  readonly unknownSeconds: number;
  /**
   * Batches sent to a worker and not finished. One runs and the others wait in its queue, so that the worker never
   * idles.
   */
  readonly maxBatches: number;
  /** See OpenRunMessage.concurrentTasks. */
  readonly concurrentTasks: number;
  /** Seconds of work below which dividing it among workers does not pay. */
  readonly minimumSeconds: number;
}

export const DEFAULT_LIMITS: BatchLimits = {
  maxTasks: 4096,
  targetSeconds: 2e-3,
  maxFollowSeconds: 20e-3,
  unknownSeconds: 0.5e-3,
  maxBatches: 2,
  concurrentTasks: 1,
  minimumSeconds: 100e-6,
};

/** Largest number of tasks in the batches of a worker. */
export const MOST_IN_BATCHES = DEFAULT_LIMITS.maxTasks * DEFAULT_LIMITS.maxBatches;

/**
 * Returns the number of batches that a worker may have. If tasks leave their slots, as many again are on their way, up
 * to the number that may overlap. Their number doubles with each answer, so that a slow answer costs little.
 */
export function mostBatches({ seceded, outstanding }: WorkerState, limits: BatchLimits): number {
  const { maxBatches, maxTasks, concurrentTasks } = limits;
  // The worker's log has room for these tasks.
  if (seceded.size === 0 || outstanding > (maxBatches - 1) * maxTasks) return maxBatches;
  return maxBatches + Math.max(0, Math.min(seceded.size, concurrentTasks - seceded.size - 1));
}

/** Takes tasks for one batch, in priority order, and assigns them to the worker. Null if the worker has nothing to do. */
export function buildBatch(
  state: SchedulerState,
  worker: WorkerState,
  limits: BatchLimits,
  number: number,
): SentBatch | null {
  if (worker.quarantined || worker.full || worker.batches.length >= mostBatches(worker, limits)) return null;
  // Until the worker has answered a steal, it is unknown which of its tasks remain. No batch may rely on them.
  if (worker.stealState === 'requested') return null;
  if (state.graph.order !== null && worker.batches.some(({ ids }) => travelsAlone(state, ids[0]!, limits)))
    return null;
  const ids = worker.paused
    ? chooseWhilePaused(state, worker, number)
    : chooseTasks(state, worker, limits, number);
  if (ids.length === 0) return null;
  const batch: SentBatch = { number, ids: new Int32Array(ids), left: ids.length };
  if (worker.batches.length === 0) worker.since = state.now;
  worker.batches.push(batch);
  worker.outstanding += ids.length;
  return batch;
}

/** The sets from which a worker may take tasks, and its candidates in them. */
interface Candidates {
  readonly root: number;
  readonly follower: number;
  readonly placed: number;
}

function chooseTasks(
  state: SchedulerState,
  worker: WorkerState,
  limits: BatchLimits,
  number: number,
): number[] {
  const { queued } = state;
  const ids: number[] = [];
  // Leaves the other workers their share of the tasks that could start now.
  let share = Math.ceil(queued.size / (2 * Math.max(1, state.workers.size)));
  let seconds = 0;
  let end = Number.POSITIVE_INFINITY;
  let begin = 0;
  while (ids.length < limits.maxTasks && seconds < limits.maxFollowSeconds) {
    const candidates = {
      root: nextRoot(state, worker),
      follower: worker.followers.min(),
      placed: worker.placed.min(),
    };
    const id = choose(state, candidates, seconds >= limits.targetSeconds);
    if (id < begin || id >= end) break;
    if (id === candidates.root && share-- <= 0 && seconds >= limits.minimumSeconds) break;
    const suspect = state.deaths[id]! > 0;
    const isAlone = suspect || travelsAlone(state, id, limits);
    if (isAlone && (ids.length > 0 || worker.batches.length > 0)) break;
    take(state, worker, id, candidates, number);
    ids.push(id);
    // A task that was at a worker when it died runs alone. If the next worker dies too, there is only one suspect.
    if (suspect) worker.quarantined = true;
    if (isAlone) break;
    // A message concerns one graph.
    if (ids.length === 1 && state.graph.segments.length > 1) {
      const segment = state.graph.segmentOf(id);
      begin = segment.base;
      end = segment.base + segment.size;
    }
    seconds += state.expectedSeconds(id) || limits.unknownSeconds;
  }
  return ids;
}

/**
 * Returns whether the worker must have no other task beside this one, because tasks differ in priority and the task may be
 * long. Another one would then wait behind it, or before it, while another worker has room for a task of lower priority.
 */
function travelsAlone(state: SchedulerState, id: number, { targetSeconds }: BatchLimits): boolean {
  if (state.graph.order === null) return false;
  return (state.expectedSeconds(id) || Number.POSITIVE_INFINITY) > targetSeconds;
}

/**
 * Chooses one task for an idle paused worker, if only paused workers may run it. Waiting alone would not free memory,
 * and the task must not hang.
 */
function chooseWhilePaused(state: SchedulerState, worker: WorkerState, number: number): number[] {
  if (worker.batches.length > 0 || (worker.leaving && worker.seceded.size === 0)) return [];
  const others = [...state.workers.values()].filter((other) => !other.paused);
  const candidates = {
    root: others.length === 0 ? state.queued.min() : -1,
    follower: -1,
    placed: worker.placed.min(),
  };
  const id = choose(state, candidates, false);
  if (id < 0 || others.some((other) => state.mayRun(id, other))) return [];
  take(state, worker, id, candidates, number);
  worker.quarantined = state.deaths[id]! > 0;
  return [id];
}

/**
 * Returns the task that should run first; -1 if there is none. A full batch accepts only tasks that follow from its
 * own, and none while tasks of the graph with a higher priority wait.
 */
function choose(state: SchedulerState, { root, follower, placed }: Candidates, full: boolean): number {
  let id = follower;
  if (full && (root < 0 || id < 0 || state.graph.order === null)) return id;
  if (full) return state.priorityOf(root) > state.priorityOf(id) ? -1 : id;
  if (root >= 0 && (id < 0 || state.isBefore(root, id))) id = root;
  if (placed >= 0 && (id < 0 || state.isBefore(placed, id))) id = placed;
  return id;
}

function take(
  state: SchedulerState,
  worker: WorkerState,
  id: number,
  from: Candidates,
  number: number,
): void {
  if (id === from.root) state.queued.delete(id);
  else if (id === from.follower) worker.followers.delete(id);
  else state.unplace(id, worker);
  state.batchOf[id] = number;
  state.assign(id, worker);
}

/** Returns whether a result may stay in its isolate. `next` is the task that runs there directly behind its task. */
function staysPrivate(state: SchedulerState, id: number, worker: WorkerState, next?: number): boolean {
  if (state.graph.requested[id] !== 0) return false;
  return (
    isOnlyFor(state, id, next) || mayStayPrivate(state, id, worker.index) || mayAwaitJoin(state, id, worker)
  );
}

/** Returns the task that runs directly before this batch; undefined if no batch is before it. */
function lastBefore({ batches }: WorkerState, batch: SentBatch): number | undefined {
  return batches[batches.indexOf(batch) - 1]?.ids.at(-1);
}

const NO_FLAGS = new Uint8Array(0);

/** Returns the message for a batch if the worker has all inputs: only the ids of the tasks. */
export function bareDispatch(worker: WorkerState, batch: SentBatch): Dispatch {
  return {
    type: 'dispatch',
    worker: worker.index,
    batch: batch.number,
    ids: batch.ids,
    publish: NO_FLAGS,
    keep: NO_IDS,
    inputs: NO_IDS,
  };
}

/** Returns the message for a batch: its tasks, the results to publish, and the inputs that the worker lacks. */
export function describeBatch(state: SchedulerState, worker: WorkerState, batch: SentBatch): Dispatch {
  const { graph, producer, batchOf } = state;
  const publish = new Uint8Array(batch.ids.length);
  const inputs: number[] = [];
  const keep: number[] = [];
  for (let index = 0; index < batch.ids.length; index++) {
    const id = batch.ids[index]!;
    publish[index] = staysPrivate(state, id, worker, batch.ids[index + 1]) ? 0 : 1;
    const end = graph.dependencyOffsets[id + 1]!;
    for (let edge = graph.dependencyOffsets[id]!; edge < end; edge++) {
      const dependency = graph.dependencies[edge]!;
      if (state.state[dependency] === PROCESSING) {
        const isFirst = index === 0 && lastBefore(worker, batch) === dependency;
        if (
          batchOf[dependency] !== batch.number &&
          staysPrivate(state, dependency, worker, isFirst ? id : undefined)
        )
          keep.push(dependency);
        continue;
      }
      const isThere = producer[dependency] === worker.index || worker.replicas.has(dependency);
      // Once the isolate has counted this task's use of an input, it may have dropped the input.
      if (isThere && (state.rerun[id] === 0 || inputs.includes(dependency))) continue;
      worker.replicas.add(dependency);
      inputs.push(dependency);
      const origin = graph.originOf(dependency);
      if (state.stored[origin] === 0 || state.location[origin] === worker.index) continue;
      // While a result is in transit, a worker to which it was sent does not count as its place.
      if (state.stored[origin] === STORED) worker.storeCopies.add(origin);
      else worker.unusedCopies.add(origin);
    }
  }
  return {
    ...bareDispatch(worker, batch),
    publish,
    keep: keep.length === 0 ? NO_IDS : new Int32Array(keep),
    inputs: inputs.length === 0 ? NO_IDS : new Int32Array(inputs),
  };
}

/**
 * Chooses tasks to take from the worker with the most work left (the victim) for a worker without work (the thief).
 * These are the last tasks of the queue: about half of those that could start now, and the tasks behind them. Null if
 * there are too few to be worth the message.
 *
 * @param eager also takes very little work, and counts for how long the victim's present task has run. Otherwise a report
 *   that is on its way would look like a long task
 */
export function chooseSteal(
  state: SchedulerState,
  thief: WorkerState,
  limits: BatchLimits,
  eager: boolean,
): { worker: WorkerState; ids: Int32Array } | null {
  let victim: WorkerState | null = null;
  let most = eager ? 0 : limits.minimumSeconds * 5;
  for (const worker of state.workerList) {
    if (worker.stealState !== 'idle' || worker.outstanding < 2) continue;
    const seconds = remainingSeconds(state, worker, limits) + (eager ? overdueSeconds(state, worker) : 0);
    if (seconds <= most) continue;
    victim = worker;
    most = seconds;
  }
  if (victim === null) return null;
  const ids = tail(state, victim, (id) => isWorthMoving(state, id, thief, most));
  if (ids.length === 0) return null;
  return { worker: victim, ids: new Int32Array(ids) };
}

/** Returns whether the thief may run the task and has its inputs before the victim would start it. */
function isWorthMoving(state: SchedulerState, id: number, thief: WorkerState, wait: number): boolean {
  if (!state.mayRun(id, thief)) return false;
  return state.storedCount === 0 || moveSeconds(state, id, thief) < wait;
}

/**
 * Chooses the tasks that a paused worker has not started, last first, because their results would fill its memory
 * further.
 */
export function chooseRecall(state: SchedulerState, worker: WorkerState): Int32Array | null {
  if (worker.stealState !== 'idle' || worker.outstanding < 2) return null;
  const unfinished = unfinishedTasks(state, worker);
  // The first task already runs.
  return unfinished.length < 2 ? null : Int32Array.from(unfinished.slice(1).reverse());
}

function remainingSeconds(state: SchedulerState, worker: WorkerState, limits: BatchLimits): number {
  let seconds = 0;
  for (const batch of worker.batches) {
    const { ids } = batch;
    // Batches finish in order, so the unfinished tasks are the last ones. That is exact enough for an estimate.
    for (let index = ids.length - batch.left; index < ids.length; index++)
      seconds += state.expectedSeconds(ids[index]!) || limits.unknownSeconds;
  }
  return seconds;
}

function tail(state: SchedulerState, victim: WorkerState, isMovable: (id: number) => boolean): number[] {
  const unfinished = unfinishedTasks(state, victim);
  const startable = unfinished.filter((id) => state.waiting[id] === 0).length;
  // The first task already runs. Dependencies of a task that stays must stay too.
  let wanted = startable >> 1;
  const ids: number[] = [];
  const needed = new Set<number>();
  while (wanted > 0 && unfinished.length > 1) {
    const id = unfinished.pop()!;
    if (needed.has(id) || !isMovable(id)) {
      for (const dependency of dependenciesOf(state.graph, id)) needed.add(dependency);
      continue;
    }
    ids.push(id);
    if (state.waiting[id] === 0) wanted--;
  }
  return ids;
}

/** Returns the unfinished tasks in the order in which they run. */
export function unfinishedTasks(
  { state, batchOf, held }: SchedulerState,
  { batches }: WorkerState,
): number[] {
  const unfinished: number[] = [];
  for (const { ids, number } of batches)
    for (const id of ids)
      if (state[id] === PROCESSING && batchOf[id] === number && !held.has(id)) unfinished.push(id);
  return unfinished;
}
