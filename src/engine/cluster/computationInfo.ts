// A computation as observers see it, made from a plan.
import type { Plan } from '../../graph/compile.js';
import { functionName } from '../../graph/functionName.js';
import type { Computation } from '../../protocol/clusterObserver.js';
import type { ResultHandle } from './computationState.js';
import type { ComputationPrefixes } from './prefixTable.js';

export interface ComputationOrigin {
  readonly plan: Plan;
  readonly client: string;
  readonly spans?: { readonly of: Int32Array | null; readonly names: readonly (readonly string[])[] };
  readonly code?: string;
  /** There are no tasks, only results. */
  readonly data?: object;
}

export interface ComputationNumbers {
  readonly number: number;
  readonly firstId: number;
  readonly prefixes: ComputationPrefixes;
  readonly imports: ReadonlyMap<number, ResultHandle>;
  readonly submitted: number;
}

const DEFAULT_SPANS: readonly (readonly string[])[] = [['default']];

export function computationInfo(
  { plan, client, spans, code, data }: ComputationOrigin,
  { number, firstId, prefixes, imports, submitted }: ComputationNumbers,
): Computation {
  const { size } = plan.program;
  const isData = data !== undefined;
  const { offsets, targets } = plan.dependencies;
  const externals = new Float64Array(imports.size);
  let dependencies = targets;
  if (imports.size > 0) {
    const places = new Map<number, number>();
    for (const [local, { computation, local: origin }] of imports) {
      externals[places.size] = computation.resultId(origin);
      places.set(local, size + places.size);
    }
    dependencies = targets.map((target) => places.get(target) ?? target);
  }
  const given = isData ? Int32Array.from({ length: size }, (_, id) => id) : Int32Array.from(imports.keys());
  return {
    number,
    firstId,
    size,
    keys: plan.keys,
    prefixOf: prefixes.prefixOf,
    prefixes: prefixes.names,
    functionOf: plan.functionOf,
    functions: plan.functions.map((fn) => functionName(fn)),
    spanOf: spans?.of ?? null,
    spans: spans?.names ?? DEFAULT_SPANS,
    dependencyOffsets: offsets,
    dependencies,
    externals,
    ...(given.length === 0 ? {} : { given }),
    submitted,
    client,
    code: code ?? '',
  };
}
