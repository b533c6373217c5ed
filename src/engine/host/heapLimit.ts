// The JavaScript heap of an isolate within the memory limit of its worker. V8 collects before the heap gets larger, and ends the
// isolate when that is not enough: sooner than anything outside the isolate could notice.
import { getHeapStatistics } from 'node:v8';
import { megabytes } from '../../base/words.js';

/** An isolate needs this much to load the modules of its tasks, in bytes. */
const LEAST_HEAP = 64 * 2 ** 20;

/** What a worker may have, in bytes; 0: no limit. */
interface WorkerLimit {
  readonly memoryLimit: number;
}

/**
 * Bytes of heap; undefined: V8 has a lower limit of its own, or the worker has none. `used`: what the worker's process takes
 * without the isolate.
 */
export function heapLimit(
  { memoryLimit }: WorkerLimit,
  terminate: number | false | undefined,
  used: number,
): number | undefined {
  if (memoryLimit === 0 || terminate === false) return undefined;
  const heap = Math.max(LEAST_HEAP, memoryLimit - used);
  return heap < getHeapStatistics().heap_size_limit ? heap : undefined;
}

/** Why an isolate has ended, with the limit if that was it. */
export function endOfIsolate(cause: Error, { memoryLimit }: WorkerLimit, heap: number | undefined): Error {
  const isHeap = 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
  if (!isHeap || heap === undefined) return cause;
  return new Error(
    `Its JavaScript heap needed more than the ${megabytes(heap)} that the memory limit of the worker, ${megabytes(memoryLimit)}, leaves for it.`,
    { cause },
  );
}
