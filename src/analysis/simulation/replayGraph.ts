// Makes the simulator's graph from a trace: one task per finished run, in the engine's order, with its measured
// duration and its submission.

import { invalidArgument } from '../../base/errors.js';
import { reversedEdges } from '../../base/groups.js';
import { addTo } from '../../base/lookUps.js';
import { integerText } from '../../base/words.js';
import { type Adjacency, order } from '../../graph/order.js';
import type { Trace } from '../../trace/trace.js';
import { coreUseOf } from '../coreUse.js';
import { awaitedInput, lanesOf, secededUse } from '../lanes.js';
import type { Span } from '../spans.js';
import { repeatedRuns, submissionsOf } from '../submissionTimes.js';
import { computing, memoryStretch } from './machine.js';
import type { ReplayGraph, Submission } from './replayTypes.js';
import { takeWarmUp } from './warmUp.js';

/** Largest number of tasks, and of dependencies, of a graph with split tasks. Each takes some 60 bytes. */
const MAX_PARTS = 20_000_000;

/** Changes by prefix, an id of the trace's strings. The default is 1. */
export interface Changes {
  readonly faster: ReadonlyMap<number, number>;
  /** Number of tasks into which each task is split, which share its duration and result. */
  readonly split: ReadonlyMap<number, number>;
}

/** Tasks of the window before ordering. */
interface Nodes {
  readonly size: number;
  /** Row of tasks by node. */
  readonly row: Int32Array;
  /** First node of each row, and the number of nodes. */
  readonly firsts: Int32Array;
  readonly dependencies: Adjacency;
}

/**
 * Returns the graph of the tasks that started in the window. Cost: some walks over tasks and edges, and the ordering.
 */
export function replayGraphOf(trace: Trace, window: Span, changes: Changes): ReplayGraph {
  const nodes = nodesOf(trace, window, changes.split);
  const dependents = reversedEdges(nodes.dependencies.offsets, nodes.dependencies.targets);
  const sequence = order(nodes.size, nodes.dependencies, dependents, new Uint8Array(nodes.size));
  const rank = new Int32Array(nodes.size).fill(-1);
  for (const [position, node] of sequence.entries()) rank[node] = position;
  const dependencies = renumbered(sequence, rank, nodes.dependencies);
  const back = reversedEdges(dependencies.offsets, dependencies.targets);
  const { prefix, nbytes } = trace.tasks;
  const alone = secondsAlone(trace);
  const delays = submissionDelays(trace);
  const { kindOf, extra } = takeWarmUp(trace, alone, window.start);
  const seconds = new Float64Array(sequence.length);
  const bytes = new Float64Array(sequence.length);
  const rows = new Int32Array(sequence.length);
  for (const [id, node] of sequence.entries()) {
    const row = nodes.row[node]!;
    const { time, result } = shareOf(trace, nodes, node, changes.split, delays);
    rows[id] = row;
    seconds[id] = (alone[row]! * time) / (changes.faster.get(prefix[row]!) ?? 1);
    bytes[id] = Math.max(0, nbytes[row]! || 0) * result;
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
    ...handedOver(trace, rows, nodes, rank, changes.faster),
  };
}

/** Returns the shares of a node in the time and the result of its task. */
function shareOf(
  { tasks }: Trace,
  { row: rows, firsts }: Nodes,
  node: number,
  split: ReadonlyMap<number, number>,
  delays: ReadonlyMap<number, number>,
): { readonly time: number; readonly result: number } {
  const { prefix, started, seceded, duration } = tasks;
  const row = rows[node]!;
  if (!isSeceded(tasks, row)) {
    const share = 1 / (split.get(prefix[row]!) ?? 1);
    return { time: share, result: share };
  }
  const before = duration[row]! > 0 ? (seceded[row]! - started[row]!) / duration[row]! : 0;
  if (node === firsts[row]) return { time: before, result: 0 };
  const { between, after } = secededUse(tasks, row);
  const rest = after + Math.max(0, between - (delays.get(row) ?? 0));
  return { time: duration[row]! > 0 ? rest / duration[row]! : 0, result: 1 };
}

/** Returns, by row, the seconds between results that a task had and its next submissions. */
function submissionDelays(trace: Trace): ReadonlyMap<number, number> {
  const { submitter, cause, time } = submissionsOf(trace);
  const { stopped } = trace.tasks;
  const delays = new Map<number, number>();
  for (const [submission, row] of submitter.entries()) {
    const before = cause[submission]!;
    if (row < 0 || before === row) continue;
    addTo(delays, row, Math.max(0, time[submission]! - stopped[before]!));
  }
  return delays;
}

/** A seceded task has two nodes: its code before the wait, and its code after the wait. */
function isSeceded({ seceded }: Trace['tasks'], row: number): boolean {
  return !Number.isNaN(seceded[row]!);
}

/** Returns, by row, the seconds that each task would take alone on the machine. */
function secondsAlone(trace: Trace): Float64Array {
  const { cores, concurrency, demand, aloneSeconds } = coreUseOf(trace);
  const { laneOf } = lanesOf(trace);
  const shared = cores > 0 ? memoryStretch(computing(concurrency, { demand }), cores) : 1;
  return Float64Array.from(laneOf, (lane, row) => (lane < 0 ? 0 : aloneSeconds(row) / shared));
}

function nodesOf(trace: Trace, window: Span, split: ReadonlyMap<number, number>): Nodes {
  const { length, started, prefix, dependencyOffsets, dependencyRows } = trace.tasks;
  const { laneOf } = lanesOf(trace);
  const firsts = new Int32Array(length + 1);
  let size = 0;
  for (let row = 0; row < length; row++) {
    const inside = laneOf[row]! >= 0 && started[row]! >= window.start && started[row]! <= window.stop;
    const parts = split.size === 0 ? 1 : (split.get(prefix[row]!) ?? 1);
    size += inside ? (isSeceded(trace.tasks, row) ? 2 : parts) : 0;
    firsts[row + 1] = size;
  }
  if (split.size > 0) checkSize('tasks', size);
  if (split.size > 0) checkSize('dependencies', edgesOf(trace, firsts));
  const { awaited } = submissionsOf(trace);
  const repeated = repeatedRuns(trace);
  const rowOf = new Int32Array(size);
  const offsets = new Int32Array(size + 1);
  const targets: number[] = [];
  /** Last node that depends on each row, plus 1, because a file may list a dependency twice. */
  const seenBy = new Int32Array(length);
  const needs = (node: number, dependency: number): void => {
    if (dependency < 0 || seenBy[dependency] === node + 1) return;
    seenBy[dependency] = node + 1;
    // The result of a seceded task is that of its last node.
    const from = isSeceded(trace.tasks, dependency) ? firsts[dependency + 1]! - 1 : firsts[dependency]!;
    for (let other = Math.max(firsts[dependency]!, from); other < firsts[dependency + 1]!; other++)
      targets.push(other);
  };
  for (let row = 0; row < length; row++) {
    for (let node = firsts[row]!; node < firsts[row + 1]!; node++) {
      rowOf[node] = row;
      if (isSeceded(trace.tasks, row) && node > firsts[row]!) {
        targets.push(node - 1);
        for (const task of awaited.all(row)) needs(node, task);
      } else {
        needs(node, repeated[row]!);
        for (let edge = dependencyOffsets[row]!; edge < dependencyOffsets[row + 1]!; edge++)
          needs(node, awaitedInput(trace, row, dependencyRows[edge]!));
      }
      offsets[node + 1] = targets.length;
    }
  }
  return { size, row: rowOf, firsts, dependencies: { offsets, targets: Int32Array.from(targets) } };
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
    `The option split makes ${integerText(count)} ${what}: give fewer parts, so that the graph has at most ${integerText(MAX_PARTS)}.`,
  );
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

/**
 * Returns the submissions of the client and of tasks. Tasks with an unknown submission belong to the first one.
 *
 * @param rows row by id
 * @param rank id by node
 */
function handedOver(
  trace: Trace,
  rows: Int32Array,
  { firsts }: Nodes,
  rank: Int32Array,
  faster: Changes['faster'],
): Pick<ReplayGraph, 'submissionOf' | 'submissions'> {
  const { submissionOf, time, cause, submitter } = submissionsOf(trace);
  const { stopped, prefix } = trace.tasks;
  const { stop: left } = lanesOf(trace);
  const used = new Uint8Array(time.length);
  for (const row of rows) if (submissionOf[row]! >= 0) used[submissionOf[row]!] = 1;
  const submissions: Submission[] = [{ cause: -1, delay: 0 }];
  const numberOf = new Int32Array(time.length);
  let before = Number.NaN;
  for (let submission = 0; submission < time.length; submission++) {
    if (used[submission] === 0) continue;
    const row = cause[submission]!;
    // A task submits while its first node runs, and the client after the result, which is that of the last node.
    const isOwn = row >= 0 && submitter[submission] === row;
    const isInside = row >= 0 && firsts[row]! < firsts[row + 1]!;
    const id = isInside ? rank[isOwn ? firsts[row]! : firsts[row + 1]! - 1]! : -1;
    const since = id < 0 ? before : (isOwn ? left : stopped)[row]!;
    numberOf[submission] = submissions.length;
    const task = submitter[submission]!;
    const factor = task < 0 ? 1 : (faster.get(prefix[task]!) ?? 1);
    submissions.push({ cause: id, delay: (Math.max(0, time[submission]! - since) || 0) / factor });
    before = time[submission]!;
  }
  return {
    submissionOf: rows.map((row) => (submissionOf[row]! < 0 ? 0 : numberOf[submissionOf[row]!]!)),
    submissions,
  };
}
