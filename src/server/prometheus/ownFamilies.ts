// The families that only Longpole has; their names begin with `longpole_`. The histograms of task durations are beside them,
// in histograms.ts.
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
    help: 'Seconds that the scheduler worked, by stimulus',
    labels: ['stimulus'],
    read: ({ stimuli }) => Array.from(stimuli, ([stimulus, { seconds }]): Sample => [{ stimulus }, seconds]),
  },
  {
    name: 'longpole_scheduler_stimuli_total',
    type: 'counter',
    help: 'Stimuli that the scheduler had',
    labels: ['stimulus'],
    read: ({ stimuli }) => Array.from(stimuli, ([stimulus, { count }]): Sample => [{ stimulus }, count]),
  },
  single(
    'longpole_scheduler_event_loop_delay_seconds',
    'gauge',
    "How late timers of the scheduler's thread were at most since the last scrape",
    ({ thread }) => thread.eventLoopDelay,
  ),
  {
    name: 'longpole_worker_event_loop_delay_seconds',
    type: 'gauge',
    help: "How late the event loop of the worker's thread is: how long a task has not let it turn",
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

/** The prefix of an execute metric; empty for the others. */
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
