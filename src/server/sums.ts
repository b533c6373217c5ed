// Exact sums as messages: of a trace that grows or of one that was opened.
import { TASK_STATES } from '../protocol/clusterObserver.js';
import type { SumsMessage } from '../protocol/viewMessages.js';
import type { MetricSum } from '../protocol/viewRows.js';
import { prefixesToJson } from '../trace/recording/totalsJson.js';
import type { TraceTotals } from '../trace/totals.js';

/** Metrics that one message has at most, the largest of each unit: a span per request would make it grow for ever. */
const MAX_METRICS = 5000;
const OTHERS = '(others)';

/** `time`: NaN where nobody's clock runs, which becomes 0. */
export function sumsMessage(totals: TraceTotals, time: number): SumsMessage {
  return {
    type: 'sums',
    time: finite(time),
    runs: Object.fromEntries(TASK_STATES.map((state, index) => [state, totals.states[index]!])),
    actions: totals.actions.map((sum) => ({
      ...sum,
      seconds: finite(sum.seconds),
      nbytes: finite(sum.nbytes),
    })),
    pairs: totals.pairs.map((sum) => ({
      ...sum,
      nbytes: finite(sum.nbytes),
      compressed: finite(sum.compressed),
      seconds: finite(sum.seconds),
    })),
    metrics: fewMetrics(totals.metrics),
    busy: Array.from(totals.busy, finite),
    prefixes: [],
  };
}

/** Of a recorded trace: by prefix, too. */
export function recordedSums(totals: TraceTotals): SumsMessage {
  return { ...sumsMessage(totals, Number.NaN), prefixes: prefixesToJson(totals) };
}

/** What is left out is summed by context, activity and unit, so that totals stay whole. */
function fewMetrics(metrics: readonly MetricSum[]): MetricSum[] {
  const known = metrics.map((metric) => ({ ...metric, value: finite(metric.value) }));
  if (known.length <= MAX_METRICS) return known;
  known.sort((a, b) => b.value - a.value);
  const others = new Map<string, MetricSum>();
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
