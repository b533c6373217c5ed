// Exact sums as messages: of a trace that grows or of one that was opened.
import { TASK_STATES } from '../protocol/clusterObserver.js';
import type { SumsMessage } from '../protocol/viewMessages.js';
import type { MetricSum, PrefixSum } from '../protocol/viewRows.js';
import { prefixesToJson, prefixToJson } from '../trace/recording/totalsJson.js';
import { OTHER_PREFIXES, PrefixSums, type PrefixTotals, type TraceTotals } from '../trace/totals.js';

/** Metrics that one message has at most, the largest of each unit: a span per request would make it grow for ever. */
const MAX_METRICS = 5000;
const OTHERS = '(others)';
/** Prefixes that one message of a run that goes on tells apart: a program that names its tasks badly has thousands. */
const MAX_PREFIXES = 500;
const NO_DURATIONS: PrefixSum['durations'] = [];

/** Of a run that goes on. */
export function liveSums(totals: TraceTotals, time: number): SumsMessage {
  return sumsMessage(totals, fewPrefixes(totals), time);
}

/** Of a recorded trace: every prefix, and how many of its runs took how long. */
export function recordedSums(totals: TraceTotals): SumsMessage {
  return sumsMessage(totals, prefixesToJson(totals.prefixes.values()), 0);
}

function sumsMessage(totals: TraceTotals, prefixes: PrefixSum[], time: number): SumsMessage {
  return {
    type: 'sums',
    time,
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
    prefixes,
  };
}

/** Without durations, which no page draws and which are most of the bytes. */
function fewPrefixes({ prefixes }: TraceTotals): PrefixSum[] {
  const known = Array.from(prefixes.values()).filter(({ count }) => count > 0);
  const few = known.length <= MAX_PREFIXES ? known : withOthers(known);
  return few.map((sums) => prefixToJson(sums, NO_DURATIONS));
}

/** Those with the most seconds, and one that sums all others. Some of a trace may be summed so already. */
function withOthers(known: PrefixTotals[]): PrefixTotals[] {
  const others = new PrefixSums(OTHER_PREFIXES);
  const few: PrefixTotals[] = [others];
  for (const sums of known.sort((a, b) => b.seconds - a.seconds)) {
    if (few.length < MAX_PREFIXES && sums.prefix !== OTHER_PREFIXES) few.push(sums);
    else include(others, sums);
  }
  return few;
}

function include(all: PrefixSums, { count, erred, seconds, nbytes, shortest, longest }: PrefixTotals): void {
  all.count += count;
  all.erred += erred;
  all.seconds += seconds;
  all.nbytes += nbytes;
  if (!(all.shortest <= shortest) && !Number.isNaN(shortest)) all.shortest = shortest;
  if (!(all.longest >= longest) && !Number.isNaN(longest)) all.longest = longest;
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
