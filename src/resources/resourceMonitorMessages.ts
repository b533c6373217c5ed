// What the main thread and the monitor thread share: commands, and two kinds of sessions. A tree session looks at the CPU
// and memory of the whole process tree, a watch at everything that the machine and the workers use.
import type { MessagePort } from 'node:worker_threads';
import type { ResourceSample } from '../protocol/clusterObserver.js';
import type { MonitorTarget } from './usageSampler.js';

/** Main → monitor. */
export type MonitorCommand =
  | { readonly type: 'tree'; readonly session: number /** Seconds. */; readonly dt: number }
  | {
      readonly type: 'watch';
      readonly session: number;
      /** Seconds. */
      readonly dt: number;
      readonly targets: readonly MonitorTarget[];
      /** Where the samples go. */
      readonly port: MessagePort;
      readonly gpu: string;
    }
  | { readonly type: 'targets'; readonly session: number; readonly targets: readonly MonitorTarget[] }
  | { readonly type: 'stop'; readonly session: number };

/** One look at the process tree. CPU is the sum since the process began: a difference of two samples gives the load. */
export interface TreeSample {
  /** Seconds since the epoch. */
  readonly time: number;
  /** CPU seconds, without the monitor's own. */
  readonly cpu: number;
  /** Bytes. */
  readonly rss: number;
}

/** Monitor → main, of a tree session. */
export interface SessionSample extends TreeSample {
  readonly session: number;
}

/** Monitor → main, of a watch, through its own port. */
export type WatchSamples = readonly ResourceSample[];

export interface MonitorData {
  /** One Int64: nanoseconds of CPU that the monitor thread itself has used. */
  readonly ownCpu: SharedArrayBuffer;
  /** See nativeGuard; one word. */
  readonly guard: Int32Array;
  readonly port: MessagePort;
}
