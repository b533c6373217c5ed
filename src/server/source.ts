// The data source of a dashboard: a running cluster or an opened trace.
import type { TotalsMessage } from '../protocol/viewMessages.js';
import type { LiveTrace } from '../trace/live/liveTrace.js';
import type { Trace } from '../trace/trace.js';
import type { ClusterFigures } from './prometheus/figures.js';

interface SourceFacts {
  readonly title: string;
  /** Facts about the run by name, e.g. `Node` → `v20.19.0`. */
  readonly facts: Readonly<Record<string, string>>;
}

export type ClusterStatus = Omit<TotalsMessage, 'type'>;

export interface LiveSource extends SourceFacts {
  readonly kind: 'live';
  readonly trace: LiveTrace;
  /** Seconds since the epoch. */
  clock(): number;
  status(): ClusterStatus;
  /** Returns the ids of the tasks that workers have. */
  processing(): ReadonlySet<number>;
  /** Returns a function that reads the CPU seconds of this thread; undefined if they cannot be read (yet). */
  cpuClock(): (() => number) | undefined;
  /** Returns true if any worker has a task. */
  isComputing(): boolean;
  figures(): ClusterFigures;
}

export interface RecordedSource extends SourceFacts {
  readonly kind: 'recorded';
  readonly trace: Trace;
}

export type DashboardSource = LiveSource | RecordedSource;
