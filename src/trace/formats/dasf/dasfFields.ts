// Field names of DASF's events as numbers, recognised by their bytes.
import { FieldNames } from '../json/jsonFields.js';

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

const FIELDS = new FieldNames(Object.keys(Field));

/**
 * Returns the field whose name, a msgpack string of at most 31 bytes, begins at `at`. Returns -1 for unknown or
 * truncated names.
 */
export function fieldAt(bytes: Uint8Array, at: number, end: number): number {
  const length = bytes[at]! - 0xa0;
  return length > 0 && length < 32 && at + 1 + length <= end ? FIELDS.at(bytes, at + 1, at + 1 + length) : -1;
}
