// Tokens for tasks that are not pure. A token costs two string concatenations. A random part per isolate makes tokens
// unique across processes.

/** Returns about 64 random bits. The first digit is not a letter, so that a token never looks like part of a prefix. */
const randomPart = (): string => {
  const word = (): string =>
    Math.floor(Math.random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  return `${Math.floor(Math.random() * 10)}${`${word()}${word()}`.slice(1)}`;
};

const isolatePart = randomPart();
const LOW_DIGITS = 3;
const LOW_COUNT = 16 ** LOW_DIGITS;
/** The low digits by their number. Made when they are needed: all of them take each start of an isolate 0.4 ms. */
const low: string[] = [];
let count = 0;
let high = '';

/**
 * Returns a hexadecimal token that no other call of any process returns. It has at least 24 digits and begins with a
 * decimal digit.
 */
export function uniqueToken(): string {
  const index = count % LOW_COUNT;
  if (index === 0) high = isolatePart + (count / LOW_COUNT).toString(16).padStart(5, '0');
  count++;
  low[index] ??= index.toString(16).padStart(LOW_DIGITS, '0');
  return high + low[index];
}
