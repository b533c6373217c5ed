// Where a dashboard's data comes from: a cluster that runs, or a trace that was opened.
import type { TotalsMessage } from '../protocol/viewMessages.js';
import type { LiveTrace } from '../trace/live/liveTrace.js';
import type { Trace } from '../trace/trace.js';
import type { ClusterFigures } from './prometheus/figures.js';

interface SourceFacts {
  /** What stands above the pages. */
  readonly title: string;
  /** Facts to show, e.g. `Node` → `v20.19.0`. */
  readonly facts: Readonly<Record<string, string>>;
}

/** What a cluster does now. */
export type ClusterStatus = Omit<TotalsMessage, 'type'>;

export interface LiveSource extends SourceFacts {
  readonly kind: 'live';
  /** Watches the cluster since it started. */
  readonly trace: LiveTrace;
  /** Seconds since the epoch. */
  clock(): number;
  status(): ClusterStatus;
  /** Reads the seconds of CPU that this thread used; undefined while nothing can, or not yet. */
  cpuClock(): (() => number) | undefined;
  /** Whether any worker has a task. */
  isComputing(): boolean;
  /** For Prometheus. */
  figures(): ClusterFigures;
}

export interface RecordedSource extends SourceFacts {
  readonly kind: 'recorded';
  readonly trace: Trace;
}

export type DashboardSource = LiveSource | RecordedSource;
