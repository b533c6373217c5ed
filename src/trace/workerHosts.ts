import type { WorkerRows } from './trace.js';

/** The hosts of rows. Samples of resources without a worker are of the host where the scheduler is: that of the first worker. */
export function hostsOf(table: 'memory' | 'resources', worker: Int32Array, { host }: WorkerRows): Int32Array {
  return worker.map((row) => host[table === 'resources' ? Math.max(0, row) : row] ?? -1);
}
