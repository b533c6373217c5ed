// Simulates how much shorter the run would be if the tasks of one prefix took half as long.
import { checkArgument, TRACE } from '../base/arguments.js';
import { addTo, oncePer } from '../base/lookUps.js';
import type { Trace } from '../trace/trace.js';
import { lanesOf } from './lanes.js';
import { Simulator, simulatorOf } from './simulate.js';
import { rowColumns, Table } from './table.js';

/** The simulated run if the tasks of a prefix take half as long. */
export interface Speedup {
  readonly prefix: string;
  /** Recorded seconds of all tasks of the prefix. */
  readonly computed: number;
  /** Simulated seconds of the whole run. */
  readonly makespan: number;
  /** Limits of the band of `makespan`; see Simulation. */
  readonly low: number;
  readonly high: number;
  /** Seconds by which the run becomes shorter. */
  readonly gained: number;
}

/** Factor by which tasks become faster. */
const FASTER = 2;
const MAX_PREFIXES = 5;
/** Least gain that texts mention, as a share of the run and in seconds. */
const MIN_SHARE = 0.05;
const MIN_SECONDS = 1e-3;
/** Largest number of tasks, so that the simulations take at most half a second. `simulate` has no such limit. */
export const MAX_SIMULATED = 20_000;

/**
 * Returns the speedups of the five prefixes with the most computed seconds, those that gain most first. Empty if no
 * task ran, for more than 20,000 tasks, and if no simulation can stand for the run (`notSimulated`). Computed once per trace, by six simulations.
 */
export function speedups(trace: Trace): readonly Speedup[] {
  checkArgument('speedups(): trace', trace, TRACE);
  return speedupsOf(trace);
}

const speedupsOf = oncePer((trace: Trace): readonly Speedup[] => {
  const { rows } = lanesOf(trace).spans;
  if (rows.length === 0 || rows.length > MAX_SIMULATED) return [];
  const unchanged = simulatorOf(trace);
  const now = unchanged.simulate().makespan;
  if (!(now > 0) || unchanged.unfit !== undefined) return [];
  return longestPrefixes(trace)
    .map(([prefix, computed]) => {
      const faster = new Simulator(trace, { faster: { [prefix]: FASTER } }, unchanged);
      const { makespan, low, high } = faster.simulate();
      return { prefix, computed, makespan, low, high, gained: Math.max(0, now - makespan) };
    })
    .sort((a, b) => b.gained - a.gained);
});

/** Returns why a run has no speedups although tasks ran; empty if it has some, or if it has too many tasks. */
export const notSimulated = oncePer((trace: Trace): string => {
  const { rows } = lanesOf(trace).spans;
  return rows.length === 0 || rows.length > MAX_SIMULATED ? '' : (simulatorOf(trace).unfit ?? '');
});

function longestPrefixes(trace: Trace): [prefix: string, seconds: number][] {
  const { prefix, duration } = trace.tasks;
  const sums = new Map<number, number>();
  for (const row of lanesOf(trace).spans.rows)
    if (prefix[row]! >= 0) addTo(sums, prefix[row]!, duration[row]!);
  return [...sums]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MAX_PREFIXES)
    .map(([id, seconds]) => [trace.strings.get(id), seconds]);
}

/** Returns whether a run becomes shorter by a twentieth or more, and by more than the noise of a measurement. */
export function isWorthNaming({ makespan, gained }: Pick<Speedup, 'makespan' | 'gained'>): boolean {
  return gained >= Math.max(MIN_SECONDS, MIN_SHARE * (makespan + gained));
}

export function speedupsTable(found: readonly Speedup[]): Table {
  const { texts, numbers } = rowColumns(found);
  return new Table([
    texts('Prefix', ({ prefix }) => prefix),
    numbers('Computed (s)', ({ computed }) => computed),
    numbers('Run then (s)', ({ makespan }) => makespan),
    numbers('Low (s)', ({ low }) => low),
    numbers('High (s)', ({ high }) => high),
    numbers('Gained (s)', ({ gained }) => gained),
  ]);
}
