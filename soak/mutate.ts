// Damages files: truncates them, flips bits, and removes, doubles or replaces parts.
import type { Random } from './random.js';

type Mutation = (random: Random, bytes: Uint8Array, foreign: Uint8Array) => Uint8Array;

const EXTREMES = [0, 1, 0x7f, 0x80, 0xff];
/** Replacements of numbers that parsers may not expect. */
const TOKENS = [
  '-1',
  '1e999',
  'null',
  '{}',
  '[[[[',
  '"',
  '\\u0000',
  '1.7976931348623157e308',
  'NaN',
  '9007199254740993',
];

function part(random: Random, bytes: Uint8Array): [begin: number, end: number] {
  const begin = random.below(bytes.length + 1);
  return [begin, Math.min(bytes.length, begin + random.below(random.pick([2, 16, 256, 65_536])))];
}

function join(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

const MUTATIONS: Readonly<Record<string, Mutation>> = {
  'cut off': (random, bytes) => bytes.slice(0, random.below(bytes.length + 1)),
  'without its beginning': (random, bytes) => bytes.slice(random.below(bytes.length + 1)),
  'with a turned bit': (random, bytes) => {
    const copy = bytes.slice();
    if (copy.length > 0) copy[random.below(copy.length)]! ^= 1 << random.below(8);
    return copy;
  },
  'with extreme bytes': (random, bytes) => bytes.slice().fill(random.pick(EXTREMES), ...part(random, bytes)),
  'with random bytes': (random, bytes) => {
    const copy = bytes.slice();
    const [begin, end] = part(random, bytes);
    for (let at = begin; at < end; at++) copy[at] = random.below(256);
    return copy;
  },
  'with a part missing': (random, bytes) => {
    const [begin, end] = part(random, bytes);
    return join(bytes.subarray(0, begin), bytes.subarray(end));
  },
  'with a part doubled': (random, bytes) => {
    const [begin, end] = part(random, bytes);
    return join(bytes.subarray(0, end), bytes.subarray(begin));
  },
  'with a part of another file': (random, bytes, foreign) => {
    const [at] = part(random, bytes);
    return join(bytes.subarray(0, at), foreign.subarray(...part(random, foreign)), bytes.subarray(at));
  },
  'with another number': (random, bytes) => {
    const text = Buffer.from(bytes).toString('latin1');
    const numbers = [...text.matchAll(/\d+/g)];
    if (numbers.length === 0) return bytes;
    const { 0: found, index } = random.pick(numbers);
    const changed = text.slice(0, index) + random.pick(TOKENS) + text.slice(index + found.length);
    return new Uint8Array(Buffer.from(changed, 'latin1'));
  },
  empty: () => new Uint8Array(0),
};

export interface Mutated {
  readonly bytes: Uint8Array;
  /** Description of the damage. */
  readonly how: string;
}

/** Returns a copy with one to three mutations. */
export function mutated(random: Random, bytes: Uint8Array, foreign: Uint8Array): Mutated {
  const names = Array.from({ length: 1 + random.below(3) }, () => random.pick(Object.keys(MUTATIONS)));
  const changed = names.reduce((before, name) => MUTATIONS[name]!(random, before, foreign), bytes);
  return { bytes: changed, how: names.join(', ') };
}
