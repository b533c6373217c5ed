// Field names of DASF's events as numbers, recognised by their bytes.

/** Numbers that `fieldAt` returns. */
export const Field = {
  name: 0,
  timestamp: 1,
  duration: 2,
  phase: 3,
  scope: 4,
  process_id: 5,
  thread_id: 6,
  args: 7,
  key: 8,
  state: 9,
  size: 10,
  shape: 11,
  dtype: 12,
  type: 13,
  dependencies: 14,
  dependents: 15,
  tasks: 16,
} as const;

const UNKNOWN = -1;
const SLOTS = 1024;

const encoded = Object.keys(Field).map((name) => Uint8Array.from(name, (letter) => letter.charCodeAt(0)));

/** Unique, because no two fields have the same length and first two letters. */
const fieldOfSlot = new Int8Array(SLOTS).fill(UNKNOWN);
for (const [field, name] of encoded.entries()) fieldOfSlot[slotOf(name.length, name[0]!, name[1]!)] = field;

function slotOf(length: number, first: number, second: number): number {
  return (length * 67 + first * 31 + second) & (SLOTS - 1);
}

/**
 * Returns the field whose name, a msgpack string of at most 31 bytes, begins at `at`. Returns -1 for unknown or
 * truncated names.
 */
export function fieldAt(bytes: Uint8Array, at: number, end: number): number {
  if (at + 3 > end) return UNKNOWN;
  const length = bytes[at]! - 0xa0;
  const field = fieldOfSlot[slotOf(length, bytes[at + 1]!, bytes[at + 2]!)]!;
  if (field < 0) return UNKNOWN;
  const name = encoded[field]!;
  if (name.length !== length || at + 1 + length > end) return UNKNOWN;
  for (let i = 2; i < length; i++) if (bytes[at + 1 + i] !== name[i]) return UNKNOWN;
  return bytes[at + 1] === name[0] && bytes[at + 2] === name[1] ? field : UNKNOWN;
}
