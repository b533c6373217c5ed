// Workers with a memory full of results that cannot be spilled. They wait, because a client may release results or a
// disk may get free space. When every worker waits and no task runs, the tasks that cannot run fail with the reason.

import { LongpoleError, TaskError } from '../../base/errors.js';
import { pushTo } from '../../base/lookUps.js';
import { visibleText } from '../../base/visibleText.js';
import { countText } from '../../base/words.js';
import { taskFunctionName } from '../runView.js';
import type { ComputationState } from './computationState.js';
import type { EngineParts } from './engineParts.js';

/** Minimum time between two warnings on one topic, in seconds: all workers notice a full disk at about the same time. */
const WARN_EVERY = 60;

export class FullWorkers {
  readonly #cluster: EngineParts;
  /** Topic → time of the last warning. */
  readonly #warned = new Map<string, number>();

  constructor(cluster: EngineParts) {
    this.#cluster = cluster;
  }

  /** Records an event and emits a warning of the process. */
  warn(topic: string, text: string, worker: number): void {
    this.#cluster.event(topic, text, worker);
    const now = this.#cluster.clock();
    if (now - (this.#warned.get(topic) ?? Number.NEGATIVE_INFINITY) < WARN_EVERY) return;
    this.#warned.set(topic, now);
    process.emitWarning(visibleText(text), { type: 'LongpoleWarning', code: 'LONGPOLE_SPILL_FAILED' });
  }

  /** Fails the tasks that no worker can run, if every worker has been full for a while. */
  check(): void {
    const workers = [...this.#cluster.workers.values()];
    const mayChange = workers.some(({ facts, full }) => facts === undefined || full?.still === false);
    const reasons = workers.flatMap(({ info, full }) => (full ? [{ worker: info.name, why: full.why }] : []));
    const reason = reasons[0];
    if (mayChange || reason === undefined) return;
    const ids = this.#cluster.scheduler.stuckTasks();
    if (ids.length === 0) return;
    for (const [computation, locals] of this.#byComputation(ids)) this.#explain(computation, locals, reason);
    this.#cluster.handleEvent({ type: 'tasks-stuck', ids });
  }

  #byComputation(ids: readonly number[]): ReadonlyMap<ComputationState, number[]> {
    const found = new Map<ComputationState, number[]>();
    for (const id of ids) {
      const place = this.#cluster.locate(id);
      if (place !== undefined) pushTo(found, place.computation, place.local);
    }
    return found;
  }

  /** Records one error for all tasks of a computation, which may be a million. */
  #explain(
    computation: ComputationState,
    locals: readonly number[],
    { worker, why }: { readonly worker: string; readonly why: Error },
  ): void {
    const first = locals[0]!;
    const { info } = computation;
    const where = { key: info.keys[first]!, function: taskFunctionName(info, first), worker };
    const others = locals.length > 1 ? ` and ${countText(locals.length - 1, 'other')}` : '';
    const message =
      `Task '${where.key}' (function ${where.function})${others} cannot run: the memory of every worker that may run it is full. ` +
      why.message;
    const code = why instanceof LongpoleError ? why.code : 'ERR_LONGPOLE_MEMORY_LIMIT';
    const error = new TaskError(where, message, { code, cause: why });
    this.#cluster.explain(computation, first, error);
    for (const local of locals) computation.reasons.set(local, error);
  }
}
