// What the dump of a cluster says.
import type { HostDump, ProcessDump } from '../host/hostTypes.js';
import type { WaitDump } from '../openWaits.js';
import type { StateName } from '../scheduler/taskStates.js';

export interface TaskDump {
  readonly key: string;
  readonly computation: number;
  readonly state: StateName;
  /** The worker that has it. */
  readonly worker: string | undefined;
  /** Its unfinished dependencies, the first five. */
  readonly waitsFor: readonly string[];
  /** Its last transitions, oldest first. */
  readonly story: readonly string[];
}

export interface WorkerDump {
  readonly name: string;
  readonly pid: number;
  readonly state: 'starting' | 'running' | 'paused' | 'leaving';
  /** The task that it runs, as far as known, and for how many seconds. */
  readonly runs: { readonly key: string; readonly seconds: number } | undefined;
  /** What the scheduler knows of it; undefined before its worker is up. */
  readonly scheduler:
    | {
        /** Batches that it has: number, and how many of their tasks are left. */
        readonly batches: readonly { readonly batch: number; readonly left: number }[];
        /** Tasks that are to run there and have not been sent. */
        readonly placed: number;
        /** Whether a steal was asked of it and not answered. */
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
  /** Tasks that have not finished: those with a worker first. At most 20. */
  readonly tasks: readonly TaskDump[];
  /** Unfinished tasks that are not among `tasks`. */
  readonly more: number;
  readonly workers: readonly WorkerDump[];
  /** Calls of clients that wait, the oldest first. */
  readonly waits: readonly WaitDump[];
}
