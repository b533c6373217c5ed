// Built-in objects of any realm. Under Jest, which runs a program with `node:vm`, the objects of the program are instances
// of other classes than those of this package.

/** Returns a function that recognises the instances of a class, also of another realm, which have its tag and its method. */
function isInstance<T>(name: string, method: keyof T & string): (value: unknown) => value is T {
  // Pages that are not isolated have no SharedArrayBuffer.
  const own: unknown = Reflect.get(globalThis, name);
  const tag = `[object ${name}]`;
  return (value): value is T =>
    typeof value === 'object' &&
    value !== null &&
    ((typeof own === 'function' && value instanceof own) ||
      // A program may give its objects any tag.
      (Object.prototype.toString.call(value) === tag && typeof Reflect.get(value, method) === 'function'));
}

export const isMap = isInstance<Map<unknown, unknown>>('Map', 'forEach');
export const isSet = isInstance<Set<unknown>>('Set', 'forEach');
export const isDate = isInstance<Date>('Date', 'getTime');
export const isRegExp = isInstance<RegExp>('RegExp', 'exec');
export const isPromise = isInstance<Promise<unknown>>('Promise', 'then');
export const isArrayBuffer = isInstance<ArrayBuffer>('ArrayBuffer', 'slice');
export const isSharedArrayBuffer = isInstance<SharedArrayBuffer>('SharedArrayBuffer', 'slice');

/** Returns whether a value is an object literal or an object without a prototype. Other objects are data as a whole. */
export function isPlainObject(value: object): value is Record<string, unknown> {
  const prototype: object | null = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  // Classes may extend null, too.
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf');
}
