// The limit on the JavaScript heap of an isolate, derived from the memory limit of its worker. V8 collects garbage
// before the heap grows beyond it and ends the isolate if that is not enough, sooner than the host could notice.
import { getHeapStatistics } from 'node:v8';
import { megabytes } from '../../base/words.js';

/** Smallest heap for the modules of tasks, in bytes. */
const LEAST_HEAP = 64 * 2 ** 20;

/** Memory limit of a worker in bytes; 0: none. */
interface WorkerLimit {
  readonly memoryLimit: number;
}

/**
 * Returns the limit in bytes; undefined if V8's default is lower or the worker has no limit. `used`: bytes of the
 * worker's process without the isolate.
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

/** Returns why an isolate has ended. The error of an exhausted heap names the limit. */
export function endOfIsolate(cause: Error, { memoryLimit }: WorkerLimit, heap: number | undefined): Error {
  const isHeap = 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
  if (!isHeap || heap === undefined) return cause;
  return new Error(
    `Its JavaScript heap needed more than ${megabytes(heap)}, its share of the worker's memory limit of ${megabytes(memoryLimit)}.`,
    { cause },
  );
}
