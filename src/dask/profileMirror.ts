// distributed's statistical profiler counts stacks by cycle and prefix and keeps neither times nor tasks. Here each count
// becomes samples, spread evenly over the time in which tasks of that prefix ran on that worker in that cycle. How often a
// line ran is exact, in which run of several of one prefix within a cycle it ran is not known.
import type { BatchRow, ProfiledCycle, TreeNode } from '../protocol/daskRows.js';
import type { ProfileCycle } from '../protocol/profileCycle.js';
import type { MirrorTasks } from './mirrorTasks.js';
import type { MirrorWorker } from './mirrorWorkers.js';

/** Runs of a worker that are remembered for cycles that are to come. */
const MAX_RUNS = 20_000;
/** More samples than the fastest settings give in a cycle: a count beyond it is damage. */
const MAX_SAMPLES = 100_000;
/** The fractional parts of its multiples fill an interval evenly, wherever one stops. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

interface Run {
  readonly id: number;
  readonly started: number;
  readonly stopped: number;
}

export class ProfileMirror {
  readonly #tasks: MirrorTasks;
  /** By worker, in order of their ends. */
  readonly #runs = new Map<number, Run[]>();

  constructor(tasks: MirrorTasks) {
    this.#tasks = tasks;
  }

  ran(worker: number, id: number, started: number, stopped: number): void {
    let runs = this.#runs.get(worker);
    if (runs === undefined) {
      runs = [];
      this.#runs.set(worker, runs);
    }
    if (runs.length >= MAX_RUNS) runs.splice(0, MAX_RUNS / 2);
    runs.push({ id, started, stopped });
  }

  gone(worker: number): void {
    this.#runs.delete(worker);
  }

  /** The profiles of a batch. */
  *cycles(worker: MirrorWorker, { profiles, sampling }: BatchRow): Generator<ProfileCycle> {
    const { offset } = worker.clock;
    const { index, name } = worker.info;
    let start = Number.POSITIVE_INFINITY;
    for (const profiled of profiles) {
      const stop = profiled.time + offset;
      start = Math.min(start, stop - sampling.cycle);
      const runs = this.#runsIn(worker, profiled.prefix, stop - sampling.cycle, stop);
      yield cycleOf(
        name,
        profiled,
        { start: stop - sampling.cycle, stop, interval: sampling.interval },
        runs,
      );
    }
    const kept = this.#runs.get(index)?.filter(({ stopped }) => stopped > start);
    if (kept !== undefined && profiles.length > 0) this.#runs.set(index, kept);
  }

  /** What ran of a prefix, cut to the window; what still runs is among it. */
  #runsIn(worker: MirrorWorker, prefix: string, start: number, stop: number): Run[] {
    const going = worker.running.map(({ id, started }) => ({ id, started, stopped: stop }));
    return [...(this.#runs.get(worker.info.index) ?? []), ...going]
      .filter((run) => run.stopped > start && run.started < stop)
      .filter(({ id }) => this.#tasks.kindOf(id)?.prefix === prefix)
      .map(({ id, started, stopped }) => ({
        id,
        started: Math.max(started, start),
        stopped: Math.min(stopped, stop),
      }));
  }
}

interface Cycle {
  readonly start: number;
  readonly stop: number;
  readonly interval: number;
}

function cycleOf(thread: string, { nodes }: ProfiledCycle, cycle: Cycle, runs: readonly Run[]): ProfileCycle {
  const stacks = new MergedStacks(nodes);
  const own = ownCounts(nodes);
  const samples: { time: number; task: number; stack: number; line: number }[] = [];
  const place = placesIn(runs, cycle);
  for (const [node, { line, parent }] of nodes.entries()) {
    if (parent < 0) continue;
    for (let i = Math.min(own[node]!, MAX_SAMPLES - samples.length); i > 0; i--) {
      samples.push({ ...place(samples.length), stack: stacks.of(node), line });
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
 * Samples in which a node was the innermost. distributed counts a sample for all frames but the innermost one: what a node
 * has beyond its callees went to those that have no count, and where there are several in equal parts.
 */
function ownCounts(nodes: readonly TreeNode[]): number[] {
  const rest = nodes.map(({ count }) => count);
  const callees = nodes.map((): number[] => []);
  for (const [node, { parent, count }] of nodes.entries()) {
    if (parent < 0) continue;
    rest[parent]! -= count;
    callees[parent]!.push(node);
  }
  // Were innermost frames counted, none would have no count.
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

/** Sample → when, and in which run; where none is known, anywhere in the cycle. */
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

/** Nodes of functions instead of nodes of lines. */
class MergedStacks {
  readonly parents: number[] = [];
  readonly names: string[] = [];
  readonly files: string[] = [];
  readonly #of: number[] = [];

  constructor(nodes: readonly TreeNode[]) {
    const known = new Map<string, number>();
    for (const { parent, functionName, file } of nodes) {
      if (parent < 0) {
        this.#of.push(-1);
        continue;
      }
      const caller = this.#of[parent]!;
      const id = `${caller}\0${functionName}\0${file}`;
      let place = known.get(id);
      if (place === undefined) {
        place = this.parents.push(caller) - 1;
        this.names.push(functionName);
        this.files.push(file);
        known.set(id, place);
      }
      this.#of.push(place);
    }
  }

  of(node: number): number {
    return this.#of[node]!;
  }
}
