// Commands from the main thread to the monitor thread, and their sessions. A tree session samples CPU and memory of
// the whole process tree. A watch samples all resources of the machine and of the workers.
import type { MessagePort } from 'node:worker_threads';
import type { ResourceSample } from '../protocol/clusterObserver.js';
import type { TreeSample } from './processTree.js';
import type { MonitorTarget } from './usageSampler.js';

/** Main → monitor. */
export type MonitorCommand =
  | { readonly type: 'tree'; readonly session: number /** Seconds. */; readonly dt: number }
  | {
      readonly type: 'watch';
      readonly session: number;
      /** Interval in seconds. */
      readonly dt: number;
      readonly targets: readonly MonitorTarget[];
      /** Port for the samples. */
      readonly port: MessagePort;
      readonly gpu: string;
    }
  | { readonly type: 'targets'; readonly session: number; readonly targets: readonly MonitorTarget[] }
  | { readonly type: 'stop'; readonly session: number };

/** A sample of a tree session, from the monitor to the main thread. */
export interface SessionSample extends TreeSample {
  readonly session: number;
}

/** Samples of a watch, sent through its own port. */
export type WatchSamples = readonly ResourceSample[];

export interface MonitorData {
  /** One Int64: CPU nanoseconds that the monitor thread has used. */
  readonly ownCpu: SharedArrayBuffer;
  /** One word for nativeGuard. */
  readonly guard: Int32Array;
  readonly port: MessagePort;
}
