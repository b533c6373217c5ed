// Checks that gathered results fit into the client's process. Otherwise V8 would abort on a full heap, or the system
// would kill the process when memory runs out.
import { getHeapStatistics } from 'node:v8';
import { LongpoleError, releaseStack } from '../../base/errors.js';
import { countText, megabytes } from '../../base/words.js';
import type { GatherInput, PackedResult } from '../../protocol/packedResult.js';
import { collectGarbage } from '../worker/collectGarbage.js';
import { unpackResult } from '../worker/packResult.js';

/** Share of the system's free memory and of the heap that results may fill. */
const MOST = 0.9;
/** Default size in MiB of V8's young generation, by major version of Node. The heap limit includes it; it keeps no results. */
const YOUNG_MIB = new Map([
  [20, 48],
  [22, 48],
  [24, 192],
  [26, 96],
]);
/** Upper bound for other versions. */
const MOST_YOUNG_MIB = 192;
/** Serialized bytes between two checks of the heap, which cost microseconds. */
const CHECK_BYTES = 1e6;
/** Assumed bytes of heap per serialized byte, before a measurement: strings take 1, small integers 4, doubles 2.7. */
const FIRST_FACTOR = 2;
const MEASURED_BYTES = 16e6;
const ADVICE = 'Gather fewer results at a time, or let tasks on the workers reduce them.';

export class GatherRoom {
  readonly #used = getHeapStatistics().used_heap_size;
  /** Serialized bytes of the results that were unpacked. */
  #unpacked = 0;
  #seen = 0;
  /** The error of the first result without room. Later results are refused with it, too. */
  #refusal: LongpoleError | undefined;

  /**
   * Checks the system's memory before a gather. `here`: bytes of the results that already lie in this process.
   *
   * @throws LongpoleError ERR_LONGPOLE_MEMORY_LIMIT if the system has no room for them
   */
  checkMemory(wanted: readonly Pick<GatherInput, 'key' | 'nbytes'>[], here: number): void {
    const nbytes = wanted.reduce((sum, one) => sum + one.nbytes, 0);
    const free = MOST * process.availableMemory();
    if (nbytes - here <= free) return;
    const largest = wanted.reduce((most, one) => (one.nbytes > most.nbytes ? one : most));
    throw new LongpoleError(
      'ERR_LONGPOLE_MEMORY_LIMIT',
      `${countText(wanted.length, 'result')} of ${megabytes(nbytes)} cannot be gathered, because only ${megabytes(free)} of memory are free. ` +
        `The largest is '${largest.key}' with ${megabytes(largest.nbytes)}. ${ADVICE}`,
    );
  }

  /**
   * Returns the value of a result.
   *
   * @throws LongpoleError ERR_LONGPOLE_MEMORY_LIMIT if the heap has no room for it
   */
  unpack(key: string, packed: PackedResult): unknown {
    if (this.#refusal !== undefined) throw this.#refusal;
    const nbytes = packed.header.byteLength;
    if (this.#unpacked + nbytes - this.#seen >= CHECK_BYTES) this.#checkHeap(key, nbytes);
    this.#unpacked += nbytes;
    return unpackResult(packed);
  }

  #checkHeap(key: string, nbytes: number): void {
    this.#seen = this.#unpacked;
    if (this.#hasRoom(nbytes)) return;
    collectGarbage();
    if (this.#hasRoom(nbytes)) return;
    const { used_heap_size: used, heap_size_limit: total } = getHeapStatistics();
    const limit = oldLimit(total);
    this.#refusal = new LongpoleError(
      'ERR_LONGPOLE_MEMORY_LIMIT',
      `The result '${key}' of ${megabytes(nbytes)} does not fit into the heap of this program: ${megabytes(used)} of ${megabytes(limit)} ` +
        `are in use, after ${megabytes(this.#unpacked)} of other results of this call. ${ADVICE} ` +
        'Raise the limit with node --max-old-space-size.',
    );
    // The stack of the error would keep the values alive.
    releaseStack(this.#refusal);
    throw this.#refusal;
  }

  #hasRoom(nbytes: number): boolean {
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
    const measured = Math.min(8, Math.max(0.1, (used - this.#used) / this.#unpacked));
    const factor = this.#unpacked >= MEASURED_BYTES ? measured : FIRST_FACTOR;
    return used + factor * Math.max(nbytes, CHECK_BYTES) <= MOST * oldLimit(limit);
  }
}

function oldLimit(limit: number): number {
  const young = YOUNG_MIB.get(Number.parseInt(process.versions.node, 10)) ?? MOST_YOUNG_MIB;
  return Math.max(limit / 4, limit - young * 2 ** 20);
}
