// The families of the page of metrics. Those of Dask have Dask's names, labels and meanings, so that dashboards made for
// Dask work. Families without a meaning here are left out: the GIL, semaphores, and Dask's system monitor. prometheus.ts
// has the histograms of task durations.
import { DROPPED_CONTEXT } from '../../protocol/metrics.js';
import type { PairTotals, PrefixSums } from '../../trace/totals.js';
import { busiest, busiestOf, type Family, families, type Read, read, type Sample, single } from './family.js';
import type { WorkerFigures } from './figures.js';

/** States that Dask always exports, also without a worker in them. */
const WORKER_STATES = ['idle', 'partially_saturated', 'saturated', 'paused'] as const;

/** Dask's scheduler (distributed/http/scheduler/prometheus). */
const SCHEDULER_FAMILIES: readonly Family[] = [
  ...families('dask_scheduler_', [], single, {
    clients: ['Clients connected', ({ clients }) => clients],
    client_connections_added_total: ['Clients that have connected', ({ clientsAdded }) => clientsAdded],
    client_connections_removed_total: [
      'Clients that have disconnected',
      ({ clientsRemoved }) => clientsRemoved,
    ],
    desired_workers: [
      'Workers that would finish the current work in five seconds',
      ({ desiredWorkers }) => desiredWorkers,
    ],
    workers_added_total: ['Workers that have joined', ({ totals }) => totals.workers.added],
    workers_removed_total: ['Workers that have left, for any reason', ({ totals }) => totals.workers.removed],
    gc_collection_seconds_total: [
      "Seconds of garbage collection on the scheduler's thread",
      ({ thread }) => thread.gcSeconds,
    ],
    tasks_forgotten_total: [
      'Tasks whose results are no longer needed',
      ({ tasksForgotten }) => tasksForgotten,
    ],
    tick_duration_maximum_seconds: [
      "Longest time between two turns of the scheduler's event loop since the last scrape",
      ({ thread }) => thread.longestTick,
    ],
    tick_count_total: ["Measured turns of the scheduler's event loop", ({ thread }) => thread.ticks],
  }),
  ...families('dask_stealing_', [], single, {
    request_count_total: [
      'Answered requests to workers to give back tasks',
      ({ stimuli }) => (stimuli.size === 0 ? Number.NaN : (stimuli.get('tasks-stolen')?.count ?? 0)),
    ],
  }),
  ...families('dask_scheduler_', ['state'], read, {
    workers: [
      'Workers by state',
      ({ workers }) => WORKER_STATES.map((state): Sample => [{ state }, inState(workers, state)]),
    ],
    tasks: [
      'Tasks known to the scheduler, by state',
      ({ tasks }) => Array.from(tasks, ([state, count]): Sample => [{ state }, count]),
    ],
  }),
  ...families('dask_scheduler_', ['task_prefix_name'], ofPrefix, {
    tasks_suspicious_total: ['Task runs lost with their worker, by prefix', ({ tasks }) => tasks.lost],
    tasks_compute_seconds_total: ['Seconds that tasks ran, by prefix', ({ seconds }) => seconds],
    tasks_transfer_seconds_total: [
      'Seconds in which workers fetched results of tasks, by prefix',
      ({ fetchSeconds }) => fetchSeconds,
    ],
    tasks_output_bytes: ['Bytes of the results of tasks, by prefix', ({ nbytes }) => nbytes],
  }),
  ...families('dask_scheduler_', ['task_prefix_name', 'state'], read, {
    prefix_state_totals_total: [
      'Tasks that have reached a state, by prefix',
      ({ totals }) =>
        Array.from(busiestOf(totals)).flatMap(([{ tasks }, task_prefix_name]): Sample[] => [
          [{ task_prefix_name, state: 'memory' }, tasks.finished],
          [{ task_prefix_name, state: 'erred' }, tasks.erred],
          [{ task_prefix_name, state: 'cancelled' }, tasks.cancelled],
          [{ task_prefix_name, state: 'skipped' }, tasks.skipped],
        ]),
    ],
  }),
];

/**
 * Dask's workers (distributed/http/worker/prometheus). Dask has a page per worker. Here one page has all workers, so every
 * sample has the additional label `worker`.
 */
const WORKER_FAMILIES: readonly Family[] = [
  ...families('dask_worker_', ['worker'], ofWorker, {
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
  ...families('dask_worker_', ['worker', 'type'], read, {
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
  ...families('dask_worker_', ['worker', 'state'], read, {
    tasks: [
      'Tasks at the worker, by state',
      ({ workers }) =>
        workers.flatMap(({ name: worker, running, processing, results }): Sample[] => [
          [{ worker, state: 'executing' }, running],
          [{ worker, state: 'ready' }, Math.max(0, processing - running)],
          [{ worker, state: 'memory' }, results],
        ]),
    ],
  }),
  ...families('dask_worker_', ['worker', 'activity'], ofStore, {
    spill_bytes_total: ['Bytes that the store read and wrote, by activity', 'bytes'],
    spill_count_total: ['Reads and writes of the store, by activity', 'count'],
    spill_time_seconds_total: ['Seconds of spilling, by activity', 'seconds'],
  }),
];

const OWN_FAMILIES: readonly Family[] = [
  ...families('longpole_', ['context', 'task_prefix_name', 'activity'], ofActivity, {
    activity_seconds_total: ['Fine performance metrics in seconds, by activity', 'seconds'],
    activity_bytes_total: ['Fine performance metrics in bytes, by activity', 'bytes'],
    activity_count_total: ['Fine performance metrics in counts, by activity', 'count'],
  }),
  ...families('longpole_', ['stimulus'], read, {
    scheduler_busy_seconds_total: [
      'Seconds for which the scheduler handled stimuli, by stimulus',
      ({ stimuli }) => Array.from(stimuli, ([stimulus, { seconds }]): Sample => [{ stimulus }, seconds]),
    ],
    scheduler_stimuli_total: [
      'Stimuli that the scheduler has handled',
      ({ stimuli }) => Array.from(stimuli, ([stimulus, { count }]): Sample => [{ stimulus }, count]),
    ],
  }),
  ...families('longpole_', [], single, {
    scheduler_event_loop_delay_seconds: [
      "Longest delay of a timer of the scheduler's thread since the last scrape",
      ({ thread }) => thread.eventLoopDelay,
    ],
  }),
  ...families('longpole_', ['worker'], read, {
    worker_event_loop_delay_seconds: [
      "Delay of the event loop of the worker's thread, while a task blocks it",
      ({ workers }) => workers.map(({ name: worker, eventLoopDelay }) => [{ worker }, eventLoopDelay]),
    ],
  }),
  ...families('longpole_', ['from', 'to'], ofTransfer, {
    transfer_bytes_total: ['Bytes moved between two workers', ({ nbytes }) => nbytes],
    transfer_seconds_total: ['Seconds of transfers between two workers', ({ seconds }) => seconds],
  }),
];

export const FAMILIES: readonly Family[] = [...SCHEDULER_FAMILIES, ...WORKER_FAMILIES, ...OWN_FAMILIES];

function inState(workers: readonly WorkerFigures[], wanted: string): number {
  return workers.filter((worker) => stateOf(worker) === wanted).length;
}

function stateOf({ status, processing, threads }: WorkerFigures): (typeof WORKER_STATES)[number] {
  if (status === 'paused') return 'paused';
  return processing === 0 ? 'idle' : processing <= threads ? 'partially_saturated' : 'saturated';
}

function ofPrefix(value: (prefix: PrefixSums) => number): Read {
  return ({ totals }) =>
    Array.from(busiestOf(totals), ([sums, task_prefix_name]): Sample => [{ task_prefix_name }, value(sums)]);
}

function ofWorker(value: (worker: WorkerFigures) => number): Read {
  return ({ workers }) => workers.map((worker): Sample => [{ worker: worker.name }, value(worker)]);
}

function ofStore(wanted: string): Read {
  return ({ workers }) =>
    workers.flatMap(({ name: worker, spill }) =>
      Array.from(spill)
        .filter(({ unit }) => unit === wanted)
        .map(({ activity, value }): Sample => [{ worker, activity }, value]),
    );
}

function ofActivity(unit: string): Read {
  return ({ totals: { metrics } }) =>
    Array.from(
      busiest(
        metrics.filter((metric) => metric.unit === unit && metric.context !== DROPPED_CONTEXT),
        ({ value }) => value,
        ({ context, prefix }) => (context === 'execute' ? prefix : ''),
      ),
      ([{ context, activity, value }, prefix]): Sample => [
        { context, task_prefix_name: prefix, activity },
        value,
      ],
    );
}

function ofTransfer(value: (transfer: PairTotals) => number): Read {
  return ({ totals: { pairs, workers } }) =>
    pairs.map(
      (pair): Sample => [{ from: workers.nameOf(pair.from), to: workers.nameOf(pair.to) }, value(pair)],
    );
}
