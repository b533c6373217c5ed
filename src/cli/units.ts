// Parses numbers with units on a command line.
import { InvalidArgumentError } from 'commander';
import { readBytes, readDuration } from '../base/settings.js';

/** Returns bytes for `500MB`, `2GiB`, `1000`. */
export function parseBytes(text: string): number {
  return known(readBytes(text), `'${text}' is not a size. Write e.g. 500MB or 2GiB.`);
}

/** Returns bytes per second for `10Gbit`, `10Gbps`, `10Gb/s`, `125MB/s`, `1GB`. In a rate, `b` means bits and `B` bytes. */
export function parseBandwidth(text: string): number {
  const [, size, unit = '', rate] = /^(.*?)(bits?|b)?(\/s|ps)?$/i.exec(text.trim()) ?? [];
  const value = known(readBytes(size), `'${text}' is not a bandwidth. Write e.g. 10Gbit or 500MB/s.`);
  const isBits = unit.length > 1 || (unit === 'b' && rate !== undefined);
  return isBits ? value / 8 : value;
}

function known(value: number | undefined, problem: string): number {
  if (value !== undefined) return value;
  throw new InvalidArgumentError(problem);
}

/** Returns a share for `5%` or `0.05`. */
export function parseShare(text: string): number {
  const [, number, percent] = /^([\d.]+)\s*(%?)$/.exec(text.trim()) ?? [];
  const value = Number(number) / (percent === '%' ? 100 : 1);
  if (percent === '' && value > 1)
    throw new InvalidArgumentError(
      `'${text}' would be ${value * 100} %. Write ${text.trim()}% or ${value / 100}.`,
    );
  if (number !== undefined && value >= 0) return value;
  throw new InvalidArgumentError(`'${text}' is not a share. Write e.g. 5% or 0.05.`);
}

/** Returns seconds for `0.0002`, `200us`, `0.2ms`, `1s`. */
export function parseSeconds(text: string): number {
  return known(readDuration(text), `'${text}' is not a time. Write e.g. 0.0002 or 200us.`);
}

/** Returns whole numbers of at least 1, which are separated by commas. */
export function parseCounts(text: string): number[] {
  return text.split(',').map((part) => {
    const count = Number(part.trim());
    if (Number.isInteger(count) && count >= 1) return count;
    throw new InvalidArgumentError(`'${part}' is not a whole number of at least 1.`);
  });
}

/** Adds `prefix=2` to the factors of earlier options. The last `=` separates, because a prefix may contain others. */
export function parseFactor(
  text: string,
  before: Readonly<Record<string, number>> = {},
): Record<string, number> {
  const at = text.lastIndexOf('=');
  const factor = Number(text.slice(at + 1));
  if (at > 0 && factor > 0 && Number.isFinite(factor)) return { ...before, [text.slice(0, at)]: factor };
  throw new InvalidArgumentError(`'${text}' is not of the form prefix=2.`);
}
