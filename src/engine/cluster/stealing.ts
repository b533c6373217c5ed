// Takes tasks back from a worker for idle workers. The scheduler sends one request and then no tasks to the worker
// until it receives the stolen ones. The host answers once per computation, and some computations may end before that.

import { STEALING, stealingText } from '../../protocol/eventTopics.js';
import type { EngineParts } from './engineParts.js';
import type { RunTasks } from './engineWorker.js';

/** Reports the tasks that a worker has given back, as one event. */
export function reportSteal(
  engine: EngineParts,
  victim: number,
  thief: number | undefined,
  ids: readonly number[],
): void {
  if (ids.length === 0 || !engine.hasObservers) return;
  const { state } = engine.scheduler;
  const seconds = ids.reduce((sum, id) => sum + state.expectedSeconds(id), 0);
  const name = thief === undefined ? undefined : engine.workers.get(thief)?.info.name;
  engine.event(STEALING, stealingText({ tasks: ids.length, seconds, thief: name }), victim);
}

/** Tasks of a run that were taken back. */
export interface TakenBack {
  readonly run: number;
  readonly ids: readonly number[];
}

export class Stealing {
  readonly #notify: (taken: readonly TakenBack[]) => void;
  #open = 0;
  #taken: TakenBack[] = [];

  /** @param notify called once per request, after the last answer, even if no task was taken back */
  constructor(notify: (taken: readonly TakenBack[]) => void) {
    this.#notify = notify;
  }

  /** Requests tasks with `steal`. The host answers once for each run, at once or later. */
  ask(parts: readonly RunTasks[], steal: (run: number, ids: Int32Array) => void): void {
    this.#open += parts.length;
    for (const { run, ids } of parts) steal(run, ids);
    if (parts.length === 0) this.#reportIfComplete();
  }

  /** An answer of the host. */
  answered(run: number, ids: readonly number[]): void {
    this.#open--;
    this.#taken.push({ run, ids });
    this.#reportIfComplete();
  }

  /** The isolate was replaced, so the scheduler sends its tasks again. Forgets those that it gave back before. */
  restarted(): void {
    this.#taken = [];
  }

  #reportIfComplete(): void {
    if (this.#open > 0) return;
    const taken = this.#taken;
    this.#taken = [];
    this.#notify(taken);
  }
}
