// Compares a simulation of the recorded conditions with the recording. The ratio corrects every prediction for effects
// that the model lacks.

import { countText, secondsText } from '../../base/words.js';
import { type Trace, workerName } from '../../trace/trace.js';
import { type CoreUse, coreUseOf, MIN_OTHERS } from '../coreUse.js';
import { lanesOf } from '../lanes.js';
import { lostWorkers, unnoticedLosses } from '../lostWork.js';
import { slowTasks } from '../slowWorkers.js';
import { overlapSeconds, type Span } from '../spans.js';
import { firstStart, pausesOf, workerEnds } from '../workerLives.js';
import { type Machine, machineOf, stretchOf, wanted } from './machine.js';
import { Replay } from './replay.js';
import type { ReplayConditions, ReplayGraph, ReplayResult } from './replayTypes.js';

export interface Calibration {
  readonly machine: Machine;
  /** Ratio of recorded to simulated seconds with running tasks. */
  readonly ratio: number;
  /**
   * Seconds that do not depend on the tasks: before the first task without the start of workers, after the last task, and
   * without a running task until the loss of a worker was noticed.
   */
  readonly around: number;
  /** Mean number of running tasks. */
  readonly concurrency: number;
  /** Mean duration of the task that runs at a random time, seconds. */
  readonly granularity: number;
  /** Why the simulation cannot stand for the recording; undefined if it can. */
  readonly unfit: string | undefined;
}

/** Number of simulations with which the demand for cores is fitted. */
const ROUNDS = 3;
/** Relative difference of the tasks' seconds at which the fit ends. */
const CLOSE = 0.005;
/** Share of the time with all cores busy, above which the demand for cores can be fitted. */
const CROWDED = 0.5;

export function calibrationOf(
  trace: Trace,
  window: Span,
  graph: ReplayGraph,
  conditions: ReplayConditions,
): Calibration {
  const { first, last, work, squares } = tasksInWindow(trace, window);
  const machine = machineOf(trace, conditions.workers, window);
  if (last < first) return { machine, ratio: 1, around: 0, concurrency: 1, granularity: 0, unfit: undefined };
  const fitted = fit(graph, conditions, machine, work, coreUseOf(trace));
  const { startup, latency, taskOverhead, schedulerSeconds } = conditions;
  const begin = first - startup - latency - taskOverhead - schedulerSeconds;
  const around =
    Math.max(0, begin - window.start) +
    overlapSeconds([{ start: first, stop: last }], unnoticedLosses(trace)) +
    Math.max(0, window.stop - last);
  const recorded = window.stop - window.start - around;
  const simulated = fitted.replay.makespan;
  return {
    machine: fitted.machine,
    ratio: simulated > 0 ? recorded / simulated : 1,
    around,
    concurrency: recorded > 0 ? work / recorded : 1,
    granularity: work > 0 ? squares / work : 0,
    unfit: slowText(trace, work) ?? unfitText(trace, simulated, recorded),
  };
}

/** Returns the first start, the last stop and the sums of durations of tasks in the window. */
function tasksInWindow(
  trace: Trace,
  window: Span,
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

/**
 * Fits the demand for cores so that simulated tasks take as many seconds in total as recorded: that of other programs, or
 * else that of a task.
 */
function fit(
  graph: ReplayGraph,
  conditions: ReplayConditions,
  seen: Machine,
  work: number,
  { saturated, others, concurrency }: CoreUse,
): { readonly machine: Machine; readonly replay: ReplayResult } {
  const { workers } = conditions;
  const areOthers = others >= MIN_OTHERS;
  let machine = seen;
  let replay = new Replay(graph, { ...conditions, stretch: stretchOf(machine, workers) }).run();
  for (let round = 0; round < ROUNDS; round++) {
    const ratio = work / replay.computed;
    // With enough cores, the demand has no effect.
    const isShort = saturated > CROWDED && machine.demand * workers > machine.cores;
    if (!isShort || !(Math.abs(ratio - 1) > CLOSE)) break;
    machine = areOthers
      ? { ...machine, rivals: fittedRivals(machine, concurrency, ratio) }
      : { ...machine, demand: machine.demand * ratio };
    replay = new Replay(graph, { ...conditions, stretch: stretchOf(machine, workers) }).run();
  }
  return { machine, replay };
}

/** Returns the rivals with which `running` tasks take `ratio` times as long. */
function fittedRivals(machine: Machine, running: number, ratio: number): number {
  const own = wanted(running, machine);
  return Math.max(0, Math.max(machine.cores, own + machine.rivals) * ratio - own);
}

/**
 * Ratio of the recording to its simulation, or the reverse, from which the simulation is another run. The model has no
 * pauses, no lost workers and no tasks that are bound to workers, so this time would become part of the calibration, and a
 * prediction would scale it with the tasks.
 */
const FAR = 1.5;

/** Share of the tasks' seconds that slow workers cost, from which predictions are left out. */
const MAX_SLOW = 0.1;

/** Returns a sentence if workers are slower than others: how fast other numbers of workers would be is unknown. */
function slowText(trace: Trace, work: number): string | undefined {
  const [worst] = slowTasks(trace);
  if (worst === undefined || worst.lost < MAX_SLOW * work) return undefined;
  const { own, others, prefix, worker } = worst;
  return `A simulation cannot stand for this run: tasks of '${trace.strings.get(prefix)}' take ${(own / others).toFixed(1)} times as long on worker '${workerName(trace, worker)}' as on the others. The simulated workers are equally fast.`;
}

/**
 * Returns a sentence that says why predictions are left out; undefined if the simulation is close to the recording, or if
 * nothing happened that the model lacks.
 *
 * @param simulated seconds of the simulated recorded conditions
 * @param recorded seconds that these stand for
 */
function unfitText(trace: Trace, simulated: number, recorded: number): string | undefined {
  if (!(recorded > FAR * simulated || simulated > FAR * recorded)) return undefined;
  const lost = lostWorkers(trace).length;
  const unused = unusedWorkers(trace);
  const repeated = rerunCount(trace);
  const pauses = [...pausesOf(trace).values()].reduce((sum, spans) => sum + spans.length, 0);
  const troubles = [
    lost === 0 ? '' : `${countText(lost, 'worker')} ${lost === 1 ? 'was' : 'were'} lost`,
    unused === 0 || simulated > recorded ? '' : `${countText(unused, 'worker')} ran no task`,
    repeated === 0 ? '' : `${countText(repeated, 'task')} ran again`,
    pauses === 0 ? '' : `workers made ${countText(pauses, 'pause')}`,
  ].filter((text) => text !== '');
  if (troubles.length === 0) return undefined;
  return `A simulation cannot stand for this run: ${troubles.join(', ')}. The simulation leaves this out, and takes ${secondsText(simulated)} until the last task with a result ends, instead of ${secondsText(recorded)}.`;
}

/** Returns the number of workers that were there in the first half of the tasks' time and until its end, and ran none. */
function unusedWorkers(trace: Trace): number {
  const { worker, spans, stop } = lanesOf(trace);
  const { rows } = spans;
  if (rows.length === 0) return 0;
  const first = firstStart(trace);
  const last = rows.reduce((most, row) => Math.max(most, stop[row]!), first);
  const used = new Set(worker);
  const ends = workerEnds(trace);
  const isThere = (row: number): boolean =>
    !(trace.workers.started[row]! > (first + last) / 2) && !(ends[row]! < last);
  return ends.filter((_end, row) => !used.has(row) && isThere(row)).length;
}

/** Returns the number of runs of tasks that had finished before. */
function rerunCount(trace: Trace): number {
  const { id } = trace.tasks;
  const { rows } = lanesOf(trace).spans;
  return rows.length - new Set(Array.from(rows, (row) => id[row]!)).size;
}
