// What the examples share: their command lines.

/** @throws RangeError that names the option */
export function positive(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new RangeError(`--${name} must be a whole number above 0, not ${text}.`);
  return value;
}

/**
 * Runs an example with what its command line says; a wrong one, for which `read` throws, gets the usage and ends with 2.
 *
 * @param read undefined: the usage was asked for
 * @param main resolves to the exit code
 */
export async function runWith<S>(
  usage: string,
  read: () => S | undefined,
  main: (settings: S) => Promise<number>,
): Promise<void> {
  let settings: S | undefined;
  try {
    settings = read();
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    process.exit(2);
  }
  if (settings === undefined) console.log(usage);
  else process.exitCode = await main(settings);
}
