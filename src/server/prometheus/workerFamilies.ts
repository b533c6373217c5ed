// The families of Dask's workers, with Dask's names and meanings (distributed/http/worker/prometheus). Dask has a page
// per worker. Here one page has all workers, so every sample has the additional label `worker`.
import type { Family, Sample } from './family.js';
import type { WorkerFigures } from './figures.js';

export const WORKER_FAMILIES: readonly Family[] = [
  ofWorker('dask_worker_threads', 'gauge', 'Threads of the worker', ({ threads }) => threads),
  ofWorker('dask_worker_latency_seconds', 'gauge', 'Round trip to the worker', ({ latency }) => latency),
  ofWorker(
    'dask_worker_gc_collection_seconds_total',
    'counter',
    "Seconds of garbage collection on the worker's thread",
    ({ gcSeconds }) => gcSeconds,
  ),
  {
    name: 'dask_worker_memory_bytes',
    type: 'gauge',
    help: 'Memory of the worker, by type',
    labels: ['worker', 'type'],
    read: ({ workers }) =>
      workers.flatMap(({ name: worker, managed, unmanaged, spilled }): Sample[] => [
        [{ worker, type: 'managed' }, managed],
        [{ worker, type: 'unmanaged' }, unmanaged],
        [{ worker, type: 'spilled' }, spilled],
      ]),
  },
  {
    name: 'dask_worker_tasks',
    type: 'gauge',
    help: 'Tasks at the worker, by state',
    labels: ['worker', 'state'],
    read: ({ workers }) =>
      workers.flatMap(({ name: worker, tasks }) =>
        Array.from(tasks, ([state, count]): Sample => [{ worker, state }, count]),
      ),
  },
  ofWorker(
    'dask_worker_transfer_incoming_bytes',
    'gauge',
    'Bytes that the worker is fetching from peers',
    ({ open }) => open.incomingBytes,
  ),
  ofWorker(
    'dask_worker_transfer_incoming_count',
    'gauge',
    'Open requests of the worker to peers',
    ({ open }) => open.incomingCount,
  ),
  ofWorker(
    'dask_worker_transfer_incoming_bytes_total',
    'counter',
    'Bytes received from peers',
    ({ incomingBytes }) => incomingBytes,
  ),
  ofWorker(
    'dask_worker_transfer_incoming_count_total',
    'counter',
    'Transfers received from peers',
    ({ incomingCount }) => incomingCount,
  ),
  ofWorker(
    'dask_worker_transfer_outgoing_bytes',
    'gauge',
    'Bytes that the worker is sending to peers',
    ({ open }) => open.outgoingBytes,
  ),
  ofWorker(
    'dask_worker_transfer_outgoing_count',
    'gauge',
    'Open requests of peers to the worker',
    ({ open }) => open.outgoingCount,
  ),
  ofWorker(
    'dask_worker_transfer_outgoing_bytes_total',
    'counter',
    'Bytes sent to peers',
    ({ outgoingBytes }) => outgoingBytes,
  ),
  ofWorker(
    'dask_worker_transfer_outgoing_count_total',
    'counter',
    'Transfers sent to peers',
    ({ outgoingCount }) => outgoingCount,
  ),
  ofStore('dask_worker_spill_bytes_total', 'Bytes that the store read and wrote, by activity', 'bytes'),
  ofStore('dask_worker_spill_count_total', 'Reads and writes of the store, by activity', 'count'),
  ofStore('dask_worker_spill_time_seconds_total', 'Seconds of spilling, by activity', 'seconds'),
];

function ofWorker(
  name: string,
  type: Family['type'],
  help: string,
  value: (worker: WorkerFigures) => number,
): Family {
  return {
    name,
    type,
    help,
    labels: ['worker'],
    read: ({ workers }) => workers.map((worker): Sample => [{ worker: worker.name }, value(worker)]),
  };
}

function ofStore(name: string, help: string, wanted: string): Family {
  return {
    name,
    type: 'counter',
    help,
    labels: ['worker', 'activity'],
    read: ({ workers }) =>
      workers.flatMap(({ name: worker, spill }) =>
        Array.from(spill)
          .filter(([, unit]) => unit === wanted)
          .map(([activity, , value]): Sample => [{ worker, activity }, value]),
      ),
  };
}
