// Turns what workers report into TaskRuns for observers, for clusters and local schedulers: lifecycle times in order and on
// the scheduler's clock. Columns are reused; about 10 stores per task.
import {
  type ClusterObserver,
  type Computation,
  nextAttempt,
  TASK_ERRED,
  TASK_LOST,
  TASK_MEMORY,
  type TaskRuns,
} from '../protocol/clusterObserver.js';
import type { CompletionColumns } from '../protocol/completionLog.js';
import { isScalar, KIND_ERROR, KIND_NUMBER, KIND_SKIPPED, RESULT_TYPES } from '../protocol/resultKinds.js';

/** A computation whose runs are recorded. */
export interface RecordedComputation {
  readonly info: Computation;
  /** By local id: when the task was last sent to a worker. */
  readonly dispatchedAt: Float64Array;
  /** By local id: how many runs of the task have ended, 254 at most. */
  readonly runs: Uint8Array;
}

interface Columns {
  ids: Int32Array;
  states: Uint8Array;
  types: Uint16Array;
  nbytes: Float64Array;
  attempts: Uint8Array;
  ready: Float64Array;
  dispatched: Float64Array;
  received: Float64Array;
  started: Float64Array;
  stopped: Float64Array;
  coreWaits: Float64Array;
}

function columns(capacity: number): Columns {
  return {
    ids: new Int32Array(capacity),
    states: new Uint8Array(capacity),
    types: new Uint16Array(capacity),
    nbytes: new Float64Array(capacity),
    attempts: new Uint8Array(capacity),
    ready: new Float64Array(capacity),
    dispatched: new Float64Array(capacity),
    received: new Float64Array(capacity),
    started: new Float64Array(capacity),
    stopped: new Float64Array(capacity),
    coreWaits: new Float64Array(capacity),
  };
}

const NUMBER_BYTES = 8;
const SCALAR_BYTES = 4;

export class TaskRecorder {
  readonly #notify: (call: (observer: ClusterObserver) => void) => void;
  #columns = columns(1024);

  constructor(notify: (call: (observer: ClusterObserver) => void) => void) {
    this.#notify = notify;
  }

  /**
   * Tasks have ended at a worker, all of one computation. `accepted[i]` 0: the scheduler had given up on it; null: it accepts
   * all. `readyAt` is the scheduler's column from the computation's first task on.
   *
   * @returns what observers were told, good until the next call; undefined: nothing
   */
  ended(
    computation: RecordedComputation,
    worker: number,
    reported: CompletionColumns,
    accepted: Uint8Array | null,
    readyAt: Float64Array,
    now: number,
  ): TaskRuns | undefined {
    const { count } = reported;
    if (this.#columns.ids.length < count) this.#columns = columns(2 * count);
    const into = this.#columns;
    const { dispatchedAt, runs, info } = computation;
    let rows = 0;
    for (let index = 0; index < count; index++) {
      const kind = reported.kinds[index]!;
      if (accepted?.[index] === 0 || kind === KIND_SKIPPED) continue;
      const id = reported.ids[index]!;
      const dispatched = dispatchedAt[id]!;
      // A worker's clock is known within the round trip of a message: it may be ahead of what is known to have happened.
      const received = between(reported.received[index]!, dispatched, now);
      const started = between(reported.starts[index]!, received, now);
      into.ids[rows] = id;
      into.states[rows] = kind === KIND_ERROR ? TASK_ERRED : TASK_MEMORY;
      into.types[rows] = reported.types[index]!;
      into.nbytes[rows] = bytesOf(kind, reported.numbers[index]!);
      into.attempts[rows] = nextAttempt(runs, id);
      into.ready[rows] = Math.max(info.submitted, Math.min(readyAt[id]! || dispatched, dispatched));
      into.dispatched[rows] = dispatched;
      into.received[rows] = received;
      into.started[rows] = started;
      into.stopped[rows] = between(reported.stops[index]!, started, now);
      into.coreWaits[rows] = reported.coreWaits[index]!;
      rows++;
    }
    return rows === 0 ? undefined : this.#send(computation, worker, rows, now);
  }

  /** The worker died, or was made to end, while it had this task. `state` is TASK_ERRED for a task that never began. */
  lost(
    computation: RecordedComputation,
    worker: number,
    id: number,
    readyAt: number,
    now: number,
    state = TASK_LOST,
  ): void {
    const into = this.#columns;
    const dispatched = computation.dispatchedAt[id]!;
    into.ids[0] = id;
    into.states[0] = state;
    into.types[0] = 0;
    into.nbytes[0] = 0;
    into.attempts[0] = nextAttempt(computation.runs, id);
    into.ready[0] = Math.max(computation.info.submitted, Math.min(readyAt || dispatched, dispatched));
    into.dispatched[0] = dispatched;
    into.received[0] = Number.NaN;
    into.started[0] = Number.NaN;
    into.stopped[0] = Number.NaN;
    into.coreWaits[0] = Number.NaN;
    this.#send(computation, worker, 1, now);
  }

  #send(computation: RecordedComputation, worker: number, count: number, now: number): TaskRuns {
    const runs: TaskRuns = {
      computation: computation.info,
      worker,
      count,
      typeNames: RESULT_TYPES,
      acknowledged: now,
      ...this.#columns,
    };
    this.#notify((observer) => observer.tasksEnded?.(runs));
    return runs;
  }
}

function between(time: number, from: number, to: number): number {
  return Math.min(Math.max(time, from), to);
}

function bytesOf(kind: number, number: number): number {
  if (kind === KIND_NUMBER) return NUMBER_BYTES;
  return isScalar(kind) ? SCALAR_BYTES : number;
}
