// State of a run on the host's side of an isolate.
import { type CompletionColumns, CompletionLog, completionColumns } from '../../protocol/completionLog.js';
import type { RunChannel } from './isolate.js';

export interface ThreadRun {
  readonly channel: RunChannel;
  readonly log: CompletionLog;
  readonly columns: CompletionColumns;
  /** Values and errors that have arrived before their entries in the log. */
  readonly arrived: Map<number, unknown>;
  readonly failed: Set<number>;
  /** Time since which a busy isolate withholds results or calls; undefined: it withholds nothing. */
  withholdingSince: number | undefined;
  fetching: boolean;
}

/** Time for which an isolate may withhold results or calls before it is interrupted, in milliseconds. */
const WITHHOLDING_MS = 8;

export function newThreadRun(channel: RunChannel): ThreadRun {
  const log = new CompletionLog(channel.maxOutstanding);
  return {
    channel,
    log,
    columns: completionColumns(log.capacity),
    arrived: new Map(),
    failed: new Set(),
    withholdingSince: undefined,
    fetching: false,
  };
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
