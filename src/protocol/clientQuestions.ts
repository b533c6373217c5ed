// The questions of clients inside tasks; see questions.ts. The asking isolate numbers its futures. A question may name
// futures of earlier questions of the same task without waiting for their answers, because questions arrive in order.
import type { ErrorInfo } from './errorInfo.js';
import type { FunctionRef } from './functionRef.js';
import type { PackedResult } from './packedResult.js';
import type { Program } from './program.js';

interface Edges {
  readonly offsets: Int32Array;
  readonly targets: Int32Array;
}

/** A compiled graph as plain data; see Plan of graph/compile.ts. */
export interface ShippedPlan {
  readonly program: Program;
  readonly keys: readonly string[];
  /** Index into `functions` of the function that each task calls; -1 for an alias or a list of results. */
  readonly functionOf: Int32Array;
  readonly functions: readonly FunctionRef[];
  /** The packed array of constants. */
  readonly constants: PackedResult;
  readonly dependencies: Edges;
  readonly dependents: Edges;
  /** 1 for tasks whose result the caller requested. */
  readonly requested: Uint8Array;
  /** Local ids of tasks that are results of futures, with the numbers of the futures. */
  readonly imports: readonly FutureNumber[];
  /** Spans of the tasks; undefined if there are none. */
  readonly spans:
    | {
        /** Task id → index into `names`; null if all tasks are in the first span. */
        readonly of: Int32Array | null;
        /** Tags of each span, e.g. `["Alice", "load"]`. */
        readonly names: readonly (readonly string[])[];
        /** Lines that opened each span, the outermost first. */
        readonly code: readonly (readonly string[])[];
      }
    | undefined;
}

/** The number of a future, and the local id of its task. */
export interface FutureNumber {
  readonly local: number;
  readonly future: number;
}

/** Options for tasks on a cluster. */
export interface ClusterTaskOptions {
  /** Tasks with a higher priority run first. Default 0; with equal priority, earlier submissions run first. */
  readonly priority?: number | undefined;
  /** Number of retries for a task that throws. Default 0. */
  readonly retries?: number | undefined;
  /** Names or addresses of the workers that may run the tasks. Default: all. */
  readonly workers?: string | readonly string[] | undefined;
  /** Resources that a worker must have, e.g. `{ GPU: 1 }`. */
  readonly resources?: Readonly<Record<string, number>> | undefined;
  /** Time limit of a task in seconds. A task that exceeds it is stopped and fails. Default: no limit. */
  readonly timeout?: number | undefined;
}

/** How a future has ended. */
export interface FutureEnd {
  readonly status: 'pending' | 'finished' | 'error' | 'cancelled' | 'lost';
  /** The error of a future without a result. */
  readonly error?: ErrorInfo;
}

interface OfFutures {
  readonly futures: readonly number[];
}

export interface ClientQuestionKinds {
  /** Adds a computation. */
  readonly submit: {
    readonly question: {
      readonly plan: ShippedPlan;
      readonly futures: readonly FutureNumber[];
      readonly options: ClusterTaskOptions;
      /** Line of the program that made the call. */
      readonly code: string;
    };
    readonly answer: null;
  };
  /** Copies values to workers. */
  readonly scatter: {
    readonly question: OfFutures & {
      readonly values: readonly PackedResult[];
      readonly options: {
        readonly broadcast?: boolean;
        readonly workers?: string | readonly string[];
      };
    };
    readonly answer: { readonly keys: readonly string[] };
  };
  /** Waits for results and fetches them. */
  readonly fetch: {
    readonly question: OfFutures;
    readonly answer: { readonly results: readonly PackedResult[] };
  };
  /** Waits until futures have ended. */
  readonly settle: { readonly question: OfFutures; readonly answer: { readonly ends: readonly FutureEnd[] } };
  /** Makes a future of a result that a shared object has given to the task; see coordination.ts. */
  readonly receive: {
    readonly question: { readonly future: number; readonly key: string };
    readonly answer: null;
  };
  readonly cancel: { readonly question: OfFutures; readonly answer: null };
  readonly release: { readonly question: OfFutures; readonly answer: null };
}
