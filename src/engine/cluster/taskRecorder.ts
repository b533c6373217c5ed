// Turns what workers report into TaskRuns for observers: lifecycle times in order and on the scheduler's clock. Columns
// are reused; about 10 stores per task.
import {
  type ClusterObserver,
  TASK_ERRED,
  TASK_LOST,
  TASK_MEMORY,
  type TaskRuns,
} from '../../protocol/clusterObserver.js';
import type { CompletionColumns } from '../../protocol/completionLog.js';
import { isScalar, KIND_ERROR, KIND_NUMBER, KIND_SKIPPED, RESULT_TYPES } from '../../protocol/resultKinds.js';
import type { ComputationState } from './computationState.js';
import { SentArguments } from './sentArguments.js';

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
  readonly #tell: (call: (observer: ClusterObserver) => void) => void;
  #columns = columns(1024);
  readonly sent: SentArguments;

  constructor(tell: (call: (observer: ClusterObserver) => void) => void) {
    this.#tell = tell;
    this.sent = new SentArguments((transfer) => tell((observer) => observer.transfer?.(transfer)));
  }

  /**
   * Tasks have ended at a worker, all of one computation. `accepted[i]` 0: the scheduler had given up on it. `readyAt` is
   * the scheduler's column from the computation's first task on.
   */
  ended(
    computation: ComputationState,
    worker: number,
    reported: CompletionColumns,
    accepted: Uint8Array,
    readyAt: Float64Array,
    now: number,
  ): void {
    const { count } = reported;
    if (this.#columns.ids.length < count) this.#columns = columns(2 * count);
    const into = this.#columns;
    const { dispatchedAt, failedRuns, info } = computation;
    let rows = 0;
    for (let index = 0; index < count; index++) {
      const kind = reported.kinds[index]!;
      if (accepted[index] === 0 || kind === KIND_SKIPPED) continue;
      const id = reported.ids[index]!;
      const dispatched = dispatchedAt[id]!;
      // A worker's clock is known within the round trip of a message: it may be ahead of what is known to have happened.
      const received = between(reported.received[index]!, dispatched, now);
      const started = between(reported.starts[index]!, received, now);
      into.ids[rows] = id;
      into.states[rows] = kind === KIND_ERROR ? TASK_ERRED : TASK_MEMORY;
      into.types[rows] = reported.types[index]!;
      into.nbytes[rows] = bytesOf(kind, reported.numbers[index]!);
      into.attempts[rows] = 1 + (failedRuns.size === 0 ? 0 : (failedRuns.get(id) ?? 0));
      into.ready[rows] = Math.max(info.submitted, Math.min(readyAt[id]! || dispatched, dispatched));
      into.dispatched[rows] = dispatched;
      into.received[rows] = received;
      into.started[rows] = started;
      into.stopped[rows] = between(reported.stops[index]!, started, now);
      into.coreWaits[rows] = reported.coreWaits[index]!;
      if (kind === KIND_ERROR) failedRuns.set(id, (failedRuns.get(id) ?? 0) + 1);
      rows++;
    }
    if (rows === 0) return;
    this.sent.ended(computation, worker, into, rows);
    this.#send(computation, worker, rows, now);
  }

  /** The worker died, or was made to end, while it had this task. */
  lost(computation: ComputationState, worker: number, id: number, readyAt: number, now: number): void {
    const into = this.#columns;
    const dispatched = computation.dispatchedAt[id]!;
    const { failedRuns } = computation;
    into.ids[0] = id;
    into.states[0] = TASK_LOST;
    into.types[0] = 0;
    into.nbytes[0] = 0;
    into.attempts[0] = 1 + (failedRuns.get(id) ?? 0);
    into.ready[0] = Math.max(computation.info.submitted, Math.min(readyAt || dispatched, dispatched));
    into.dispatched[0] = dispatched;
    into.received[0] = Number.NaN;
    into.started[0] = Number.NaN;
    into.stopped[0] = Number.NaN;
    into.coreWaits[0] = Number.NaN;
    failedRuns.set(id, (failedRuns.get(id) ?? 0) + 1);
    this.#send(computation, worker, 1, now);
  }

  #send(computation: ComputationState, worker: number, count: number, now: number): void {
    const runs: TaskRuns = {
      computation: computation.info,
      worker,
      count,
      typeNames: RESULT_TYPES,
      acknowledged: now,
      ...this.#columns,
    };
    this.#tell((observer) => observer.tasksEnded?.(runs));
  }
}

function between(time: number, from: number, to: number): number {
  return Math.min(Math.max(time, from), to);
}

function bytesOf(kind: number, number: number): number {
  if (kind === KIND_NUMBER) return NUMBER_BYTES;
  return isScalar(kind) ? SCALAR_BYTES : number;
}
