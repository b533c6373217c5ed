// Where a dashboard's trace comes from: a server that sends it as it grows, files that were dropped on the page, or the page
// itself. What they have in common is this interface; nothing else on the page knows which of them it is.
import type { TotalsMessage } from '../../protocol/viewMessages.js';
import type { Trace } from '../../trace/trace.js';

/** How it stands now, as the scheduler tells it; only of a run that goes on. */
export type LiveState = Omit<TotalsMessage, 'type'>;

/**
 * `live`: connected and growing; `lost`: trying to connect again; `whole`: nothing more will come; `cut`: nothing more will
 * come, but there was more.
 */
export type SourceStatus = 'loading' | 'live' | 'lost' | 'whole' | 'cut';

export interface TraceUpdate {
  readonly trace: Trace;
  readonly title: string;
  readonly facts: Readonly<Record<string, string>>;
  readonly live: LiveState | undefined;
}

export interface SourceSink {
  update(update: TraceUpdate): void;
  status(status: SourceStatus, detail?: string): void;
  /** Nothing can be shown. */
  fail(error: unknown): void;
}

export interface TraceSource {
  /** Begins to feed the sink. */
  start(sink: SourceSink): void;
  close(): void;
}
