// The families of Dask's workers, with Dask's names and meanings (distributed/http/worker/prometheus). Dask has a page
// per worker. Here one page has all workers, so every sample has the additional label `worker`.
import { type Family, families, type Read, read, type Sample } from './family.js';
import type { WorkerFigures } from './figures.js';

const PREFIX = 'dask_worker_';

export const WORKER_FAMILIES: readonly Family[] = [
  ...families(PREFIX, ['worker'], ofWorker, {
    threads: ['Threads of the worker', ({ threads }) => threads],
    latency_seconds: ['Round trip to the worker', ({ latency }) => latency],
    gc_collection_seconds_total: [
      "Seconds of garbage collection on the worker's thread",
      ({ gcSeconds }) => gcSeconds,
    ],
    transfer_incoming_bytes: [
      'Bytes that the worker is fetching from peers',
      ({ open }) => open.incomingBytes,
    ],
    transfer_incoming_count: ['Open requests of the worker to peers', ({ open }) => open.incomingCount],
    transfer_incoming_bytes_total: ['Bytes received from peers', ({ incomingBytes }) => incomingBytes],
    transfer_incoming_count_total: ['Transfers received from peers', ({ incomingCount }) => incomingCount],
    transfer_outgoing_bytes: ['Bytes that the worker is sending to peers', ({ open }) => open.outgoingBytes],
    transfer_outgoing_count: ['Open requests of peers to the worker', ({ open }) => open.outgoingCount],
    transfer_outgoing_bytes_total: ['Bytes sent to peers', ({ outgoingBytes }) => outgoingBytes],
    transfer_outgoing_count_total: ['Transfers sent to peers', ({ outgoingCount }) => outgoingCount],
  }),
  ...families(PREFIX, ['worker', 'type'], read, {
    memory_bytes: [
      'Memory of the worker, by type',
      ({ workers }) =>
        workers.flatMap(({ name: worker, managed, unmanaged, spilled }) =>
          Object.entries({ managed, unmanaged, spilled }).map(
            ([type, bytes]): Sample => [{ worker, type }, bytes],
          ),
        ),
    ],
  }),
  ...families(PREFIX, ['worker', 'state'], read, {
    tasks: [
      'Tasks at the worker, by state',
      ({ workers }) =>
        workers.flatMap(({ name: worker, tasks }) =>
          Array.from(tasks, ([state, count]): Sample => [{ worker, state }, count]),
        ),
    ],
  }),
  ...families(PREFIX, ['worker', 'activity'], ofStore, {
    spill_bytes_total: ['Bytes that the store read and wrote, by activity', 'bytes'],
    spill_count_total: ['Reads and writes of the store, by activity', 'count'],
    spill_time_seconds_total: ['Seconds of spilling, by activity', 'seconds'],
  }),
];

function ofWorker(value: (worker: WorkerFigures) => number): Read {
  return ({ workers }) => workers.map((worker): Sample => [{ worker: worker.name }, value(worker)]);
}

function ofStore(wanted: string): Read {
  return ({ workers }) =>
    workers.flatMap(({ name: worker, spill }) =>
      Array.from(spill)
        .filter(([, unit]) => unit === wanted)
        .map(([activity, , value]): Sample => [{ worker, activity }, value]),
    );
}
