import type { WorkerRows } from './trace.js';

/**
 * Returns the hosts of rows. Resource samples without a worker belong to the scheduler's host, which is the first
 * worker's.
 */
export function hostsOf(table: 'memory' | 'resources', worker: Int32Array, { host }: WorkerRows): Int32Array {
  return worker.map((row) => host[table === 'resources' ? Math.max(0, row) : row] ?? -1);
}
