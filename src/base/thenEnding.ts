// A function during something that has an end, e.g. a recording.

/**
 * Calls a function, and then `end`, also if the function fails.
 *
 * @returns (resolves) the result of the function
 * @throws (rejects) the error of the function, even if `end` fails, too; else the error of `end`
 */
export async function thenEnding<R>(fn: () => R, end: () => Promise<unknown>): Promise<Awaited<R>> {
  let result: Awaited<R>;
  try {
    result = await fn();
  } catch (error) {
    // The cause is more important than an error that may be its consequence.
    await end().catch(() => undefined);
    throw error;
  }
  await end();
  return result;
}
