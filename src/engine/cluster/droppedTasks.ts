// Reports the tasks that will have no result: those that failed, their dependents, and cancelled tasks.
// A task that no worker had has no run in the trace. It is counted by a metric, so that a trace has the numbers of all tasks.
import {
  type DropReason,
  droppedSamples,
  prefixOf,
  TASK_CANCELLED,
  TASK_ERRED,
} from '../../protocol/clusterObserver.js';
import type { ComputationState } from './computationState.js';
import type { MetricSink } from './engineParts.js';

/** @param locals local ids of tasks that will not run, and of imports, which are tasks of another computation */
export function reportDropped(
  engine: MetricSink,
  computation: ComputationState,
  locals: ArrayLike<number>,
  why: DropReason,
): void {
  const { info, runs, dropped, imports, segment } = computation;
  if (!engine.hasObservers || segment.data === true) return;
  const own = Array.from(locals).filter((local) => !imports.has(local) && !dropped.has(local));
  if (own.length === 0) return;
  engine.notify((observer) => observer.tasksDropped?.(info, own, why));
  const withoutRun = own.filter((local) => runs[local] === 0);
  for (const local of withoutRun) dropped.set(local, why);
  count(engine, computation, withoutRun, why, 1);
}

/** Reports a task that failed. It may have only lost runs, if it ended too many workers. */
export function reportFailed(
  engine: MetricSink,
  { info, imports, segment }: ComputationState,
  id: number,
): void {
  const local = id - segment.base;
  if (!engine.hasObservers || segment.data === true || imports.has(local)) return;
  engine.notify((observer) => observer.tasksDropped?.(info, [local], TASK_ERRED));
}

/** Reports those of the tasks as cancelled that never ran, because their results are not needed any more. */
export function reportUnneeded(engine: MetricSink, computation: ComputationState, locals: Int32Array): void {
  const { runs, reasons } = computation;
  // Most calls have tasks that ran, and make no array.
  let never: number[] | undefined;
  for (let index = 0; index < locals.length; index++) {
    const local = locals[index]!;
    if (runs[local] !== 0 || reasons.has(local)) continue;
    never ??= [];
    never.push(local);
  }
  if (never !== undefined) reportDropped(engine, computation, never, TASK_CANCELLED);
}

/** Takes tasks out of the counts, because they run after all, e.g. because a client retries them. */
export function reportUndropped(engine: MetricSink, computation: ComputationState, locals: Int32Array): void {
  const { dropped } = computation;
  if (dropped.size === 0) return;
  for (const local of locals) {
    const why = dropped.get(local);
    if (why !== undefined) count(engine, computation, [local], why, -1);
    dropped.delete(local);
  }
}

function count(
  engine: MetricSink,
  { info }: ComputationState,
  locals: readonly number[],
  why: DropReason,
  each: number,
): void {
  const prefixes = locals.map((local) => prefixOf(info, local));
  for (const sample of droppedSamples(prefixes, why, engine.clock(), each))
    engine.notify((observer) => observer.metric?.(sample));
}
