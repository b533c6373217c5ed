// Built-in objects of any realm. Under Jest, which runs a program with `node:vm`, the objects of the program are instances
// of other classes than those of this package.

function isNamed<T>(name: string): (value: unknown) => value is T {
  return (value): value is T => Object.prototype.toString.call(value) === `[object ${name}]`;
}

export const isMap = isNamed<Map<unknown, unknown>>('Map');
export const isSet = isNamed<Set<unknown>>('Set');
export const isDate = isNamed<Date>('Date');
export const isRegExp = isNamed<RegExp>('RegExp');
export const isPromise = isNamed<Promise<unknown>>('Promise');
export const isArrayBuffer = isNamed<ArrayBuffer>('ArrayBuffer');
export const isSharedArrayBuffer = isNamed<SharedArrayBuffer>('SharedArrayBuffer');

/** Returns whether a value is an object literal or an object without a prototype. Other objects are data as a whole. */
export function isPlainObject(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}
