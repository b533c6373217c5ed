// Describes a task in a short line, e.g. `add(1, a)`: keys by name, small values literally, others by type and size.
import { isFunction, resolveFunction } from '../graph/callable.js';
import { functionName } from '../graph/functionName.js';

const MAX_TEXT = 80;
const MAX_STRING = 24;
const MAX_ARGUMENTS = 6;
const MAX_ITEMS = 3;
const MAX_DEPTH = 3;

/**
 * Returns the description of a task of a graph, with at most 80 characters.
 *
 *     taskText([add, 1, 'a'], isKey) // "add(1, a)"
 *
 * @param isKey whether a string is the key of a task
 */
export function taskText(task: unknown, isKey: (text: string) => boolean): string {
  return cut(describe(task, isKey, 0), MAX_TEXT);
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

function describe(value: unknown, isKey: (text: string) => boolean, depth: number): string {
  if (typeof value === 'string') return isKey(value) ? value : JSON.stringify(cut(value, MAX_STRING));
  if (typeof value === 'bigint') return cut(`${value}n`, MAX_STRING);
  if (isFunction(value)) return functionName(resolveFunction(value));
  if (Array.isArray(value)) return describeArray(value, isKey, depth);
  if (typeof value === 'object' && value !== null) return describeObject(value);
  return String(value);
}

function describeArray(array: readonly unknown[], isKey: (text: string) => boolean, depth: number): string {
  const head: unknown = array[0];
  const isTask = isFunction(head);
  const parts = isTask ? array.slice(1, MAX_ARGUMENTS + 1) : array.slice(0, MAX_ITEMS);
  const complete = parts.length === array.length - (isTask ? 1 : 0);
  const texts = depth < MAX_DEPTH ? parts.map((part) => describe(part, isKey, depth + 1)) : [];
  if (texts.length < parts.length || !complete) texts.push('…');
  const list = texts.join(', ');
  return isTask ? `${functionName(resolveFunction(head))}(${list})` : `[${list}]`;
}

function describeObject(value: object): string {
  const name = value.constructor?.name ?? 'Object';
  if (ArrayBuffer.isView(value) && 'length' in value) return `${name}(${String(value.length)})`;
  if ('byteLength' in value) return `${name}(${String(value.byteLength)})`;
  if (value instanceof Map || value instanceof Set) return `${name}(${value.size})`;
  if (name !== 'Object') return name;
  const keys = Object.keys(value);
  const shown = keys.slice(0, MAX_ITEMS);
  if (shown.length < keys.length) shown.push('…');
  return `{${shown.join(', ')}}`;
}
