// Errors from other realms. Under Jest this package and the program run in a separate realm, and errors that Node throws are
// instances of another Error class.

/** Returns whether a value is an Error of any realm, or a DOMException. */
export function isError(value: unknown): value is Error {
  if (value instanceof Error) return true;
  const text = Object.prototype.toString.call(value);
  return text === '[object Error]' || text === '[object DOMException]';
}
