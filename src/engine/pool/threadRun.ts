// State of a run on the host's side of an isolate.
import type { CompletionLog } from '../../protocol/completionLog.js';
import { NO_PACKED, NO_VALUES, type OpenRunMessage, type Report } from '../../protocol/isolateMessages.js';
import { packKinds, packProgram } from '../../protocol/shortMessages.js';
import type { ExecutingTask } from '../../protocol/workerMessages.js';
import type { RunHandler, RunSpec } from './isolate.js';
import type { RunLog } from './runLogs.js';

export function executingIn(run: number, log: CompletionLog | undefined): ExecutingTask | undefined {
  const id = log?.running ?? -1;
  return log === undefined || id < 0
    ? undefined
    : { run, id, batch: log.runningBatch, since: log.runningSince };
}

/** Returns the state of a run for a dump. */
export function briefRun([run, { log }]: readonly [number, ThreadRun]) {
  return { run, running: log.running, unread: log.available };
}

export interface ThreadRun extends RunLog {
  readonly spec: RunSpec;
  readonly handler: RunHandler;
  /** See OpenRunMessage.opening. */
  readonly opening: number;
  /** Values and errors that have arrived, until their entries in the log are read. */
  readonly arrived: Map<number, unknown>;
  /** Number of entries in the log whose values have arrived. */
  covered: number;
  readonly failed: Set<number>;
  /** Time since which a busy isolate withholds results or calls; undefined: it withholds nothing. */
  withholdingSince: number | undefined;
  fetching: boolean;
  /** Priority of the last batch. */
  priority: number;
}

/** Time for which an isolate may withhold results or calls before it is interrupted, in milliseconds. */
const WITHHOLDING_MS = 8;

export function newThreadRun(
  spec: RunSpec,
  handler: RunHandler,
  opening: number,
  { log, columns, ref, claims, wanted }: RunLog,
): ThreadRun {
  // Without a spread: V8 adds further properties to its result one by one, which takes as long as sending a message.
  return {
    log,
    columns,
    ref,
    claims,
    wanted,
    spec,
    handler,
    opening,
    arrived: new Map(),
    covered: log.written,
    failed: new Set(),
    withholdingSince: undefined,
    fetching: false,
    priority: 0,
  };
}

/** Keeps the values and errors of a report until their entries in the log are read. */
export function addArrived(
  state: ThreadRun,
  { written, values: { ids, values } = NO_VALUES, packed = NO_PACKED, errors = [] }: Report,
): void {
  state.covered = written;
  for (let index = 0; index < ids.length; index++) state.arrived.set(ids[index]!, values[index]);
  for (let index = 0; index < packed.ids.length; index++)
    state.arrived.set(packed.ids[index]!, packed.results[index]);
  for (const { id, error } of errors) {
    state.arrived.set(id, error);
    state.failed.add(id);
  }
}

/** @param isMeasured whether the isolate measures its tasks */
export function openMessage({ spec, opening, ref }: ThreadRun, isMeasured: boolean): OpenRunMessage {
  const { run, program, functions, kinds, keys = null, marks = false } = spec;
  const { inlineBytes = Number.POSITIVE_INFINITY, concurrentTasks = 1, sized = true } = spec;
  const message: { -readonly [K in keyof OpenRunMessage]: OpenRunMessage[K] } = {
    type: 'open',
    run,
    opening,
    program: packProgram(program),
    functions,
    log: ref,
    inlineBytes,
  };
  if (kinds !== undefined && isMeasured) message.kinds = packKinds(kinds);
  if (keys !== null) message.keys = keys;
  if (marks) message.marks = marks;
  if (concurrentTasks > 1) message.concurrentTasks = concurrentTasks;
  if (!sized) message.sized = sized;
  return message;
}

/**
 * Whether a task runs unexpectedly long, so that results of earlier tasks are not sent or earlier calls are not taken.
 */
export function isOverdue(state: ThreadRun, untakenCalls: number): boolean {
  const withholds = state.log.running >= 0 && (state.log.available > 0 || state.fetching || untakenCalls > 0);
  if (!withholds) {
    state.withholdingSince = undefined;
    return false;
  }
  const now = performance.now();
  state.withholdingSince ??= now;
  if (now - state.withholdingSince < WITHHOLDING_MS) return false;
  state.withholdingSince = undefined;
  return true;
}
