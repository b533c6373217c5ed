// Converts profiles of distributed into samples. distributed counts stacks by cycle and prefix, without times or tasks.
// Each count becomes samples that are spread evenly over the runs of that prefix on that worker in that cycle. Counts
// of lines are exact. If several runs of a prefix are in a cycle, the assignment of samples to these runs is arbitrary.
import { getOrMake } from '../base/lookUps.js';
import type { ProfileCycle } from '../protocol/clusterObserver.js';
import type { DaskRow, ProfiledCycle, TreeNode } from '../protocol/daskRows.js';
import type { MirrorTasks } from './mirrorTasks.js';
import type { MirrorWorker } from './mirrorWorkers.js';

/** Maximum number of runs per worker that are kept for later cycles. */
const MAX_RUNS = 20_000;
/** Maximum number of samples per cycle, more than the fastest settings produce. Further counts are damaged. */
const MAX_SAMPLES = 100_000;
/** The fractional parts of its first n multiples are spread evenly over an interval for any n. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

interface Run {
  readonly id: number;
  readonly started: number;
  readonly stopped: number;
}

export class ProfileMirror {
  readonly #tasks: MirrorTasks;
  /** Runs by index of the worker, in order of their ends. */
  readonly #runs = new Map<number, Run[]>();

  constructor(tasks: MirrorTasks) {
    this.#tasks = tasks;
  }

  ran(worker: number, id: number, started: number, stopped: number): void {
    const runs = getOrMake(this.#runs, worker, () => []);
    if (runs.length >= MAX_RUNS) runs.splice(0, MAX_RUNS / 2);
    runs.push({ id, started, stopped });
  }

  gone(worker: number): void {
    this.#runs.delete(worker);
  }

  *cycles(worker: MirrorWorker, { profiles, sampling }: DaskRow<'batch'>): Generator<ProfileCycle> {
    const { offset } = worker.clock;
    const { index, name } = worker.info;
    let first = Number.POSITIVE_INFINITY;
    for (const profiled of profiles) {
      const stop = profiled.time + offset;
      const cycle = { start: stop - sampling.cycle, stop, interval: sampling.interval };
      first = Math.min(first, cycle.start);
      yield cycleOf(name, profiled, cycle, this.#runsIn(worker, profiled.prefix, cycle));
    }
    const kept = this.#runs.get(index)?.filter(({ stopped }) => stopped > first);
    if (kept !== undefined && profiles.length > 0) this.#runs.set(index, kept);
  }

  /** Returns the runs of a prefix, also running ones, cut to the window. */
  #runsIn(worker: MirrorWorker, prefix: string, { start, stop }: Cycle): Run[] {
    const running = worker.running.map(({ id, started }) => ({ id, started, stopped: stop }));
    return [...(this.#runs.get(worker.info.index) ?? []), ...running]
      .filter((run) => run.stopped > start && run.started < stop)
      .filter(({ id }) => this.#tasks.kindOf(id)?.prefix === prefix)
      .map(({ id, started, stopped }) => ({
        id,
        started: Math.max(started, start),
        stopped: Math.min(stopped, stop),
      }));
  }
}

type Cycle = Pick<ProfileCycle, 'start' | 'stop' | 'interval'>;

function cycleOf(thread: string, { nodes }: ProfiledCycle, cycle: Cycle, runs: readonly Run[]): ProfileCycle {
  const stacks = mergedStacks(nodes);
  const own = ownCounts(nodes);
  const samples: { time: number; task: number; stack: number; line: number }[] = [];
  const place = placesIn(runs, cycle);
  for (const [node, { line, parent }] of nodes.entries()) {
    if (parent < 0) continue;
    for (let i = Math.min(own[node]!, MAX_SAMPLES - samples.length); i > 0; i--) {
      samples.push({ ...place(samples.length), stack: stacks.of[node]!, line });
    }
  }
  samples.sort((a, b) => a.time - b.time);
  return {
    thread,
    ...cycle,
    parents: Int32Array.from(stacks.parents),
    names: stacks.names,
    files: stacks.files,
    lines: new Int32Array(stacks.names.length),
    times: Float64Array.from(samples, ({ time }) => time),
    stacks: Int32Array.from(samples, ({ stack }) => stack),
    sampleLines: Int32Array.from(samples, ({ line }) => line),
    tasks: Float64Array.from(samples, ({ task }) => task),
  };
}

/**
 * Returns the samples in which each node was the innermost one. distributed counts a sample for all frames except the
 * innermost one. So the surplus of a node over its callees belongs to the callees without a count, in equal parts.
 */
function ownCounts(nodes: readonly TreeNode[]): number[] {
  const rest = nodes.map(({ count }) => count);
  const callees = nodes.map((): number[] => []);
  for (const [node, { parent, count }] of nodes.entries()) {
    if (parent < 0) continue;
    rest[parent]! -= count;
    callees[parent]!.push(node);
  }
  // If every node has a count, this version of distributed also counts innermost frames.
  if (nodes.every(({ count }) => count > 0)) return rest;
  const own = nodes.map(() => 0);
  for (const [node, all] of callees.entries()) {
    const uncounted = all.filter((callee) => nodes[callee]!.count === 0);
    const among = uncounted.length > 0 ? uncounted : all;
    for (const [i, callee] of among.entries()) {
      const share = Math.max(0, rest[node]!) / among.length;
      own[callee]! += Math.round((i + 1) * share) - Math.round(i * share);
    }
  }
  return own;
}

/**
 * Returns a function from the number of a sample to its time and task. Without known runs, times are in the whole
 * cycle.
 */
function placesIn(
  runs: readonly Run[],
  { start, stop }: Cycle,
): (sample: number) => { time: number; task: number } {
  const seconds = runs.reduce((sum, run) => sum + (run.stopped - run.started), 0);
  return (sample) => {
    const share = (sample * GOLDEN + 0.5) % 1;
    if (!(seconds > 0)) return { time: start + share * (stop - start), task: -1 };
    let left = share * seconds;
    for (const { id, started, stopped } of runs) {
      if (left < stopped - started) return { time: started + left, task: id };
      left -= stopped - started;
    }
    const last = runs.at(-1);
    return { time: last?.stopped ?? stop, task: last?.id ?? -1 };
  };
}

/** Merges nodes of lines to nodes of functions. `of` has the merged node of each node. */
function mergedStacks(nodes: readonly TreeNode[]) {
  const parents: number[] = [];
  const names: string[] = [];
  const files: string[] = [];
  const of: number[] = [];
  const known = new Map<string, number>();
  for (const { parent, functionName, file } of nodes) {
    if (parent < 0) {
      of.push(-1);
      continue;
    }
    const caller = of[parent]!;
    const place = getOrMake(known, `${caller}\0${functionName}\0${file}`, () => {
      names.push(functionName);
      files.push(file);
      return parents.push(caller) - 1;
    });
    of.push(place);
  }
  return { parents, names, files, of };
}
