// A form of a call, and helpers that call functions and methods without type checks.
import assert from 'node:assert/strict';
import { type Client, delayed } from 'longpole';

/** A form of a call, and its expected value or a pattern of its error message. */
export type Form = readonly [
  form: string,
  call: (client: Client, folder: string) => unknown,
  expected: unknown,
];

/** Calls a function without type checks, as a program in JavaScript does. */
export function loose(fn: unknown, ...args: readonly unknown[]): unknown {
  assert.ok(typeof fn === 'function');
  return Reflect.apply(fn, undefined, args);
}

/** Calls a constructor without type checks. */
export function make(Class: unknown, ...args: readonly unknown[]): unknown {
  assert.ok(typeof Class === 'function');
  return Reflect.construct(Class, args);
}

/** Calls a method by name, without type checks. */
export function on(target: object, name: string, ...args: readonly unknown[]): unknown {
  const method: unknown = Reflect.get(target, name);
  assert.ok(typeof method === 'function', name);
  return Reflect.apply(method, target, args);
}

export const inc = delayed((x: number) => x + 1);
