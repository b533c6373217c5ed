// What Longpole needs of msgpack beyond the codec: to know where a value ends, and that it is whole, before anything is
// decoded. A decoder that is given damaged bytes may allocate what a damaged length says; it never sees such bytes here.
import { Packr } from 'msgpackr/pack';
import { Unpackr } from 'msgpackr/unpack';

/** Values nested deeper than this are refused, because decoders and everything after them recurse. */
const MAX_DEPTH = 64;

const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: true, int64AsType: 'number' });
const packr = new Packr({
  useRecords: false,
  variableMapSize: true,
  encodeUndefinedAsNil: true,
  largeBigIntToFloat: true,
});

/** Bytes of one value; they are only good until the next call. Integers beyond 32 bits become floats: see `exactIntegers`. */
export function packValue(value: unknown): Uint8Array {
  return packr.pack(value);
}

/** The same map with its large integers as bigints, which the codec writes as integers: sizes of 4 GiB stay whole numbers. */
export function exactIntegers(map: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  let copy: Record<string, unknown> | undefined;
  for (const name in map) {
    const value = map[name];
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) continue;
    if (value >= -(2 ** 31) && value < 2 ** 32) continue;
    copy ??= { ...map };
    copy[name] = BigInt(value);
  }
  return copy ?? map;
}

/** The one value that `bytes[start .. end)` is, or undefined if that is not exactly one whole value. Never throws. */
export function unpackValue(bytes: Uint8Array, view: DataView, start: number, end: number): unknown {
  if (skipValue(bytes, view, start, end) !== end) return undefined;
  try {
    return unpackr.unpack(bytes.subarray(start, end));
  } catch {
    return undefined;
  }
}

/** Where the value that begins at `at` ends, or -1 if it is not whole before `end`, nested too deeply, or no msgpack. */
export function skipValue(bytes: Uint8Array, view: DataView, at: number, end: number): number {
  // Values still to come on each level. Every value takes a byte at least, so a count beyond the bytes left is a lie.
  const pending = [1];
  let position = at;
  while (pending.length > 0) {
    const depth = pending.length - 1;
    if (pending[depth] === 0) {
      pending.pop();
      continue;
    }
    pending[depth]! -= 1;
    if (position >= end) return -1;
    const items = itemsIn(bytes, view, position, end);
    position =
      items === NOT_A_CONTAINER
        ? scalarEnd(bytes, view, position, end)
        : contentStart(bytes[position]!, position);
    if (position < 0 || position > end) return -1;
    if (items > 0) {
      if (items > end - position || pending.length >= MAX_DEPTH) return -1;
      pending.push(items);
    }
  }
  return position;
}

const NOT_A_CONTAINER = -1;

/** How many values an array or map holds: a map two for each entry. */
function itemsIn(bytes: Uint8Array, view: DataView, at: number, end: number): number {
  const type = bytes[at]!;
  if (type >= 0x80 && type <= 0x8f) return (type & 15) * 2;
  if (type >= 0x90 && type <= 0x9f) return type & 15;
  switch (type) {
    case 0xdc:
      return at + 3 <= end ? view.getUint16(at + 1) : Infinity;
    case 0xdd:
      return at + 5 <= end ? view.getUint32(at + 1) : Infinity;
    case 0xde:
      return at + 3 <= end ? view.getUint16(at + 1) * 2 : Infinity;
    case 0xdf:
      return at + 5 <= end ? view.getUint32(at + 1) * 2 : Infinity;
    default:
      return NOT_A_CONTAINER;
  }
}

function contentStart(type: number, at: number): number {
  return at + (type < 0xa0 ? 1 : type === 0xdc || type === 0xde ? 3 : 5);
}

/** Bytes of the scalars 0xc0 to 0xdb without those that state a length: header and content; 0 for these, -1 for no msgpack. */
const FIXED_SIZES = [1, -1, 1, 1, 0, 0, 0, 0, 0, 0, 5, 9, 2, 3, 5, 9, 2, 3, 5, 9, 3, 4, 6, 10, 18, 0, 0, 0];

function scalarEnd(bytes: Uint8Array, view: DataView, at: number, end: number): number {
  const type = bytes[at]!;
  if (type <= 0x7f || type >= 0xe0) return at + 1;
  if (type < 0xc0) return at + 1 + (type & 31);
  const fixed = FIXED_SIZES[type - 0xc0]!;
  if (fixed !== 0) return fixed < 0 ? -1 : at + fixed;
  // bin 0xc4 to 0xc6, ext 0xc7 to 0xc9 (one more byte for its type), str 0xd9 to 0xdb: lengths of 1, 2, 4 bytes.
  const width = 1 << ((type - (type >= 0xd9 ? 0xd9 : type >= 0xc7 ? 0xc7 : 0xc4)) & 3);
  if (at + 1 + width > end) return -1;
  const length = width === 1 ? bytes[at + 1]! : width === 2 ? view.getUint16(at + 1) : view.getUint32(at + 1);
  return at + 1 + width + length + (type >= 0xc7 && type <= 0xc9 ? 1 : 0);
}
