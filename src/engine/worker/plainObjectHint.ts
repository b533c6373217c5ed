// Explains the error of a task that calls a method of a class instance that became a plain object in transit. V8 only
// says "p.norm is not a function".
import { OP_CONSTANT, OP_REF, type Program } from '../../protocol/program.js';

const NOT_A_FUNCTION = /([\w$]+) is not a function/;
const NOT_ITERABLE = /is not iterable/;
const HINT = 'An argument of the task is a plain object';
/** Elements of an array that are checked. */
const MOST_ELEMENTS = 20;

/** Adds to a TypeError that an argument is a plain object, if that is the likely reason. Returns the thrown value. */
export function withPlainObjectHint(thrown: unknown, argumentsOf: () => readonly unknown[]): unknown {
  if (!(thrown instanceof TypeError)) return thrown;
  const { message } = thrown;
  // A program may throw one error several times.
  if (message.includes(HINT)) return thrown;
  const [, name] = NOT_A_FUNCTION.exec(message) ?? [];
  if (name === undefined && !NOT_ITERABLE.test(message)) return thrown;
  const lacks = (value: unknown): boolean => isPlain(value) && (name === undefined || !(name in value));
  const all = argumentsOf().flatMap((one) => (Array.isArray(one) ? one.slice(0, MOST_ELEMENTS) : [one]));
  if (!all.some(lacks)) return thrown;
  const without = name === undefined ? '' : ` without '${name}'`;
  const hinted = `${message}. ${HINT}${without}: instances of classes arrive as plain objects. Pass data, and create the instance inside the task.`;
  const { stack } = thrown;
  thrown.message = hinted;
  if (stack !== undefined) thrown.stack = stack.replace(message, () => hinted);
  return thrown;
}

/** Returns the arguments of a task, as far as they are known after the call. */
export function argumentsOf(
  { tokenOffsets, operations, operands }: Program,
  id: number,
  results: readonly unknown[],
  constants: readonly unknown[],
): unknown[] {
  const values: unknown[] = [];
  for (let at = tokenOffsets[id]!; at < tokenOffsets[id + 1]!; at++) {
    if (operations[at] === OP_REF) values.push(results[operands[at]!]);
    else if (operations[at] === OP_CONSTANT) values.push(constants[operands[at]!]);
  }
  return values;
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
