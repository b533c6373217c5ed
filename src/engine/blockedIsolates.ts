// A run may wait in an isolate behind a task of another run that never ends. After about a second the run takes its tasks
// back and leaves the isolate. Its other isolates run them, or a spare one. A run does not leave an isolate because tasks of
// a higher priority run there one after the other.
import { NO_IDS } from '../protocol/isolateMessages.js';
import type { Isolate, OtherTask } from './pool/isolate.js';
import { unfinishedTasks } from './scheduler/batching.js';
import type { SchedulerEvent } from './scheduler/events.js';
import type { SchedulerState } from './scheduler/schedulerState.js';

/** Polls after which an isolate counts as blocked; at least a second. */
const MAX_POLLS = 100;

/** The polls for which a run has waited in an isolate, and the task that ran there at the last one. */
interface Wait {
  readonly polls: number;
  readonly behind: OtherTask;
}

export interface WaitingRun {
  readonly run: number;
  readonly state: SchedulerState;
  handle(event: SchedulerEvent): void;
  /** Adds an isolate that no other run uses. */
  addSpare(): void;
  /** Called when the scheduler has removed the worker of the isolate. */
  left(isolate: Isolate): void;
}

export class BlockedIsolates {
  readonly #waiting: WaitingRun;
  readonly #waits = new Map<Isolate, Wait>();
  /** Isolates from which tasks are taken back. */
  readonly #leaving = new Set<Isolate>();

  constructor(waiting: WaitingRun) {
    this.#waiting = waiting;
  }

  /** Called when tasks of the run have finished in an isolate. */
  moved(isolate: Isolate, worker: number): void {
    this.#waits.delete(isolate);
    if (this.#leaving.delete(isolate)) this.#waiting.handle({ type: 'worker-paused', worker, paused: false });
  }

  ended(isolate: Isolate): void {
    this.#waits.delete(isolate);
    this.#leaving.delete(isolate);
  }

  /** Counts a poll, and takes tasks back from blocked isolates. */
  poll(workers: ReadonlyMap<Isolate, { readonly index: number }>): void {
    const { state } = this.#waiting;
    const blocked = [...workers].filter(([isolate]) => this.#count(isolate) >= MAX_POLLS);
    if (!blocked.some(([, { index }]) => isAwaited(state, index))) return;
    if (workers.size === blocked.length) this.#waiting.addSpare();
    for (const [isolate, { index }] of blocked) this.#takeBack(isolate, index);
  }

  /** Returns the polls for which the run has waited in the isolate. */
  #count(isolate: Isolate): number {
    const { run } = this.#waiting;
    const behind = isolate.runningOther(run);
    if (behind === undefined) {
      this.#waits.delete(isolate);
      return 0;
    }
    const before = this.#waits.get(isolate);
    const isNext = behind.run !== before?.behind.run || behind.id !== before.behind.id;
    const polls = before === undefined || (isNext && behind.isUrgent) ? 1 : before.polls + 1;
    this.#waits.set(isolate, { polls, behind });
    return polls;
  }

  #takeBack(isolate: Isolate, index: number): void {
    const { run, state } = this.#waiting;
    this.#waits.delete(isolate);
    this.#leaving.add(isolate);
    // Otherwise the scheduler would send the tasks to this isolate again. It takes some of them back at once.
    this.#waiting.handle({ type: 'worker-paused', worker: index, paused: true });
    if (!this.#leaving.has(isolate)) return;
    const worker = state.workers.get(index);
    isolate.steal(run, worker === undefined ? NO_IDS : Int32Array.from(unfinishedTasks(state, worker)));
  }

  /** Called when the scheduler has taken tasks back from an isolate. */
  stolen(isolate: Isolate, index: number): void {
    if (!this.#leaving.has(isolate)) return;
    const worker = this.#waiting.state.workers.get(index);
    // A task that has left its slot continues there.
    if (worker?.outstanding !== 0 || worker.seceded.size > 0) return;
    this.ended(isolate);
    this.#waiting.handle({ type: 'worker-removed', worker: index, blame: 'none' });
    this.#waiting.left(isolate);
  }
}

/** Returns whether the run waits for a task of this worker, or for a result that only this worker has. */
function isAwaited({ workers, held, awaited, location }: SchedulerState, index: number): boolean {
  if (workers.get(index)!.outstanding > 0) return true;
  return [...held, ...awaited.keys()].some((id) => location[id] === index);
}
