// Finds the end of msgpack values and checks that they are complete before anything is decoded. A decoder may allocate
// the memory that a damaged length demands; here it receives no such bytes.
import { Packr } from 'msgpackr/pack';
import { Unpackr } from 'msgpackr/unpack';
import { attempt } from '../../../base/errors.js';
import { type EventArgs, RESOURCE_EVENT } from './dasfEvents.js';

/** Limit for nesting. Decoders and later code recurse, so deeper values are rejected. */
export const MAX_DEPTH = 64;

// Made by the first use, because the library takes a command 15 ms of CPU.
let packr: Packr | undefined;
let unpackr: Unpackr | undefined;

/**
 * Returns the bytes of a value, valid until the next call. Integers beyond 32 bits become floats; see `exactIntegers`.
 */
export function packValue(value: unknown): Uint8Array {
  packr ??= new Packr({
    useRecords: false,
    variableMapSize: true,
    encodeUndefinedAsNil: true,
    largeBigIntToFloat: true,
  });
  return packr.pack(value);
}

/** Returns the map with large integers as bigints, which the codec writes as integers, e.g. sizes above 4 GiB. */
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

/** Returns the value in `bytes[start .. end)`, or undefined if that is not exactly one complete value. Never throws. */
export function unpackValue(bytes: Uint8Array, view: DataView, start: number, end: number): unknown {
  if (skipValue(bytes, view, start, end) !== end) return undefined;
  unpackr ??= new Unpackr({ useRecords: false, mapsAsObjects: true, int64AsType: 'number' });
  return attempt((): unknown => unpackr?.unpack(bytes.subarray(start, end)), undefined);
}

/** Returns the end of the value at `at`. Returns -1 if it is incomplete, nested too deeply, or no msgpack. */
export function skipValue(bytes: Uint8Array, view: DataView, at: number, end: number): number {
  // Remaining values by level. A value takes at least a byte, so a count above the remaining bytes is invalid.
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

/** Yields the start of each key of the map in `bytes[start .. end)`, with the range of its value. Checked values only. */
function* mapEntries(
  bytes: Uint8Array,
  view: DataView,
  start: number,
  end: number,
): Generator<readonly [key: number, value: { readonly start: number; readonly end: number }]> {
  const type = bytes[start]!;
  if (!(type >= 0x80 && type <= 0x8f) && type !== 0xde && type !== 0xdf) return;
  const entries = itemsIn(bytes, view, start, end) / 2;
  let key = contentStart(type, start);
  for (let entry = 0; entry < entries; entry++) {
    const value = skipValue(bytes, view, key, end);
    const next = skipValue(bytes, view, value, end);
    yield [key, { start: value, end: next }];
    key = next;
  }
}

const NOT_A_CONTAINER = -1;

/** Returns the number of values in an array or map; a map has two per entry. */
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

/** Sizes of the scalars 0xc0 to 0xdb with header. 0 marks scalars with a stated length, -1 invalid types. */
const FIXED_SIZES = [1, -1, 1, 1, 0, 0, 0, 0, 0, 0, 5, 9, 2, 3, 5, 9, 2, 3, 5, 9, 3, 4, 6, 10, 18, 0, 0, 0];

function scalarEnd(bytes: Uint8Array, view: DataView, at: number, end: number): number {
  const type = bytes[at]!;
  if (type <= 0x7f || type >= 0xe0) return at + 1;
  if (type < 0xc0) return at + 1 + (type & 31);
  const fixed = FIXED_SIZES[type - 0xc0]!;
  if (fixed !== 0) return fixed < 0 ? -1 : at + fixed;
  // bin 0xc4 to 0xc6, ext 0xc7 to 0xc9 (with a byte for the type), str 0xd9 to 0xdb: lengths of 1, 2 or 4 bytes.
  const width = 1 << ((type - (type >= 0xd9 ? 0xd9 : type >= 0xc7 ? 0xc7 : 0xc4)) & 3);
  if (at + 1 + width > end) return -1;
  const length = width === 1 ? bytes[at + 1]! : width === 2 ? view.getUint16(at + 1) : view.getUint32(at + 1);
  return at + 1 + width + length + (type >= 0xc7 && type <= 0xc9 ? 1 : 0);
}

/** Figures of resource events that are floats in DASF's files, beside those that end in `_bps`. */
const FLOAT_FIGURES: ReadonlySet<string> = new Set([
  'cpu',
  'time',
  'host_cpu',
  'event_loop_delay',
  'event_loop_utilization',
]);

/** Names of the floats with whole values in the arguments of events that were read from a file. */
const read = new WeakMap<EventArgs, ReadonlySet<string>>();

/**
 * Returns the names of the whole numbers in the arguments of an event that are floats; undefined if there are none.
 * JavaScript does not distinguish 0.0 from 0, but DASF's files do: `cpu: 0.0` must not become `cpu: 0` when a file is
 * rewritten.
 */
export function floatNames(event: {
  readonly name: string;
  readonly args: EventArgs;
}): ReadonlySet<string> | undefined {
  if (event.name !== RESOURCE_EVENT) return read.get(event.args);
  const isFloat = (name: string): boolean => FLOAT_FIGURES.has(name) || name.endsWith('_bps');
  return new Set(
    Object.keys(event.args).filter((name) => isFloat(name) && Number.isInteger(event.args[name])),
  );
}

/** Remembers which arguments of an event are floats with whole values in its record `bytes[start .. end)`. */
export function keepFloats(
  args: EventArgs,
  bytes: Uint8Array,
  view: DataView,
  start: number,
  end: number,
): void {
  const names = new Set<string>();
  for (const [key, value] of mapEntries(bytes, view, start, end)) {
    if (unpackValue(bytes, view, key, value.start) !== 'args') continue;
    for (const [name, { start: at, end: stop }] of mapEntries(bytes, view, value.start, value.end)) {
      if (bytes[at] !== 0xca && bytes[at] !== 0xcb) continue;
      const text = unpackValue(bytes, view, name, at);
      if (typeof text === 'string' && Number.isInteger(unpackValue(bytes, view, at, stop))) names.add(text);
    }
  }
  if (names.size > 0) read.set(args, names);
}
