// What would be gained if the tasks of one prefix took half as long? For the prefixes that compute longest, by simulation.
import { oncePer } from '../base/lookUps.js';
import type { Trace } from '../trace/trace.js';
import { lanesOf } from './lanes.js';
import { Simulator } from './simulate.js';
import { Table } from './table.js';
import { valuesColumn } from './valuesColumn.js';

/** What becomes of a run if the tasks of a prefix take half as long. */
export interface Speedup {
  readonly prefix: string;
  /** That its tasks computed together, as recorded. */
  readonly computed: number;
  /** Seconds of the whole run then, with the band of Simulation. */
  readonly makespan: number;
  readonly low: number;
  readonly high: number;
  /** Seconds that the run gets shorter. */
  readonly gained: number;
}

/** How many times faster. */
const FASTER = 2;
const MAX_PREFIXES = 5;
/** Each prefix is simulated: more tasks would take longer than half a second. `simulate` has no such limit. */
export const MAX_SIMULATED = 20_000;

/**
 * The five prefixes that computed longest, what gains most first. Empty where no task ran, and beyond 20,000 tasks. Found once per
 * trace. Cost: six simulations.
 */
export const speedups = oncePer((trace: Trace): readonly Speedup[] => findSpeedups(trace));

function findSpeedups(trace: Trace): Speedup[] {
  const { rows } = lanesOf(trace).spans;
  if (rows.length === 0 || rows.length > MAX_SIMULATED) return [];
  const now = new Simulator(trace).simulate().makespan;
  if (!(now > 0)) return [];
  return longestPrefixes(trace)
    .map(([prefix, computed]) => {
      const { makespan, low, high } = new Simulator(trace, { faster: { [prefix]: FASTER } }).simulate();
      return { prefix, computed, makespan, low, high, gained: Math.max(0, now - makespan) };
    })
    .sort((a, b) => b.gained - a.gained);
}

function longestPrefixes(trace: Trace): [prefix: string, seconds: number][] {
  const { prefix, duration } = trace.tasks;
  const sums = new Map<number, number>();
  for (const row of lanesOf(trace).spans.rows)
    if (prefix[row]! >= 0) sums.set(prefix[row]!, (sums.get(prefix[row]!) ?? 0) + duration[row]!);
  return [...sums]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MAX_PREFIXES)
    .map(([id, seconds]) => [trace.strings.get(id), seconds]);
}

/** One row per prefix. */
export function speedupsTable(found: readonly Speedup[]): Table {
  const numbers = (title: string, value: (one: Speedup) => number) => ({
    title,
    numbers: Float64Array.from(found, value),
  });
  return new Table([
    valuesColumn(
      'Prefix',
      found.map(({ prefix }) => prefix),
    ),
    numbers('Computed (s)', ({ computed }) => computed),
    numbers('Run then (s)', ({ makespan }) => makespan),
    numbers('Low (s)', ({ low }) => low),
    numbers('High (s)', ({ high }) => high),
    numbers('Gained (s)', ({ gained }) => gained),
  ]);
}
