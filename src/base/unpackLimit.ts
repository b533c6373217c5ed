// Limits the size of unpacked data. Some kilobytes of gzip, or of the packed data in a page, can unpack to gigabytes.
// The limit grows with the packed bytes, so that every real trace stays below it.
import { invalidArgument, LongpoleError } from './errors.js';
import { integerText } from './words.js';

/** Bytes that are always allowed, because small files may be very regular. */
const ALWAYS = 128 * 2 ** 20;
/**
 * Unpacked bytes allowed per packed byte. Real traces unpack to 5 to 30 times their size; the formats allow 1,032
 * times (deflate) and 255 times (LZ4).
 */
const RATIO = 100;

/** Returns the number of bytes to which `packed` bytes may unpack. */
export function unpackLimit(packed: number): number {
  return Math.max(ALWAYS, packed * RATIO);
}

/**
 * Checks the option `maxUnpackedBytes`.
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if it is not a number of bytes
 */
export function checkMaxUnpackedBytes(max: number | undefined): void {
  if (max === undefined || (typeof max === 'number' && max >= 0)) return;
  throw invalidArgument(
    `maxUnpackedBytes is a number of bytes, or Infinity for no limit, not ${String(max)}.`,
  );
}

/** Returns the error for data whose `packed` bytes unpack to more than `limit`. `what` names it, e.g. a file. */
export function unpackedSizeError(what: string, packed: number, limit: number): LongpoleError {
  const bytes = (count: number): string => `${integerText(Math.floor(count))} bytes`;
  return new LongpoleError(
    'ERR_LONGPOLE_UNPACKED_SIZE',
    `${what} was not read further: ${bytes(packed)} of compressed data unpack to more than ${bytes(limit)}, which no real trace does. If you trust the source of the file, raise the limit: longpole view --max-unpacked 4GB, or openTrace(path, { maxUnpackedBytes }).`,
  );
}
