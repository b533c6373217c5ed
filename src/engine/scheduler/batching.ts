// Which tasks go to a worker in one message. A batch is a connected piece of the graph where it can be: after each
// task, the dependents whose other dependencies are at the same worker may follow, so that most results never leave
// their isolate. How much goes in is a matter of time, not of count: tasks that are known to be short travel by the
// thousand, long ones alone, so that the work stays divisible.
import type { Dispatch } from './events.js';
import { moveSeconds } from './placement.js';
import { mayStayPrivate } from './privacy.js';
import { STORED } from './schedulerColumns.js';
import type { SchedulerState } from './schedulerState.js';
import { PROCESSING } from './taskStates.js';
import type { Batch, WorkerState } from './workerState.js';

export interface BatchLimits {
  /** Tasks in a batch. */
  readonly maxTasks: number;
  /** Expected seconds of work in a batch. */
  readonly targetSeconds: number;
  /** Tasks that use what the batch makes may follow until this much: their inputs need not leave the isolate. */
  readonly maxFollowSeconds: number;
  /** What a task of a function that was not measured yet is expected to take. */
  readonly unknownSeconds: number;
  /** Batches sent to a worker and not finished: one runs, the others wait in its queue, so that it never idles. */
  readonly maxBatches: number;
  /** Work below this is not worth dividing among workers. */
  readonly minimumSeconds: number;
}

export const DEFAULT_LIMITS: BatchLimits = {
  maxTasks: 4096,
  targetSeconds: 2e-3,
  maxFollowSeconds: 20e-3,
  unknownSeconds: 0.5e-3,
  maxBatches: 2,
  minimumSeconds: 100e-6,
};

/** Takes tasks for one batch, in priority order, and assigns them to the worker. Null: nothing to do there. */
export function buildBatch(
  state: SchedulerState,
  worker: WorkerState,
  limits: BatchLimits,
  number: number,
): Batch | null {
  if (worker.quarantined || worker.full || worker.batches.length >= limits.maxBatches) return null;
  // Until it is known what was taken from it, nothing may be sent that counts on what it still has.
  if (worker.robbed === 'asked') return null;
  const ids = worker.paused ? chooseWhilePaused(state, worker) : chooseTasks(state, worker, limits);
  if (ids.length === 0) return null;
  for (const id of ids) state.batchOf[id] = number;
  const batch: Batch = { number, ids: new Int32Array(ids), left: ids.length };
  worker.batches.push(batch);
  worker.outstanding += ids.length;
  return batch;
}

/** The sets that a worker may take from, and what is there for it. */
interface Candidates {
  readonly root: number;
  readonly follower: number;
  readonly placed: number;
}

function chooseTasks(state: SchedulerState, worker: WorkerState, limits: BatchLimits): number[] {
  const { queued } = state;
  const ids: number[] = [];
  // Leave the other workers their share of what could start now.
  let share = Math.ceil(queued.size / (2 * Math.max(1, state.workers.size)));
  let seconds = 0;
  let end = Number.POSITIVE_INFINITY;
  let begin = 0;
  while (ids.length < limits.maxTasks && seconds < limits.maxFollowSeconds) {
    const candidates = {
      root: queued.min(),
      follower: worker.followers.min(),
      placed: worker.placed.min(),
    };
    const id = choose(state, candidates, seconds >= limits.targetSeconds);
    if (id < begin || id >= end) break;
    if (id === candidates.root && share-- <= 0 && seconds >= limits.minimumSeconds) break;
    const suspect = state.deaths[id]! > 0;
    if (suspect && (ids.length > 0 || worker.batches.length > 0)) break;
    take(state, worker, id, candidates);
    ids.push(id);
    // A task that was there when a worker died runs alone, so that the next death, if it comes, has one suspect.
    if (suspect) {
      worker.quarantined = true;
      break;
    }
    // A message is about one graph.
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
 * A paused worker that has nothing gets one task, if nobody who is not paused may run it: its memory will not become
 * free by waiting alone, and nothing may hang.
 */
function chooseWhilePaused(state: SchedulerState, worker: WorkerState): number[] {
  if (worker.batches.length > 0) return [];
  const others = [...state.workers.values()].filter((other) => !other.paused);
  const candidates = {
    root: others.length === 0 ? state.queued.min() : -1,
    follower: -1,
    placed: worker.placed.min(),
  };
  const id = choose(state, candidates, false);
  if (id < 0 || others.some((other) => state.mayRun(id, other))) return [];
  take(state, worker, id, candidates);
  worker.quarantined = state.deaths[id]! > 0;
  return [id];
}

/** The one that should run first; -1: none. A full batch takes only what follows from it. */
function choose(state: SchedulerState, { root, follower, placed }: Candidates, full: boolean): number {
  let id = follower;
  if (full) return id;
  if (root >= 0 && (id < 0 || state.isBefore(root, id))) id = root;
  if (placed >= 0 && (id < 0 || state.isBefore(placed, id))) id = placed;
  return id;
}

function take(state: SchedulerState, worker: WorkerState, id: number, from: Candidates): void {
  if (id === from.root) state.queued.delete(id);
  else if (id === from.follower) worker.followers.delete(id);
  else state.unplace(id, worker);
  state.assign(id, worker);
}

function staysPrivate(state: SchedulerState, id: number, worker: WorkerState): boolean {
  return state.graph.requested[id] === 0 && mayStayPrivate(state, id, worker.index);
}

const NO_FLAGS = new Uint8Array(0);
const NO_IDS = new Int32Array(0);

/** The message for a batch whose inputs all lie where it runs: its tasks only. */
export function bareDispatch(worker: WorkerState, batch: Batch): Dispatch {
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

/** The message for a batch: what the worker has to publish, and the results that it lacks. */
export function describeBatch(state: SchedulerState, worker: WorkerState, batch: Batch): Dispatch {
  const { graph, producer, batchOf } = state;
  const publish = new Uint8Array(batch.ids.length);
  const inputs: number[] = [];
  const keep: number[] = [];
  for (let index = 0; index < batch.ids.length; index++) {
    const id = batch.ids[index]!;
    publish[index] = staysPrivate(state, id, worker) ? 0 : 1;
    const end = graph.dependencyOffsets[id + 1]!;
    for (let edge = graph.dependencyOffsets[id]!; edge < end; edge++) {
      const dependency = graph.dependencies[edge]!;
      if (state.state[dependency] === PROCESSING) {
        if (batchOf[dependency] !== batch.number && staysPrivate(state, dependency, worker))
          keep.push(dependency);
        continue;
      }
      const isThere = producer[dependency] === worker.index || worker.replicas.has(dependency);
      // Once it has counted a task's use of an input, the isolate may have dropped that input.
      if (isThere && (state.rerun[id] === 0 || inputs.includes(dependency))) continue;
      worker.replicas.add(dependency);
      inputs.push(dependency);
      const origin = graph.originOf(dependency);
      if (state.stored[origin] === 0 || state.location[origin] === worker.index) continue;
      // While a result is looked for, who is sent to look for it is not where it is.
      if (state.stored[origin] === STORED) worker.spares.add(origin);
      else worker.leftovers.add(origin);
    }
  }
  return {
    type: 'dispatch',
    worker: worker.index,
    batch: batch.number,
    ids: batch.ids,
    publish,
    keep: keep.length === 0 ? NO_IDS : new Int32Array(keep),
    inputs: inputs.length === 0 ? NO_IDS : new Int32Array(inputs),
  };
}

/**
 * Which tasks to take from the worker with the most work left, for one that has none (the thief): the last of its queue, about half
 * of those that could start now, and what stands behind them. Null: nothing worth the message.
 */
export function chooseSteal(
  state: SchedulerState,
  thief: WorkerState,
  limits: BatchLimits,
  eager: boolean,
): { worker: WorkerState; ids: Int32Array } | null {
  let victim: WorkerState | null = null;
  let most = eager ? 0 : limits.minimumSeconds * 5;
  for (const worker of state.workers.values()) {
    if (worker.robbed !== 'no' || worker.outstanding < 2) continue;
    const seconds = remainingSeconds(state, worker, limits);
    if (seconds <= most) continue;
    victim = worker;
    most = seconds;
  }
  if (victim === null) return null;
  const ids = tail(state, victim, (id) => isWorthMoving(state, id, thief, most));
  if (ids.length === 0) return null;
  return { worker: victim, ids: new Int32Array(ids) };
}

/** Whether the thief may run the task and has its inputs before the victim would get to it. */
function isWorthMoving(state: SchedulerState, id: number, thief: WorkerState, wait: number): boolean {
  if (!state.mayRun(id, thief)) return false;
  return state.storedCount === 0 || moveSeconds(state, id, thief) < wait;
}

/** What a paused worker has and has not begun, last first: what it makes would only fill its memory further. */
export function chooseRecall(state: SchedulerState, worker: WorkerState): Int32Array | null {
  if (worker.robbed !== 'no' || worker.outstanding < 2) return null;
  const unfinished = unfinishedTasks(state, worker);
  // The first one runs already.
  return unfinished.length < 2 ? null : Int32Array.from(unfinished.slice(1).reverse());
}

function remainingSeconds(state: SchedulerState, worker: WorkerState, limits: BatchLimits): number {
  let seconds = 0;
  for (const batch of worker.batches) {
    const { ids } = batch;
    // Batches finish in order, so the unfinished tasks are the last ones; an estimate needs no more.
    for (let index = ids.length - batch.left; index < ids.length; index++)
      seconds += state.expectedSeconds(ids[index]!) || limits.unknownSeconds;
  }
  return seconds;
}

function tail(state: SchedulerState, victim: WorkerState, isMovable: (id: number) => boolean): number[] {
  const unfinished = unfinishedTasks(state, victim);
  const startable = unfinished.filter((id) => state.waiting[id] === 0).length;
  // The first one runs already. What a task that stays depends on stays too.
  let wanted = startable >> 1;
  const ids: number[] = [];
  const needed = new Set<number>();
  while (wanted > 0 && unfinished.length > 1) {
    const id = unfinished.pop()!;
    if (needed.has(id) || !isMovable(id)) {
      const { dependencyOffsets, dependencies } = state.graph;
      for (let edge = dependencyOffsets[id]!; edge < dependencyOffsets[id + 1]!; edge++)
        needed.add(dependencies[edge]!);
      continue;
    }
    ids.push(id);
    if (state.waiting[id] === 0) wanted--;
  }
  return ids;
}

/** In the order in which they run. */
function unfinishedTasks({ state, batchOf, held }: SchedulerState, { batches }: WorkerState): number[] {
  const unfinished: number[] = [];
  for (const { ids, number } of batches)
    for (const id of ids)
      if (state[id] === PROCESSING && batchOf[id] === number && !held.has(id)) unfinished.push(id);
  return unfinished;
}
