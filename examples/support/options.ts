// Parses the command lines of the examples.

/** Returns a positive integer option. @throws RangeError that names the option */
export function positive(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new RangeError(`--${name} must be a whole number above 0, not ${text}.`);
  return value;
}

/**
 * Runs an example with the settings of its command line. If `read` throws, prints the usage and exits with code 2.
 *
 * @param read returns the settings; undefined: print the usage
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
