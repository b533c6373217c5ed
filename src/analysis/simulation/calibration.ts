// How a simulation of the recorded conditions compares with what was recorded: what the model leaves out shows there, and
// goes into every prediction.
import type { Trace } from '../../trace/trace.js';
import { coreUseOf } from '../coreUse.js';
import { lanesOf } from '../lanes.js';
import type { Window } from '../path/pathWalk.js';
import { type Machine, machineOf, stretchOf } from './machine.js';
import { Replay } from './replay.js';
import type { ReplayConditions, ReplayGraph, ReplayResult } from './replayTypes.js';

export interface Calibration {
  readonly machine: Machine;
  /** Recorded by simulated, of the time in which tasks ran. */
  readonly ratio: number;
  /** Seconds before the first task that are no start of workers, and after the last: handing over results. */
  readonly around: number;
  /** Tasks that ran at the same time, on average. */
  readonly concurrency: number;
  /** Seconds that the task takes which runs at a moment drawn at random. */
  readonly granularity: number;
}

/** Looks for the demand for cores under which tasks take together as long as they did. */
const ROUNDS = 3;
const CLOSE = 0.005;
/** Share of the time in which all cores were busy, from where what tasks took tells how many cores they wanted. */
const CROWDED = 0.5;

export function calibrationOf(
  trace: Trace,
  window: Window,
  graph: ReplayGraph,
  conditions: ReplayConditions,
): Calibration {
  const { first, last, work, squares } = whatRan(trace, window);
  const machine = machineOf(trace, conditions.workers, window);
  if (last < first) return { machine, ratio: 1, around: 0, concurrency: 1, granularity: 0 };
  const fitted = fit(graph, conditions, machine, work, coreUseOf(trace).saturated > CROWDED);
  const { startup, latency, taskOverhead, schedulerSeconds } = conditions;
  const begin = first - startup - latency - taskOverhead - schedulerSeconds;
  const around = Math.max(0, begin - window.start) + Math.max(0, window.stop - last);
  const recorded = window.stop - window.start - around;
  const simulated = fitted.replay.makespan;
  return {
    machine: fitted.machine,
    ratio: simulated > 0 ? recorded / simulated : 1,
    around,
    concurrency: recorded > 0 ? work / recorded : 1,
    granularity: work > 0 ? squares / work : 0,
  };
}

/** Seconds of what ran in the window, and of its first start and last stop. */
function whatRan(
  trace: Trace,
  window: Window,
): { readonly first: number; readonly last: number; readonly work: number; readonly squares: number } {
  const { started, stopped, duration } = trace.tasks;
  const { laneOf } = lanesOf(trace);
  let [first, last, work, squares] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0];
  for (let row = 0; row < laneOf.length; row++) {
    const inside = laneOf[row]! >= 0 && started[row]! >= window.start && started[row]! <= window.stop;
    if (!inside) continue;
    first = Math.min(first, started[row]!);
    last = Math.max(last, stopped[row]!);
    work += duration[row]!;
    squares += duration[row]! ** 2;
  }
  return { first, last, work, squares };
}

/** The machine whose tasks, simulated as they were recorded, take together as long as recorded. */
function fit(
  graph: ReplayGraph,
  conditions: ReplayConditions,
  seen: Machine,
  work: number,
  isCrowded: boolean,
): { readonly machine: Machine; readonly replay: ReplayResult } {
  const { workers } = conditions;
  let machine = seen;
  let replay = new Replay(graph, { ...conditions, stretch: stretchOf(machine, workers) }).run();
  for (let round = 0; round < ROUNDS; round++) {
    const ratio = work / replay.computed;
    // Where cores are not short at any time, their number says nothing.
    const isShort = isCrowded && machine.demand * workers > machine.cores;
    if (!isShort || !(Math.abs(ratio - 1) > CLOSE)) break;
    machine = { ...machine, demand: machine.demand * ratio };
    replay = new Replay(graph, { ...conditions, stretch: stretchOf(machine, workers) }).run();
  }
  return { machine, replay };
}
