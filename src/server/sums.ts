// Makes messages with exact sums of a live or a recorded trace.

import { countsOf } from '../base/lookUps.js';
import { OTHERS } from '../protocol/metrics.js';
import type { ProgressRow, SumsMessage, TotalsMessage } from '../protocol/viewMessages.js';
import {
  type PrefixJson,
  prefixesToJson,
  prefixToJson,
  totalsToJson,
} from '../trace/recording/totalsJson.js';
import { type LiveTotals, type MetricTotals, PrefixSums, type TraceTotals } from '../trace/totals.js';

/** Largest number of metrics in a message. A program with a span per request would make more and more of them. */
const MAX_METRICS = 5000;
/** Largest number of prefixes in a message of a live trace. A program with unusual task names may have thousands. */
const MAX_PREFIXES = 500;
const NO_DURATIONS: PrefixJson['durations'] = [];

export function liveSums(totals: LiveTotals, time: number): SumsMessage {
  return sumsMessage(totals, fewPrefixes(totals), time);
}

/** Returns the sums of a recorded trace: every prefix, with its distribution of durations. */
export function recordedSums(totals: TraceTotals): SumsMessage {
  return sumsMessage(totals, prefixesToJson(totals.prefixes.values()), 0);
}

function sumsMessage(totals: TraceTotals, prefixes: PrefixJson[], time: number): SumsMessage {
  return { type: 'sums', time, totals: totalsToJson(totals, prefixes, fewMetrics(totals.metrics)) };
}

/**
 * Returns the start of the current graph, and the progress of each prefix, those with the most seconds, then the most
 * tasks, first. `processing` has the prefix of each task that a worker has now.
 */
export function progressOf(
  { prefixes, graph, graphStart }: Pick<LiveTotals, 'prefixes' | 'graph' | 'graphStart'>,
  processing: readonly string[],
): Pick<TotalsMessage, 'progress' | 'graphStart'> {
  const counts = countsOf(processing);
  let others = processing.length;
  const few = mostSeconds([...prefixes.values()], graph);
  for (const { prefix } of few) others -= counts.get(prefix) ?? 0;
  const progress = few.map((sums) =>
    progressRow(sums, graph, sums.prefix === OTHERS ? others : counts.get(sums.prefix)),
  );
  return { progress, graphStart: finite(graphStart) };
}

/** Copies field by field, because object spread is several times slower and hundreds of rows are made per second. */
function progressRow(sums: PrefixSums, graph: number, processing = 0): ProgressRow {
  const { prefix, tasks, seconds } = sums;
  const { total, finished, erred, cancelled, skipped } = sums.tasksOf(graph);
  return {
    prefix,
    total: tasks.total,
    processing,
    finished: tasks.finished,
    erred: tasks.erred,
    cancelled: tasks.cancelled + tasks.skipped,
    seconds,
    current: { total, finished, erred, cancelled: cancelled + skipped },
  };
}

/** Returns the prefixes without durations, which no page shows and which would be most of the bytes. */
function fewPrefixes({ prefixes, graph }: LiveTotals): PrefixJson[] {
  const known = Array.from(prefixes.values()).filter(({ count }) => count > 0);
  return mostSeconds(known, graph).map((sums) => prefixToJson(sums, NO_DURATIONS));
}

/**
 * Returns the prefixes with the most seconds, and a sum of all others, which includes those that the trace has summed.
 */
function mostSeconds(known: PrefixSums[], graph: number): PrefixSums[] {
  known.sort((a, b) => b.seconds - a.seconds || b.tasks.total - a.tasks.total);
  if (known.length <= MAX_PREFIXES) return known;
  const others = new PrefixSums(OTHERS);
  const few: PrefixSums[] = [];
  for (const sums of known) {
    if (few.length < MAX_PREFIXES - 1 && sums.prefix !== OTHERS) few.push(sums);
    else others.include(sums, graph);
  }
  few.push(others);
  return few;
}

/** Returns the largest metrics, and the sum of the others by context, activity and unit, so that totals stay exact. */
function fewMetrics(metrics: readonly MetricTotals[]): MetricTotals[] {
  const known = metrics.map((metric) => ({ ...metric, value: finite(metric.value) }));
  if (known.length <= MAX_METRICS) return known;
  known.sort((a, b) => b.value - a.value);
  const others = new Map<string, MetricTotals>();
  for (const { context, activity, unit, value } of known.splice(MAX_METRICS)) {
    const name = `${context}\0${activity}\0${unit}`;
    const sum = (others.get(name)?.value ?? 0) + value;
    others.set(name, { context, span: OTHERS, prefix: OTHERS, activity, unit, value: sum });
  }
  return [...known, ...others.values()];
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : 0;
}
