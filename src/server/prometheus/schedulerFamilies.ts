// The families of Dask's scheduler, with Dask's names, labels and meanings (distributed/http/scheduler/prometheus).
// Families without a meaning here are left out: the GIL, semaphores, and Dask's system monitor.
import { busiest, type Family, families, type Read, read, type Sample, single } from './family.js';
import type { PrefixFigures, WorkerFigures } from './figures.js';

const PREFIX = 'dask_scheduler_';
/** States that Dask always exports, also without a worker in them. */
const WORKER_STATES = ['idle', 'partially_saturated', 'saturated', 'paused'];

export const SCHEDULER_FAMILIES: readonly Family[] = [
  ...families(PREFIX, [], single, {
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
    workers_added_total: ['Workers that have joined', ({ workersAdded }) => workersAdded],
    workers_removed_total: ['Workers that have left, for any reason', ({ workersRemoved }) => workersRemoved],
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
      ({ stimuli }) => stimuli.get('tasks-stolen')?.count ?? 0,
    ],
  }),
  ...families(PREFIX, ['state'], read, {
    workers: [
      'Workers by state',
      ({ workers }) => WORKER_STATES.map((state): Sample => [{ state }, inState(workers, state)]),
    ],
    tasks: [
      'Tasks known to the scheduler, by state',
      ({ tasks }) => Array.from(tasks, ([state, count]): Sample => [{ state }, count]),
    ],
  }),
  ...families(PREFIX, ['task_prefix_name'], ofPrefix, {
    tasks_suspicious_total: ['Task runs lost with their worker, by prefix', ({ suspicious }) => suspicious],
    tasks_compute_seconds_total: [
      'Seconds that tasks ran, by prefix',
      ({ computeSeconds }) => computeSeconds,
    ],
    tasks_transfer_seconds_total: [
      'Seconds in which workers fetched results of tasks, by prefix',
      ({ transferSeconds }) => transferSeconds,
    ],
    tasks_output_bytes: ['Bytes of the results of tasks, by prefix', ({ outputBytes }) => outputBytes],
  }),
  ...families(PREFIX, ['task_prefix_name', 'state'], read, {
    prefix_state_totals_total: [
      'Tasks that have reached a state, by prefix',
      ({ prefixes }) =>
        Array.from(busiest(prefixes, ({ computeSeconds }) => computeSeconds)).flatMap(([{ states }, name]) =>
          Array.from(states, ([state, count]): Sample => [{ task_prefix_name: name, state }, count]),
        ),
    ],
  }),
];

function inState(workers: readonly WorkerFigures[], wanted: string): number {
  return workers.filter(({ state }) => state === wanted).length;
}

function ofPrefix(value: (prefix: PrefixFigures) => number): Read {
  return ({ prefixes }) =>
    Array.from(
      busiest(prefixes, ({ computeSeconds }) => computeSeconds),
      ([prefix, task_prefix_name]): Sample => [{ task_prefix_name }, value(prefix)],
    );
}
