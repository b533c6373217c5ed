// A client's request to a cluster: a graph, its functions, and the policy for its tasks.
import type { FunctionRef } from '../../protocol/functionRef.js';
import type { ComputationOrigin } from '../computationInfo.js';
import type { SegmentPolicy } from '../scheduler/taskGraph.js';

export interface ComputationRequest extends ComputationOrigin {
  readonly functions: readonly FunctionRef[];
  readonly policy?: SegmentPolicy;
  /** Limit on the run time of a task, in seconds; 0 or undefined: none. */
  readonly timeout?: number;
  /** Scattered data: values by local id if they are inline, otherwise the workers that hold them. */
  readonly data?: {
    readonly results: unknown[];
    readonly holders: Int32Array;
    readonly nbytes: Float64Array;
    /** First id of the data, from `reserveIds`. */
    readonly firstId: number;
  };
}
