// The task and the meters of the running code, also after an await. contextMeter reads them.
import { AsyncLocalStorage } from 'node:async_hooks';
import { sharedByCopies } from '../../base/sharedByCopies.js';

/** The members of a task that contextMeter and askScheduler need. */
export interface MeteredTask {
  /** Number of the computation, and local id of the task; -1 if unknown. */
  readonly run: number;
  readonly id: number;
  readonly hasEnded: boolean;
  /** Calls a function at the end of the task. */
  atEnd(call: () => void): void;
  /** Returns the outcome of `work`, for which the code of the task waits. */
  awaited<R>(work: Promise<R>): Promise<R>;
  /**
   * Opens a meter in code with this context. Returns the context of the code inside the meter.
   *
   * @param isBlock true for the form with `using`, whose context also reaches the caller of an async function
   */
  open(label: string, context: MeterScope, isBlock: boolean): MeterScope;
  /** Closes the meter of `inside`. Returns the context in which the closing code, whose context is given, continues. */
  close(inside: MeterScope, context: MeterScope | undefined): MeterScope | undefined;
  digest(label: string, value: number, unit: string, context: MeterScope): void;
}

/** A meter of a task. */
export interface TaskBlock {
  readonly label: string;
  readonly isBlock: boolean;
  /** Number of the synchronous turn that opened the meter. Code without an `await` in between has the same number. */
  readonly turn: number;
  parent: TaskBlock | undefined;
  open: boolean;
  /** Meters that are inside this one or beside it. */
  disputed: TaskBlock[] | undefined;
  isDisputed: boolean;
  /** True while the meter counts in the division of time. */
  counts: boolean;
  /** The meter inside which it counts. */
  countedIn: TaskBlock | undefined;
  /** Number of counting meters inside this one. */
  inner: number;
}

/** The context of code: an immutable list of the meters that it has entered. */
export interface MeterScope {
  readonly task: MeteredTask;
  /** The meter that was opened last; undefined outside meters. */
  readonly meter: TaskBlock | undefined;
  /** False in code that only called the function of `meter`: its time does not belong to the meter. */
  readonly isInside: boolean;
  /** The context in which the meter was opened. */
  readonly before: MeterScope | undefined;
}

export const meterContext = sharedByCopies(
  'longpole.meterContext',
  () => new AsyncLocalStorage<MeterScope | undefined>(),
);
