// The results of earlier computations that a new one uses.
import type { Plan } from '../../graph/compile.js';
import { handleOf, type ResultHandle } from './computationState.js';
import type { ResultHandles } from './resultHandles.js';

/** Local id of an import → the handle of its result, and the scheduler's id of the original. */
interface ImportedResults {
  readonly imports: ReadonlyMap<number, ResultHandle>;
  readonly origins: ReadonlyMap<number, number>;
}

const NONE: ImportedResults = { imports: new Map(), origins: new Map() };

/**
 * Finds the imports of a plan, and marks them as not requested.
 *
 * @throws LongpoleError ERR_LONGPOLE_FUTURE if a result cannot be an input
 */
export function importedResults(plan: Plan, results: ResultHandles): ImportedResults {
  if (plan.imports.size === 0) return NONE;
  const imports = new Map<number, ResultHandle>();
  const origins = new Map<number, number>();
  for (const [local, external] of plan.imports) {
    const handle = results.checked(handleOf(external), external.key);
    imports.set(local, handle);
    origins.set(local, handle.computation.segment.base + handle.local);
    plan.requested[local] = 0;
  }
  return { imports, origins };
}
