// The families that only Longpole has, with names that begin with `longpole_`. histograms.ts has the histograms of task
// durations.
import type { MetricKey } from '../../protocol/metrics.js';
import { busiest, type Family, families, type Read, read, type Sample, single } from './family.js';
import type { TransferFigures } from './figures.js';

const PREFIX = 'longpole_';

export const OWN_FAMILIES: readonly Family[] = [
  ...families(PREFIX, ['context', 'task_prefix_name', 'activity'], ofActivity, {
    activity_seconds_total: ['Fine performance metrics in seconds, by activity', 'seconds'],
    activity_bytes_total: ['Fine performance metrics in bytes, by activity', 'bytes'],
    activity_count_total: ['Fine performance metrics in counts, by activity', 'count'],
  }),
  ...families(PREFIX, ['stimulus'], read, {
    scheduler_busy_seconds_total: [
      'Seconds for which the scheduler handled stimuli, by stimulus',
      ({ stimuli }) => Array.from(stimuli, ([stimulus, { seconds }]): Sample => [{ stimulus }, seconds]),
    ],
    scheduler_stimuli_total: [
      'Stimuli that the scheduler has handled',
      ({ stimuli }) => Array.from(stimuli, ([stimulus, { count }]): Sample => [{ stimulus }, count]),
    ],
  }),
  ...families(PREFIX, [], single, {
    scheduler_event_loop_delay_seconds: [
      "Longest delay of a timer of the scheduler's thread since the last scrape",
      ({ thread }) => thread.eventLoopDelay,
    ],
  }),
  ...families(PREFIX, ['worker'], read, {
    worker_event_loop_delay_seconds: [
      "Delay of the event loop of the worker's thread, while a task blocks it",
      ({ workers }) => workers.map(({ name: worker, eventLoopDelay }) => [{ worker }, eventLoopDelay]),
    ],
  }),
  ...families(PREFIX, ['from', 'to'], ofTransfer, {
    transfer_bytes_total: ['Bytes moved between two workers', ({ nbytes }) => nbytes],
    transfer_seconds_total: ['Seconds of transfers between two workers', ({ seconds }) => seconds],
  }),
];

function ofActivity(unit: string): Read {
  return ({ metrics }) => {
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
  };
}

/** Returns the prefix of an execute metric; empty for other metrics. */
function prefixOf(key: MetricKey): string {
  return key[0] === 'execute' ? (key[1] ?? '') : '';
}

function ofTransfer(value: (transfer: TransferFigures) => number): Read {
  return ({ transfers }) =>
    transfers.map((transfer): Sample => [{ from: transfer.from, to: transfer.to }, value(transfer)]);
}
