// Compiled graphs on their way from a task to the process of the scheduler.
import { internalError } from '../../base/errors.js';
import type { ResultHandle } from '../../engine/cluster/computationState.js';
import { packValue, unpackResult } from '../../engine/worker/packResult.js';
import type { AnyFunction } from '../../graph/callable.js';
import type { Plan } from '../../graph/compile.js';
import type { External } from '../../graph/external.js';
import { nameFunction } from '../../graph/functionName.js';
import { functionRefs } from '../../graph/shipFunction.js';
import type { FutureNumber, ShippedPlan } from '../../protocol/clientQuestions.js';

/**
 * Returns a plan as data.
 *
 * @param numberOf returns the number of the future of an imported result
 * @throws LongpoleError ERR_LONGPOLE_NOT_CLONEABLE for arguments that cannot be copied, and the errors of functionRef
 */
export function shipPlan(plan: Plan, numberOf: (external: External) => number): ShippedPlan {
  const { program, keys, functionOf, dependencies, dependents, requested, spans } = plan;
  return {
    program,
    keys,
    functionOf,
    // The process of the scheduler knows whether the workers run Python.
    functions: functionRefs(plan.functions, true),
    constants: packValue(plan.constants, 'An argument of a submitted task'),
    dependencies,
    dependents,
    requested,
    imports: Array.from(
      plan.imports,
      ([local, external]): FutureNumber => ({ local, future: numberOf(external) }),
    ),
    spans,
  };
}

/**
 * Rebuilds a plan.
 *
 * @param imports local id → result of another computation
 */
export function receivePlan(shipped: ShippedPlan, imports: ReadonlyMap<number, ResultHandle>): Plan {
  const constants = unpackResult(shipped.constants);
  if (!Array.isArray(constants)) throw internalError('A plan of a task has no constants.');
  return {
    ...shipped,
    constants,
    imports,
    // Functions stay in the isolates. The engine needs their names.
    functions: shipped.functions.map(({ name }) => named(name)),
    sourceOf: () => undefined,
    ids: new Map(shipped.keys.map((key, local) => [key, local])),
    data: new Map(),
  };
}

function named(name: string): AnyFunction {
  const fn = (): undefined => undefined;
  Object.defineProperty(fn, 'name', { value: '' });
  nameFunction(fn, name);
  return fn;
}
