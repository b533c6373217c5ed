// The families that only Longpole has, with names that begin with `longpole_`. histograms.ts has the histograms of task
// durations.
import type { MetricKey } from '../../protocol/metrics.js';
import { busiest, type Family, type Sample, single } from './family.js';
import type { TransferFigures } from './figures.js';

export const OWN_FAMILIES: readonly Family[] = [
  ofActivity('seconds', 'seconds'),
  ofActivity('bytes', 'bytes'),
  ofActivity('count', 'counts'),
  {
    name: 'longpole_scheduler_busy_seconds_total',
    type: 'counter',
    help: 'Seconds for which the scheduler handled stimuli, by stimulus',
    labels: ['stimulus'],
    read: ({ stimuli }) => Array.from(stimuli, ([stimulus, { seconds }]): Sample => [{ stimulus }, seconds]),
  },
  {
    name: 'longpole_scheduler_stimuli_total',
    type: 'counter',
    help: 'Stimuli that the scheduler has handled',
    labels: ['stimulus'],
    read: ({ stimuli }) => Array.from(stimuli, ([stimulus, { count }]): Sample => [{ stimulus }, count]),
  },
  single(
    'longpole_scheduler_event_loop_delay_seconds',
    'gauge',
    "Longest delay of a timer of the scheduler's thread since the last scrape",
    ({ thread }) => thread.eventLoopDelay,
  ),
  {
    name: 'longpole_worker_event_loop_delay_seconds',
    type: 'gauge',
    help: "Delay of the event loop of the worker's thread, while a task blocks it",
    labels: ['worker'],
    read: ({ workers }) =>
      workers.map(({ name: worker, eventLoopDelay }): Sample => [{ worker }, eventLoopDelay]),
  },
  ofTransfer('longpole_transfer_bytes_total', 'Bytes moved between two workers', ({ nbytes }) => nbytes),
  ofTransfer(
    'longpole_transfer_seconds_total',
    'Seconds of transfers between two workers',
    ({ seconds }) => seconds,
  ),
];

function ofActivity(unit: string, units: string): Family {
  return {
    name: `longpole_activity_${unit}_total`,
    type: 'counter',
    help: `Fine performance metrics in ${units}, by activity`,
    labels: ['context', 'task_prefix_name', 'activity'],
    read: ({ metrics }) => {
      const rows = [...metrics].filter(([key]) => key.at(-1) === unit);
      return Array.from(
        busiest(
          rows,
          ([, value]) => value,
          ([key]) => prefixOf(key),
        ),
        ([[key, value], prefix]): Sample => [
          { context: key[0] ?? '', task_prefix_name: prefix, activity: key.at(-2) ?? '' },
          value,
        ],
      );
    },
  };
}

/** Returns the prefix of an execute metric; empty for other metrics. */
function prefixOf(key: MetricKey): string {
  return key[0] === 'execute' ? (key[1] ?? '') : '';
}

function ofTransfer(name: string, help: string, value: (transfer: TransferFigures) => number): Family {
  return {
    name,
    type: 'counter',
    help,
    labels: ['from', 'to'],
    read: ({ transfers }) =>
      transfers.map((transfer): Sample => [{ from: transfer.from, to: transfer.to }, value(transfer)]),
  };
}
