// Turns reports of workers into TaskRuns for observers, in clusters and local schedulers. Lifecycle times are in order
// and on the scheduler's clock. Columns are reused; the cost is about 10 stores per task.
import {
  type ClusterObserver,
  type Computation,
  nextAttempt,
  TASK_ERRED,
  TASK_LOST,
  TASK_MEMORY,
  type TaskRuns,
} from '../protocol/clusterObserver.js';
import { type CompletionColumns, MAX_DIMENSIONS } from '../protocol/completionLog.js';
import { isScalar, KIND_ERROR, KIND_NUMBER, KIND_SKIPPED, RESULT_TYPES } from '../protocol/resultKinds.js';

/** A computation whose runs are recorded. */
export interface RecordedComputation {
  readonly info: Computation;
  /** Local id → time at which the task was last sent to a worker. */
  readonly dispatchedAt: Float64Array;
  /** Local id → number of ended runs of the task, at most 254. */
  readonly runs: Uint8Array;
}

type Columns = Required<
  Omit<TaskRuns, 'computation' | 'worker' | 'count' | 'threads' | 'typeNames' | 'acknowledged'>
>;
/** Runs without their computation, which may end and must not be held. */
type Runs = Omit<TaskRuns, 'computation'>;
type ReusedRuns = { -readonly [K in keyof Runs]: Runs[K] } & { computation: Computation | undefined };

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
    seceded: new Float64Array(capacity),
    resumed: new Float64Array(capacity),
    waited: new Float64Array(capacity),
    dimensions: new Uint8Array(capacity),
    shapes: new Float64Array(MAX_DIMENSIONS * capacity),
  };
}

/** Rows for which the columns have room at first. Most programs report few tasks at once. */
const FIRST_ROWS = 16;
const NO_ROWS = columns(0);
const NUMBER_BYTES = 8;
const SCALAR_BYTES = 4;

export class TaskRecorder {
  readonly #notify: (call: (observer: ClusterObserver) => void) => void;
  #columns = columns(FIRST_ROWS);
  /** What observers receive, with these columns. It is reused, because a new one would take as long as the rest of a record. */
  #runs: ReusedRuns | undefined;

  constructor(notify: (call: (observer: ClusterObserver) => void) => void) {
    this.#notify = notify;
  }

  /**
   * Records ended tasks of one computation and worker.
   *
   * @param accepted by row, 0 if the scheduler had reassigned the task; null: all rows are accepted
   * @param readyAt the scheduler's column, from the computation's first task
   * @returns the rows that observers received, valid until the next call; undefined: none
   */
  ended(
    computation: RecordedComputation,
    worker: number,
    reported: CompletionColumns,
    accepted: Uint8Array | null,
    readyAt: Float64Array,
    now: number,
  ): Runs | undefined {
    const { count } = reported;
    const into = this.#room(count);
    const { dispatchedAt, runs, info } = computation;
    let rows = 0;
    let hasSeceded = false;
    for (let index = 0; index < count; index++) {
      const kind = reported.kinds[index]!;
      if (accepted?.[index] === 0 || kind === KIND_SKIPPED) continue;
      const id = reported.ids[index]!;
      const dispatched = dispatchedAt[id]!;
      // The worker's clock is known only within a round trip, so its times may contradict the known order of events.
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
      const stopped = between(reported.stops[index]!, started, now);
      into.stopped[rows] = stopped;
      into.seceded[rows] = between(reported.seceded[index]!, started, stopped);
      into.resumed[rows] = between(reported.resumed[index]!, started, stopped);
      into.waited[rows] = between(reported.waited[index]!, 0, stopped - into.seceded[rows]!);
      hasSeceded ||= !Number.isNaN(into.seceded[rows]!);
      into.coreWaits[rows] = reported.coreWaits[index]!;
      const dimensions = reported.dimensions[index]!;
      into.dimensions[rows] = dimensions;
      for (let i = 0; i < dimensions; i++)
        into.shapes[MAX_DIMENSIONS * rows + i] = reported.shapes[MAX_DIMENSIONS * index + i]!;
      rows++;
    }
    return rows === 0 ? undefined : this.#send(computation, worker, rows, now, hasSeceded);
  }

  /**
   * Records a run that did not finish: its worker died or was ended, or it was cancelled. `state` is TASK_ERRED for a task that
   * never began.
   */
  unfinished(
    computation: RecordedComputation,
    worker: number,
    id: number,
    readyAt: number,
    now: number,
    state = TASK_LOST,
  ): void {
    const into = this.#room(1);
    const dispatched = computation.dispatchedAt[id]!;
    into.ids[0] = id;
    into.states[0] = state;
    into.types[0] = 0;
    into.nbytes[0] = 0;
    into.attempts[0] = nextAttempt(computation.runs, id);
    into.ready[0] = Math.max(computation.info.submitted, Math.min(readyAt || dispatched, dispatched));
    into.dispatched[0] = dispatched;
    for (const time of [into.received, into.started, into.stopped, into.coreWaits]) time[0] = Number.NaN;
    into.dimensions[0] = 0;
    this.#send(computation, worker, 1, now);
  }

  #room(count: number): Columns {
    if (this.#columns.ids.length < count) {
      this.#columns = columns(2 * count);
      this.#runs = undefined;
    }
    return this.#columns;
  }

  #send(
    computation: RecordedComputation,
    worker: number,
    count: number,
    now: number,
    hasSeceded = false,
  ): Runs {
    const sent = this.#columns;
    const { seceded, resumed, waited } = sent;
    const reused = this.#runs ?? reusedRuns(sent);
    reused.worker = worker;
    reused.count = count;
    reused.acknowledged = now;
    const known = Object.assign(reused, { computation: computation.info });
    const runs: TaskRuns = hasSeceded ? { ...known, seceded, resumed, waited } : known;
    // An observer may cause another record, e.g. when it cancels tasks. That must not change the rows of the observers after it.
    this.#columns = NO_ROWS;
    this.#runs = undefined;
    this.#notify((observer) => observer.tasksEnded?.(runs));
    this.#columns = sent;
    this.#runs = reused;
    reused.computation = undefined;
    return runs;
  }
}

function reusedRuns({ seceded, resumed, waited, ...columns }: Columns): ReusedRuns {
  const unknown = { computation: undefined, worker: -1, count: 0, acknowledged: 0 };
  return { ...columns, ...unknown, typeNames: RESULT_TYPES };
}

function between(time: number, from: number, to: number): number {
  return Math.min(Math.max(time, from), to);
}

function bytesOf(kind: number, number: number): number {
  if (kind === KIND_NUMBER) return NUMBER_BYTES;
  return isScalar(kind) ? SCALAR_BYTES : number;
}
