// Values that all copies of the package in one isolate share. The module of a task may load another copy than the
// isolate, so these values are properties of the global object.

/** Returns the value of a name, which the first copy makes. */
export function sharedByCopies<T>(name: string, make: () => T): T {
  const holder: { [key: symbol]: T | undefined } = globalThis;
  const key = Symbol.for(name);
  const known = holder[key] ?? make();
  holder[key] = known;
  return known;
}
