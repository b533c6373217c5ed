// The form in which a result of a local scheduler leaves its isolate.
import { roughBytes, sizeOf } from '../../graph/sizeOf.js';
import { type PackedResult, packedBytes } from '../../protocol/packedResult.js';
import { KIND_PACKED, KIND_VALUE } from '../../protocol/resultKinds.js';
import { packResult, unpackResult } from './packResult.js';
import { shareView } from './shareBuffers.js';
import type { WorkTimer } from './slowCopies.js';
import type { UnsentResults } from './unsentResults.js';

/**
 * Bytes above which a local scheduler's results are packed for other isolates. The program's thread passes them on unread.
 * Below, packing and unpacking each value alone costs more than two copies together with others.
 */
const PACKED_ABOVE = 4096;

/** Form in which a result leaves its isolate, or stays. */
export interface Publication {
  readonly kind: number;
  readonly kept: unknown;
  readonly bytes: number;
}

/** Seconds of a task from which the size of its result is estimated. Shorter tasks have no time for that. */
const ESTIMATED_ABOVE = 1e-3;

/**
 * Returns the bytes of a result for the trace of a local scheduler, which itself uses no sizes. NaN if the task was too short
 * to measure them.
 */
export function recordedBytes(value: unknown, seconds: number): number {
  if (ArrayBuffer.isView(value)) return value.byteLength;
  return seconds < ESTIMATED_ABOVE ? Number.NaN : roughBytes(value);
}

/**
 * Queues a result for the program. Returns its form, and the value that stays here.
 *
 * @param needed whether tasks of other isolates may need it
 */
export function addForProgram(
  unsent: UnsentResults,
  timer: WorkTimer,
  id: number,
  value: unknown,
  needed: boolean,
  bytes: number,
): Publication {
  if (!needed || !isLarge(value, bytes)) {
    unsent.addValue(id, value);
    return { kind: KIND_VALUE, kept: value, bytes };
  }
  const copy = (): { kept: unknown; packed: PackedResult | undefined } => {
    if (ArrayBuffer.isView(value)) return { kept: shareView(value), packed: undefined };
    const packed = packedForOthers(value);
    return { kept: packed === undefined ? value : keptBeside(packed, value), packed };
  };
  const nbytes = ({ packed }: ReturnType<typeof copy>): number =>
    packed === undefined ? bytes : packedBytes(packed);
  const { kept, packed } = timer.beside(id, 'serialize', copy, nbytes);
  if (packed === undefined) unsent.addValue(id, kept);
  else unsent.addPacked(id, packed);
  return { kind: packed === undefined ? KIND_VALUE : KIND_PACKED, kept, bytes };
}

/** Returns whether a value has more than PACKED_ABOVE bytes. An estimate of large values saves a walk through their parts. */
function isLarge(value: unknown, bytes: number): boolean {
  const estimate = Number.isNaN(bytes) ? roughBytes(value) : bytes;
  return estimate > PACKED_ABOVE || sizeOf(value, PACKED_ABOVE) > PACKED_ABOVE;
}

/** Returns the value that an isolate keeps beside its packed result: shares the memory instead of keeping a second copy. */
export function keptBeside(packed: PackedResult, value: unknown): unknown {
  return packed.buffers.length > 0 ? unpackResult(packed) : value;
}

/** Returns the packed value; undefined if it is sent as it is. */
function packedForOthers(value: unknown): PackedResult | undefined {
  try {
    return packResult(value);
  } catch {
    // A message between threads can hold more than bytes can. Its error names the part that it cannot hold.
    return undefined;
  }
}
