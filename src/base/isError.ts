// Errors from other realms. In a test of Jest this package and the program have globals of their own, and what Node itself throws
// is an instance of another Error.

/** Whether a value is an Error of any realm, or a DOMException. */
export function isError(value: unknown): value is Error {
  if (value instanceof Error) return true;
  const text = Object.prototype.toString.call(value);
  return text === '[object Error]' || text === '[object DOMException]';
}
