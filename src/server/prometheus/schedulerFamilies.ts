// The families of Dask's scheduler, with Dask's names, labels and meanings (distributed/http/scheduler/prometheus).
// Families without a meaning here are left out: the GIL, semaphores, and Dask's system monitor.
import { busiest, type Family, type Read, type Sample, single } from './family.js';
import type { PrefixFigures, WorkerFigures } from './figures.js';

/** States that Dask always exports, also without a worker in them. */
const WORKER_STATES = ['idle', 'partially_saturated', 'saturated', 'paused'];

export const SCHEDULER_FAMILIES: readonly Family[] = [
  single('dask_scheduler_clients', 'gauge', 'Clients connected', ({ clients }) => clients),
  single(
    'dask_scheduler_client_connections_added_total',
    'counter',
    'Clients that have connected',
    ({ clientsAdded }) => clientsAdded,
  ),
  single(
    'dask_scheduler_client_connections_removed_total',
    'counter',
    'Clients that have disconnected',
    ({ clientsRemoved }) => clientsRemoved,
  ),
  single(
    'dask_scheduler_desired_workers',
    'gauge',
    'Workers that would finish the current work in five seconds',
    ({ desiredWorkers }) => desiredWorkers,
  ),
  {
    name: 'dask_scheduler_workers',
    type: 'gauge',
    help: 'Workers by state',
    labels: ['state'],
    read: ({ workers }) => WORKER_STATES.map((state): Sample => [{ state }, inState(workers, state)]),
  },
  single(
    'dask_scheduler_workers_added_total',
    'counter',
    'Workers that have joined',
    ({ workersAdded }) => workersAdded,
  ),
  single(
    'dask_scheduler_workers_removed_total',
    'counter',
    'Workers that have left, for any reason',
    ({ workersRemoved }) => workersRemoved,
  ),
  single(
    'dask_scheduler_gc_collection_seconds_total',
    'counter',
    "Seconds of garbage collection on the scheduler's thread",
    ({ thread }) => thread.gcSeconds,
  ),
  {
    name: 'dask_scheduler_tasks',
    type: 'gauge',
    help: 'Tasks known to the scheduler, by state',
    labels: ['state'],
    read: ({ tasks }) => Array.from(tasks, ([state, count]): Sample => [{ state }, count]),
  },
  single(
    'dask_scheduler_tasks_forgotten_total',
    'counter',
    'Tasks whose results are no longer needed',
    ({ tasksForgotten }) => tasksForgotten,
  ),
  ofPrefix(
    'dask_scheduler_tasks_suspicious_total',
    'counter',
    'Task runs lost with their worker, by prefix',
    ({ suspicious }) => suspicious,
  ),
  ofPrefix(
    'dask_scheduler_tasks_compute_seconds_total',
    'counter',
    'Seconds that tasks ran, by prefix',
    ({ computeSeconds }) => computeSeconds,
  ),
  ofPrefix(
    'dask_scheduler_tasks_transfer_seconds_total',
    'counter',
    'Seconds in which workers fetched results of tasks, by prefix',
    ({ transferSeconds }) => transferSeconds,
  ),
  ofPrefix(
    'dask_scheduler_tasks_output_bytes',
    'gauge',
    'Bytes of the results of tasks, by prefix',
    ({ outputBytes }) => outputBytes,
  ),
  {
    name: 'dask_scheduler_prefix_state_totals_total',
    type: 'counter',
    help: 'Tasks that have reached a state, by prefix',
    labels: ['task_prefix_name', 'state'],
    read: ({ prefixes }) =>
      Array.from(busiest(prefixes, ({ computeSeconds }) => computeSeconds)).flatMap(([{ states }, name]) =>
        Array.from(states, ([state, count]): Sample => [{ task_prefix_name: name, state }, count]),
      ),
  },
  single(
    'dask_scheduler_tick_duration_maximum_seconds',
    'gauge',
    "Longest time between two turns of the scheduler's event loop since the last scrape",
    ({ thread }) => thread.longestTick,
  ),
  single(
    'dask_scheduler_tick_count_total',
    'counter',
    "Measured turns of the scheduler's event loop",
    ({ thread }) => thread.ticks,
  ),
  single(
    'dask_stealing_request_count_total',
    'counter',
    'Answered requests to workers to give back tasks',
    ({ stimuli }) => stimuli.get('tasks-stolen')?.count ?? 0,
  ),
];

function inState(workers: readonly WorkerFigures[], wanted: string): number {
  return workers.filter(({ state }) => state === wanted).length;
}

function ofPrefix(
  name: string,
  type: Family['type'],
  help: string,
  value: (prefix: PrefixFigures) => number,
): Family {
  const read: Read = ({ prefixes }) =>
    Array.from(
      busiest(prefixes, ({ computeSeconds }) => computeSeconds),
      ([prefix, task_prefix_name]): Sample => [{ task_prefix_name }, value(prefix)],
    );
  return { name, type, help, labels: ['task_prefix_name'], read };
}
