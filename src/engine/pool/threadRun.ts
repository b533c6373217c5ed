// A run as the host's side of an isolate sees it.
import { type CompletionColumns, CompletionLog, completionColumns } from '../../protocol/completionLog.js';
import type { RunChannel } from './isolate.js';

export interface ThreadRun {
  readonly channel: RunChannel;
  readonly log: CompletionLog;
  readonly columns: CompletionColumns;
  /** Values and errors that have arrived ahead of their log entries. */
  readonly arrived: Map<number, unknown>;
  readonly failed: Set<number>;
  /** Since when the isolate owes something that it cannot send, because it computes; undefined: it owes nothing. */
  owingSince: number | undefined;
  fetching: boolean;
}

/** How long an isolate may owe something before it is interrupted, in milliseconds. */
const DEBT_MS = 8;

export function newThreadRun(channel: RunChannel): ThreadRun {
  const log = new CompletionLog(channel.maxOutstanding);
  return {
    channel,
    log,
    columns: completionColumns(log.capacity),
    arrived: new Map(),
    failed: new Set(),
    owingSince: undefined,
    fetching: false,
  };
}

/**
 * Whether a task that was expected to be short is not, and keeps the results of those before it from being sent, or calls that came
 * just before it from being taken.
 */
export function isOverdue(state: ThreadRun, untakenCalls: number): boolean {
  const owes = state.log.running >= 0 && (state.log.available > 0 || state.fetching || untakenCalls > 0);
  if (!owes) {
    state.owingSince = undefined;
    return false;
  }
  const now = performance.now();
  state.owingSince ??= now;
  if (now - state.owingSince < DEBT_MS) return false;
  state.owingSince = undefined;
  return true;
}
