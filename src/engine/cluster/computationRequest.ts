// What a client asks of the cluster: a graph, its functions, and how it is to be treated.
import type { Plan } from '../../graph/compile.js';
import type { FunctionRef } from '../../protocol/functionRef.js';
import type { SegmentPolicy } from '../scheduler/taskGraph.js';

export interface ComputationRequest {
  readonly plan: Plan;
  readonly functions: readonly FunctionRef[];
  readonly client: string;
  readonly policy?: SegmentPolicy;
  /** Seconds that a task may run; 0 or undefined: as long as it likes. */
  readonly timeout?: number;
  readonly spans?: { readonly of: Int32Array | null; readonly names: readonly (readonly string[])[] };
  /** The lines that asked for it. */
  readonly code?: string;
  /** When the program began to ask for it, on the engine's clock. */
  readonly called?: number;
  /** Data: the results by local id, where they are inline, or who has them. */
  readonly data?: {
    readonly results: unknown[];
    readonly holders: Int32Array;
    readonly nbytes: Float64Array;
    /** See reserveIds. */
    readonly firstId: number;
  };
}
