// Distinguishes traces of Dask clusters, whose workers run Python, from traces of Longpole workers.
import type { Trace } from '../trace/trace.js';

/** Matches addresses of Dask workers. Longpole's have `thread://`, `process://` or, on Dask, `longpole+tcp://` etc. */
const DASK_ADDRESS = /^(tcp|tls|ucx|ucxx|ws|wss|inproc):\/\//;

/**
 * Returns true if the workers are Dask's: Python processes without helper threads, with a scheduler in another process.
 */
export function isRemote({ workers, strings }: Trace): boolean {
  return workers.address.some((id) => id >= 0 && DASK_ADDRESS.test(strings.get(id)));
}
