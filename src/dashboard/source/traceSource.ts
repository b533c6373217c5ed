// The interface of the sources of a dashboard's trace: a server, files that were dropped on the page, or data in the
// page.
import type { TotalsMessage } from '../../protocol/viewMessages.js';
import type { Trace } from '../../trace/trace.js';

/** Current state of a live run, as reported by the scheduler. */
type LiveState = Omit<TotalsMessage, 'type'>;

/**
 * `live`: connected and growing. `lost`: reconnecting. `whole`: complete. `cut`: ended, but the run had more than the trace
 * contains.
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
  /** Reports that the following updates are of another run than the ones before, e.g. of a program that was started again. */
  restart(): void;
  /** Receives an error after which no trace can be shown. */
  fail(error: unknown): void;
}

export interface TraceSource {
  start(sink: SourceSink): void;
  close(): void;
}

/** Returns a source that shows a trace when all of it has been read. */
export function wholeSource(read: () => Promise<TraceUpdate>): TraceSource {
  return {
    start(sink) {
      sink.status('loading');
      read()
        .then((update) => {
          sink.update(update);
          sink.status('whole');
        })
        .catch((error: unknown) => sink.fail(error));
    },
    close() {},
  };
}

/** Returns the URL of a path of the server beside the page at `base`. The server needs the same token as for the page. */
export function serverUrl(path: string, base: string): URL {
  const url = new URL(path, base);
  const token = new URL(base).searchParams.get('token');
  if (token !== null) url.searchParams.set('token', token);
  return url;
}
