// Steps of a pipeline: which values are allowed, their names, and how a step is called. A step runs in the program
// that runs the pipeline. The tasks that a step creates run where the pipeline's client runs them.
import { invalidArgument } from '../base/errors.js';
import { type AnyFunction, isFunction, TASK_TARGET } from '../graph/callable.js';
import type { Delayed } from '../graph/delayed.js';
import type { Input } from '../graph/input.js';

/** Context that a step receives beside its inputs. */
export interface OperatorContext {
  /**
   * Computes every Delayed in a value (also nested in arrays, plain objects, Maps and Sets) and replaces it by its
   * result.
   */
  compute<T>(value: Delayed<T>): Promise<T>;
  compute<T>(values: readonly Input<T>[]): Promise<T[]>;
  compute(value: unknown): Promise<unknown>;
  /**
   * Computes every Delayed in a value, keeps the results where they were computed, and replaces each Delayed by a
   * reference.
   */
  persist<T>(values: readonly Input<T>[]): Promise<Input<T>[]>;
  persist(value: unknown): Promise<unknown>;
}

/** A source or a step, which is a box in the drawing. */
export interface Operator {
  /** Identity of the operator. The same object given twice is one operator. */
  readonly identity: object;
  readonly name: string;
  run(inputs: Readonly<Record<string, unknown>>, context: OperatorContext): unknown;
}

/** Methods that run an object, in the order of precedence. The first three are those of DASF. */
const METHODS = ['load', 'fit', 'transform', 'fitTransform'] as const;

/** Returns the operator for a value; undefined for data. */
export function asOperator(value: unknown): Operator | undefined {
  if (isFunction(value)) return operatorOf(value, undefined, value.name || 'anonymous');
  if (typeof value !== 'object' || value === null) return undefined;
  for (const method of METHODS) {
    const fn: unknown = Reflect.get(value, method);
    if (isFunction(fn)) return operatorOf(fn, value, `${nameOf(value)}.${method}`);
  }
  return undefined;
}

/**
 * Returns the operator for a value.
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if the value is not an operator
 */
export function toOperator(value: unknown): Operator {
  const operator = asOperator(value);
  if (operator !== undefined) return operator;
  throw invalidArgument(
    `A step of a pipeline is a function, a TaskFunction, or an object with ${METHODS.join(', ')}; not ${describe(value)}.`,
  );
}

/** Returns the operator that calls a function, which is a method if `self` is given. */
function operatorOf(fn: AnyFunction, self: object | undefined, name: string): Operator {
  // A TaskFunction receives its inputs as separate arguments, like in any call of it, and returns a Delayed.
  const isTask = TASK_TARGET in fn;
  return {
    identity: self ?? fn,
    name,
    run: (inputs, context): unknown =>
      Reflect.apply(fn, self, isTask ? Object.values(inputs) : [inputs, context]),
  };
}

function nameOf(object: object): string {
  const name: unknown = Reflect.get(object, 'name');
  if (typeof name === 'string' && name !== '') return name;
  const maker: unknown = Reflect.get(object, 'constructor');
  return isFunction(maker) && maker !== Object ? maker.name : 'object';
}

function describe(value: unknown): string {
  if (typeof value !== 'object' || value === null) return `${String(value)} (${typeof value})`;
  return Array.isArray(value) ? 'an array' : `an object with ${Object.keys(value).join(', ') || 'nothing'}`;
}
