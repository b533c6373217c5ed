// The fields of a cluster's dump.
import type { HostDump, ProcessDump } from '../host/hostTypes.js';
import type { WaitDump } from '../openWaits.js';
import type { StateName } from '../scheduler/taskStates.js';
import type { SharedDump } from './coordination/sharedDump.js';

export interface TaskDump {
  readonly key: string;
  readonly computation: number;
  readonly state: StateName;
  /** Name of the worker to which the task was sent. */
  readonly worker: string | undefined;
  /** Keys of the first five unfinished dependencies. */
  readonly waitsFor: readonly string[];
  /** Last transitions of the task, oldest first. */
  readonly story: readonly string[];
}

export interface WorkerDump {
  readonly name: string;
  readonly pid: number;
  readonly state: 'starting' | 'running' | 'paused' | 'leaving';
  /** Task that the worker was last seen to run, and for how many seconds. */
  readonly runs: { readonly key: string; readonly seconds: number } | undefined;
  /** The scheduler's record of the worker; undefined before the worker is up. */
  readonly scheduler:
    | {
        /** Batches on the worker, with the number of their unfinished tasks. */
        readonly batches: readonly { readonly batch: number; readonly left: number }[];
        /** Number of tasks that are assigned to the worker and have not been sent. */
        readonly placed: number;
        /** State of the request to take tasks back. */
        readonly steal: string;
        readonly quarantined: boolean;
      }
    | undefined;
  readonly host: HostDump | ProcessDump;
}

export interface DumpFields {
  /** Seconds since the epoch. */
  readonly time: number;
  /** State → count of tasks. */
  readonly counts: Readonly<Record<string, number>>;
  /** Unfinished tasks, those with a worker first. At most 20. */
  readonly tasks: readonly TaskDump[];
  /** Unfinished tasks that are not among `tasks`. */
  readonly more: number;
  readonly workers: readonly WorkerDump[];
  /** Calls of clients that wait, the oldest first. */
  readonly waits: readonly WaitDump[];
  /** Shared objects with holders, items or waiting calls; first those with calls, by the oldest one. */
  readonly shared: readonly SharedDump[];
}
