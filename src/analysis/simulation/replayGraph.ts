// Makes the simulator's graph from a trace: one task per finished run, in the engine's order, with its measured
// duration and its submission.
import { invalidArgument } from '../../base/errors.js';
import { type Adjacency, order } from '../../graph/order.js';
import type { Trace } from '../../trace/trace.js';
import { coreUseOf } from '../coreUse.js';
import { lanesOf } from '../lanes.js';
import type { Window } from '../path/pathWalk.js';
import { submissionsOf } from '../submissionTimes.js';
import { computing, memoryStretch } from './machine.js';
import type { ReplayGraph, Submission } from './replayTypes.js';
import { takeWarmUp } from './warmUp.js';

/** Largest number of tasks, and of dependencies, of a graph with split tasks. Each takes some 60 bytes. */
const MAX_PARTS = 20_000_000;

/** Changes by prefix, an id of the trace's strings. The default is 1. */
export interface Changes {
  /** Factor by which tasks become faster. */
  readonly faster: ReadonlyMap<number, number>;
  /** Number of tasks into which each task is split, which share its duration and result. */
  readonly split: ReadonlyMap<number, number>;
}

/** Tasks of the window before ordering. */
interface Nodes {
  readonly size: number;
  /** Row of tasks by node. */
  readonly row: Int32Array;
  readonly dependencies: Adjacency;
}

/**
 * Returns the graph of the tasks that started in the window. Cost: some walks over tasks and edges, and the ordering.
 */
export function replayGraphOf(trace: Trace, window: Window, changes: Changes): ReplayGraph {
  const nodes = nodesOf(trace, window, changes.split);
  const dependents = reversed(nodes.size, nodes.dependencies);
  const sequence = order(nodes.size, nodes.dependencies, dependents, new Uint8Array(nodes.size));
  const rank = new Int32Array(nodes.size).fill(-1);
  for (const [position, node] of sequence.entries()) rank[node] = position;
  const dependencies = renumbered(sequence, rank, nodes.dependencies);
  const back = reversed(sequence.length, dependencies);
  const { prefix, nbytes } = trace.tasks;
  const alone = secondsAlone(trace);
  const { kindOf, extra } = takeWarmUp(trace, alone, window.start);
  const seconds = new Float64Array(sequence.length);
  const bytes = new Float64Array(sequence.length);
  const rows = new Int32Array(sequence.length);
  for (const [id, node] of sequence.entries()) {
    const row = nodes.row[node]!;
    const parts = changes.split.get(prefix[row]!) ?? 1;
    rows[id] = row;
    seconds[id] = alone[row]! / parts / (changes.faster.get(prefix[row]!) ?? 1);
    bytes[id] = Math.max(0, nbytes[row]! || 0) / parts;
  }
  return {
    size: sequence.length,
    dependencyOffsets: dependencies.offsets,
    dependencies: dependencies.targets,
    dependentOffsets: back.offsets,
    dependents: back.targets,
    seconds,
    kindOf: rows.map((row) => kindOf[row]!),
    firstCalls: extra,
    nbytes: bytes,
    ...handedOver(trace, rows),
  };
}

/** Returns, by row, the seconds that each task would take alone on the machine. */
function secondsAlone(trace: Trace): Float64Array {
  const { cores, concurrency, demand, aloneSeconds } = coreUseOf(trace);
  const { laneOf } = lanesOf(trace);
  const shared = cores > 0 ? memoryStretch(computing(concurrency, { demand }), cores) : 1;
  return Float64Array.from(laneOf, (lane, row) => (lane < 0 ? 0 : aloneSeconds(row) / shared));
}

function nodesOf(trace: Trace, window: Window, split: ReadonlyMap<number, number>): Nodes {
  const { length, started, prefix, dependencyOffsets, dependencyRows } = trace.tasks;
  const { laneOf } = lanesOf(trace);
  /** Offsets of the nodes of each row. */
  const firsts = new Int32Array(length + 1);
  let size = 0;
  for (let row = 0; row < length; row++) {
    const inside = laneOf[row]! >= 0 && started[row]! >= window.start && started[row]! <= window.stop;
    const parts = split.size === 0 ? 1 : (split.get(prefix[row]!) ?? 1);
    size += inside ? parts : 0;
    firsts[row + 1] = size;
  }
  if (split.size > 0) checkSize('tasks', size);
  if (split.size > 0) checkSize('dependencies', edgesOf(trace, firsts));
  const rowOf = new Int32Array(size);
  const offsets = new Int32Array(size + 1);
  const targets: number[] = [];
  /** Last node that depends on each row, plus 1, because a file may list a dependency twice. */
  const seenBy = new Int32Array(length);
  for (let row = 0; row < length; row++) {
    for (let node = firsts[row]!; node < firsts[row + 1]!; node++) {
      rowOf[node] = row;
      for (let edge = dependencyOffsets[row]!; edge < dependencyOffsets[row + 1]!; edge++) {
        const dependency = dependencyRows[edge]!;
        if (dependency < 0 || seenBy[dependency] === node + 1) continue;
        seenBy[dependency] = node + 1;
        for (let other = firsts[dependency]!; other < firsts[dependency + 1]!; other++) targets.push(other);
      }
      offsets[node + 1] = targets.length;
    }
  }
  return { size, row: rowOf, dependencies: { offsets, targets: Int32Array.from(targets) } };
}

/** Counts the edges between all parts of each task and all parts of its dependencies. */
function edgesOf({ tasks }: Trace, firsts: Int32Array): number {
  const { length, dependencyOffsets, dependencyRows } = tasks;
  const parts = (row: number): number => firsts[row + 1]! - firsts[row]!;
  let edges = 0;
  for (let row = 0; row < length; row++) {
    for (let edge = dependencyOffsets[row]!; edge < dependencyOffsets[row + 1]!; edge++)
      if (dependencyRows[edge]! >= 0) edges += parts(row) * parts(dependencyRows[edge]!);
  }
  return edges;
}

function checkSize(what: string, count: number): void {
  if (count <= MAX_PARTS) return;
  throw invalidArgument(
    `The option split makes ${count.toLocaleString('en')} ${what}: give fewer parts, so that the graph has at most ${MAX_PARTS.toLocaleString('en')}.`,
  );
}

function reversed(size: number, { offsets, targets }: Adjacency): Adjacency {
  const back = new Int32Array(size + 1);
  for (const target of targets) back[target + 1]! += 1;
  for (let id = 0; id < size; id++) back[id + 1]! += back[id]!;
  const next = back.slice();
  const sources = new Int32Array(targets.length);
  for (let id = 0; id < size; id++) {
    for (let edge = offsets[id]!; edge < offsets[id + 1]!; edge++) sources[next[targets[edge]!]!++] = id;
  }
  return { offsets: back, targets: sources };
}

/** Renumbers edges in the order of tasks. Tasks behind a cycle, which only damaged files have, are left out. */
function renumbered(sequence: Int32Array, rank: Int32Array, edges: Adjacency): Adjacency {
  const offsets = new Int32Array(sequence.length + 1);
  const targets = new Int32Array(edges.targets.length);
  let length = 0;
  for (const [id, node] of sequence.entries()) {
    for (let edge = edges.offsets[node]!; edge < edges.offsets[node + 1]!; edge++) {
      const dependency = rank[edges.targets[edge]!]!;
      if (dependency >= 0) targets[length++] = dependency;
    }
    offsets[id + 1] = length;
  }
  return { offsets, targets: targets.subarray(0, length) };
}

/** Returns the submissions of the client. Tasks with an unknown submission belong to the first one. */
function handedOver(trace: Trace, rows: Int32Array): Pick<ReplayGraph, 'submissionOf' | 'submissions'> {
  const { submissionOf, time, cause } = submissionsOf(trace);
  const { stopped, length } = trace.tasks;
  const used = new Uint8Array(time.length);
  const idOf = new Int32Array(length).fill(-1);
  for (const [id, row] of rows.entries()) {
    idOf[row] = id;
    if (submissionOf[row]! >= 0) used[submissionOf[row]!] = 1;
  }
  const submissions: Submission[] = [{ cause: -1, delay: 0 }];
  const numberOf = new Int32Array(time.length);
  let before = Number.NaN;
  for (let submission = 0; submission < time.length; submission++) {
    if (used[submission] === 0) continue;
    const row = cause[submission]!;
    const id = row < 0 ? -1 : idOf[row]!;
    const since = id < 0 ? before : stopped[row]!;
    numberOf[submission] = submissions.length;
    submissions.push({ cause: id, delay: Math.max(0, time[submission]! - since) || 0 });
    before = time[submission]!;
  }
  return {
    submissionOf: rows.map((row) => (submissionOf[row]! < 0 ? 0 : numberOf[submissionOf[row]!]!)),
    submissions,
  };
}
