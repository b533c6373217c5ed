// The description of a computation that observers receive, made from a plan.
import type { Plan } from '../graph/compile.js';
import { functionName } from '../graph/functionName.js';
import type { Computation } from '../protocol/clusterObserver.js';
import type { ResultId } from '../protocol/packedResult.js';
import type { ComputationPrefixes } from './prefixTable.js';

export interface ComputationOrigin {
  readonly plan: Plan;
  readonly client: string;
  readonly spans?:
    | { readonly of: Int32Array | null; readonly names: readonly (readonly string[])[] }
    | undefined;
  /** Source lines of the call. */
  readonly code?: string;
  /** Time of the call, in seconds on the engine's clock. */
  readonly called?: number | undefined;
  /** End of the program's own time in a burst of calls, on the engine's clock. */
  readonly prepared?: number;
  /** Defined for scattered data, which has results and no tasks. */
  readonly data?: object;
}

interface ImportedResult {
  readonly computation: { resultId(local: number): ResultId };
  readonly local: number;
}

export interface ComputationNumbers extends Pick<Computation, 'number' | 'firstId' | 'submitted'> {
  readonly prefixes: ComputationPrefixes | (() => ComputationPrefixes);
  /** Local id of an import → result of an earlier computation. */
  readonly imports: ReadonlyMap<number, ImportedResult>;
}

const DEFAULT_SPANS: readonly (readonly string[])[] = [['default']];

export function computationInfo(
  { plan, client, spans, code, called, prepared, data }: ComputationOrigin,
  { number, firstId, prefixes, imports, submitted }: ComputationNumbers,
): Computation {
  const { size } = plan.program;
  const isData = data !== undefined;
  const { offsets, targets } = plan.dependencies;
  let externals = NO_EXTERNALS;
  let dependencies = targets;
  if (imports.size > 0) {
    externals = new Float64Array(imports.size);
    const places = new Map<number, number>();
    for (const [local, { computation, local: origin }] of imports) {
      externals[places.size] = computation.resultId(origin);
      places.set(local, size + places.size);
    }
    dependencies = targets.map((target) => places.get(target) ?? target);
  }
  const known = typeof prefixes === 'function' ? undefined : prefixes;
  const info: { -readonly [K in keyof Computation]: Computation[K] } = {
    number,
    firstId,
    size,
    keys: plan.keys,
    prefixOf: known?.prefixOf ?? NO_PREFIXES,
    prefixes: known?.names ?? [],
    functionOf: plan.functionOf,
    functions: plan.functions.map((fn) => functionName(fn)),
    spanOf: spans?.of ?? null,
    spans: spans?.names ?? DEFAULT_SPANS,
    dependencyOffsets: offsets,
    dependencies,
    externals,
    submitted,
    client,
    code: code ?? '',
  };
  if (isData && size > 0) info.given = Int32Array.from({ length: size }, (_, id) => id);
  else if (imports.size > 0) info.given = Int32Array.from(imports.keys());
  if (called !== undefined) info.called = called;
  if (prepared !== undefined) info.prepared = prepared;
  return typeof prefixes === 'function' ? withPrefixes(info, prefixes) : info;
}

const NO_EXTERNALS = new Float64Array(0);
const NO_PREFIXES = new Int32Array(0);

/**
 * Adds getters for prefixes. V8 accesses an object with getters of its own slowly. A separate function, so that the getters' closure does not hold the plan with its
 * arguments.
 */
function withPrefixes(info: Computation, prefixes: () => ComputationPrefixes): Computation {
  return {
    ...info,
    get prefixOf() {
      return prefixes().prefixOf;
    },
    get prefixes() {
      return prefixes().names;
    },
  };
}
