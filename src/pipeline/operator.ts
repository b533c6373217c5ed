// What a step of a pipeline may be, what it is called, and how it is run. Steps run in the program that runs the pipeline;
// the work that they describe runs where the pipeline's client runs it.
import { LongpoleError } from '../base/errors.js';
import { type AnyFunction, isFunction, TASK_TARGET } from '../graph/callable.js';
import type { Delayed } from '../graph/delayed.js';
import type { Input } from '../graph/input.js';

/** What a step is given beside its inputs. */
export interface OperatorContext {
  /** Computes every Delayed in a value (also nested in arrays, plain objects, Maps and Sets) and puts its result there. */
  compute<T>(value: Delayed<T>): Promise<T>;
  compute<T>(values: readonly Input<T>[]): Promise<T[]>;
  compute(value: unknown): Promise<unknown>;
  /** Has every Delayed in a value computed and kept where it was computed, and puts there what stands for its result. */
  persist<T>(values: readonly Input<T>[]): Promise<Input<T>[]>;
  persist(value: unknown): Promise<unknown>;
}

/** A source or a step: something that has a place of its own in the drawing. */
export interface Operator {
  /** The same operator given twice is one. */
  readonly identity: object;
  readonly name: string;
  run(inputs: Readonly<Record<string, unknown>>, context: OperatorContext): unknown;
}

/** The functions that an object is run by, in the order in which they are looked for; the first three as in DASF. */
const METHODS = ['load', 'fit', 'transform', 'fitTransform'] as const;

/** The operator that a value is; undefined for a value that is data. */
export function asOperator(value: unknown): Operator | undefined {
  if (isFunction(value)) return functionOperator(value);
  if (typeof value !== 'object' || value === null) return undefined;
  for (const method of METHODS) {
    const fn: unknown = Reflect.get(value, method);
    if (isFunction(fn)) return { ...objectOperator(value, fn), name: `${nameOf(value)}.${method}` };
  }
  return undefined;
}

/** @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for what is no operator */
export function toOperator(value: unknown): Operator {
  const operator = asOperator(value);
  if (operator !== undefined) return operator;
  throw new LongpoleError(
    'ERR_LONGPOLE_INVALID_ARGUMENT',
    `A step of a pipeline is a function, a TaskFunction, or an object with ${METHODS.join(', ')}; not ${describe(value)}.`,
  );
}

function functionOperator(fn: AnyFunction): Operator {
  const name = fn.name || 'anonymous';
  // A task takes its inputs one after the other, as any call of it; it does not run here.
  if (TASK_TARGET in fn)
    return { identity: fn, name, run: (inputs) => call(fn, undefined, Object.values(inputs)) };
  return { identity: fn, name, run: (inputs, context) => call(fn, undefined, [inputs, context]) };
}

function objectOperator(object: object, fn: AnyFunction): Omit<Operator, 'name'> {
  if (TASK_TARGET in fn)
    return { identity: object, run: (inputs) => call(fn, object, Object.values(inputs)) };
  return { identity: object, run: (inputs, context) => call(fn, object, [inputs, context]) };
}

/** What a step's author takes is known to that author alone: a step may be any function. */
function call(fn: AnyFunction, self: object | undefined, args: readonly unknown[]): unknown {
  return Reflect.apply(fn, self, args);
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
