// Which tasks go to a worker in one message. A batch is a connected piece of the graph where it can be: after each
// task, the dependents whose other dependencies are at the same worker may follow, so that most results never leave
// their isolate. How much goes in is a matter of time, not of count: tasks that are known to be short travel by the
// thousand, long ones alone, so that the work stays divisible.
import type { Dispatch } from './events.js';
import type { Batch, SchedulerState, WorkerState } from './schedulerState.js';
import { PROCESSING } from './taskStates.js';

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
  if (worker.quarantined || worker.batches.length >= limits.maxBatches) return null;
  // Until it is known what was taken from it, nothing may be sent that counts on what it still has.
  if (worker.robbed === 'asked') return null;
  const ids = chooseTasks(state, worker, limits);
  if (ids.length === 0) return null;
  for (const id of ids) state.batchOf[id] = number;
  const batch: Batch = { number, ids: Int32Array.from(ids), left: ids.length };
  worker.batches.push(batch);
  worker.outstanding += ids.length;
  return batch;
}

function chooseTasks(state: SchedulerState, worker: WorkerState, limits: BatchLimits): number[] {
  const { queued } = state;
  const { followers } = worker;
  const ids: number[] = [];
  // Leave the other workers their share of what could start now.
  let share = Math.ceil(queued.size / (2 * Math.max(1, state.workers.size)));
  let seconds = 0;
  while (ids.length < limits.maxTasks) {
    const follower = followers.min();
    const root = queued.min();
    const full = seconds >= limits.targetSeconds;
    const takeRoot = root >= 0 && (follower < 0 || root < follower) && !full;
    const id = takeRoot ? root : follower;
    if (id < 0 || seconds >= limits.maxFollowSeconds) break;
    if (takeRoot && share-- <= 0 && seconds >= limits.minimumSeconds) break;
    if (state.deaths[id]! > 0) {
      if (ids.length === 0 && worker.batches.length === 0) {
        quarantine(state, worker, id, takeRoot);
        ids.push(id);
      }
      break;
    }
    (takeRoot ? queued : followers).delete(id);
    state.assign(id, worker);
    ids.push(id);
    seconds += state.expectedSeconds(id) || limits.unknownSeconds;
  }
  return ids;
}

/** A task that was there when a worker died runs alone, so that the next death, if it comes, has one suspect. */
function quarantine(state: SchedulerState, worker: WorkerState, id: number, root: boolean): void {
  (root ? state.queued : worker.followers).delete(id);
  state.assign(id, worker);
  worker.quarantined = true;
}

function staysPrivate(state: SchedulerState, id: number, worker: WorkerState): boolean {
  return state.graph.requested[id] === 0 && state.mayStayPrivate(id, worker.index);
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
      if (producer[dependency] === worker.index || worker.replicas.has(dependency)) continue;
      worker.replicas.add(dependency);
      inputs.push(dependency);
    }
  }
  return {
    type: 'dispatch',
    worker: worker.index,
    batch: batch.number,
    ids: batch.ids,
    publish,
    keep: Int32Array.from(keep),
    inputs: Int32Array.from(inputs),
  };
}

/**
 * Which tasks to take from the worker with the most work left, for one that has none: the last of its queue, about half
 * of those that could start now, and what stands behind them. Null: nothing worth the message.
 */
export function chooseSteal(
  state: SchedulerState,
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
  const ids = tail(state, victim);
  if (ids.length === 0) return null;
  return { worker: victim, ids: Int32Array.from(ids) };
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

function tail(state: SchedulerState, victim: WorkerState): number[] {
  const unfinished: number[] = [];
  let startable = 0;
  for (const batch of victim.batches) {
    for (const id of batch.ids) {
      if (state.state[id] !== PROCESSING || state.batchOf[id] !== batch.number || state.held.has(id))
        continue;
      unfinished.push(id);
      if (state.waiting[id] === 0) startable++;
    }
  }
  // The first one runs already.
  let wanted = startable >> 1;
  const ids: number[] = [];
  while (wanted > 0 && unfinished.length > 1) {
    const id = unfinished.pop()!;
    ids.push(id);
    if (state.waiting[id] === 0) wanted--;
  }
  return ids;
}
