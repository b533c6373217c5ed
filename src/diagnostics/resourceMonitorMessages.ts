// What the main thread and the monitor thread of the resource profilers share.
import type { MessagePort } from 'node:worker_threads';

/** Int32 cells of `control`. */
export const SIGNAL = 0;

/** Main → monitor, read when SIGNAL changes. */
export type MonitorCommand =
  | { readonly type: 'start'; readonly session: number /** Seconds. */; readonly dt: number }
  | { readonly type: 'stop'; readonly session: number };

/** One look at the process tree. CPU is the sum since the process began: a difference of two samples gives the load. */
export interface ResourceSample {
  /** Seconds since the epoch. */
  readonly time: number;
  /** CPU seconds, without the monitor's own. */
  readonly cpu: number;
  /** Bytes. */
  readonly rss: number;
}

/** Monitor → main. */
export interface MonitorSample extends ResourceSample {
  readonly session: number;
}

export interface MonitorData {
  /** One Int32: SIGNAL, raised for every command. */
  readonly control: SharedArrayBuffer;
  /** One Int64: nanoseconds of CPU that the monitor thread itself has used. */
  readonly ownCpu: SharedArrayBuffer;
  readonly port: MessagePort;
}
