// Compiles a graph to dense ids. A caller's graph has keys, strings and nested arrays; the scheduler and the isolates
// need integers and columns. The Compiler walks the dependencies of the requested keys, iteratively, because a chain
// may have a million links. The ordering ranks the tasks, and arrange() lays the columns out by rank. A task's id is
// its rank.
import { LongpoleError } from '../base/errors.js';
import { reversedEdges } from '../base/groups.js';
import type { ShippedPlan } from '../protocol/clientQuestions.js';
import type { Graph } from '../protocol/graph.js';
import { DEFAULT_SPAN } from '../protocol/metrics.js';
import { OP_REF, type Program } from '../protocol/program.js';
import type { AnyFunction } from './callable.js';
import { Compiler, type KnownResults } from './compiler.js';
import { definedAnnotations, definedSpans, type SpanRef } from './definedWith.js';
import type { Delayed } from './delayed.js';
import type { External } from './external.js';
import type { KeyIndex } from './keyIndex.js';
import { type Adjacency, findCycle, order } from './order.js';

/** A compiled graph. Isolates need `program`; the rest stays with the caller. Arrays are indexed by task id. */
export interface Plan
  extends Pick<
    ShippedPlan,
    'program' | 'keys' | 'functionOf' | 'dependencies' | 'dependents' | 'requested' | 'spans'
  > {
  /** Returns a task in the form that it has in the graph. */
  readonly sourceOf: (id: number) => unknown;
  readonly functions: readonly AnyFunction[];
  /** Arguments. Each belongs to one task, and is dropped when that task cannot run again. */
  readonly constants: unknown[];
  /** Key → id, for the tasks. */
  readonly ids: KeyIndex;
  /** Key → value, for the keys that are data. */
  readonly data: ReadonlyMap<string, unknown>;
  /** Task id → external result, for tasks whose results come from outside the graph. */
  readonly imports: ReadonlyMap<number, External>;
  /** Priority of the tasks; the highest one if they differ. Default 0. */
  readonly priority?: number;
  /** Task id → priority; undefined if all tasks have the same one. */
  readonly priorities?: Float64Array | undefined;
  /** Line of the program that computes the plan, for errors; absent if unknown. */
  readonly code?: string;
  /** Time of the program's call, before the plan was compiled, in seconds since the epoch; absent if unknown. */
  readonly called?: number;
}

export interface CompileOptions {
  /** Puts the program's columns into shared memory, so that threads read them without a copy. Default false. */
  shared?: boolean;
  /** The tasks run in the caller's own isolate, so arguments are passed by reference. Default false. */
  byReference?: boolean;
  /** Existing results, whose keys are not computed. Default none. */
  known?: KnownResults;
  /** Priority of tasks that were defined without one. Undefined: the plan needs no priorities, and all are 0. */
  priority?: number | undefined;
}

/**
 * Compiles the tasks of a graph that the requested keys need.
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_GRAPH, ERR_LONGPOLE_UNKNOWN_KEY, ERR_LONGPOLE_CYCLE
 */
export function compileGraph(graph: Graph, keys: readonly string[], options: CompileOptions = {}): Plan {
  const compiler = new Compiler(options.byReference, options.known);
  compiler.addGraph(graph);
  for (const key of keys) compiler.request(key);
  compiler.compileTasks();
  return arrange(compiler, options);
}

/** Compiles the union of the graphs of some Delayed objects; equal keys are one task. Throws the errors of compileGraph. */
export function compileDelayed(delayeds: readonly Delayed<unknown>[], options: CompileOptions = {}): Plan {
  const compiler = new Compiler(options.byReference, options.known);
  for (const delayed of delayeds) compiler.requestDelayed(delayed);
  compiler.compileTasks();
  return arrange(compiler, options);
}

/** The order of tasks, and their edges by rank. */
interface Arrangement {
  /** Rank → number of the task in the compiler. */
  readonly sequence: Int32Array;
  /** Number of the task → rank. */
  readonly ranks: Int32Array;
  readonly dependencies: Adjacency;
  readonly dependents: Adjacency;
  readonly dependentCounts: Int32Array;
}

const NO_EDGES: Adjacency = { offsets: new Int32Array(2), targets: new Int32Array(0) };
/** The arrangement of every task without dependencies that is alone. */
const ALONE: Arrangement = {
  sequence: new Int32Array(1),
  ranks: new Int32Array(1),
  dependencies: NO_EDGES,
  dependents: NO_EDGES,
  dependentCounts: new Int32Array(1),
};
const NO_IMPORTS: ReadonlyMap<number, External> = new Map();

function arrangement(compiler: Compiler, requested: Uint8Array, shared: boolean): Arrangement {
  const size = compiler.taskCount;
  if (size === 1 && compiler.dependencies.length === 0) return ALONE;
  const unordered: Adjacency = {
    offsets: compiler.dependencyOffsets.take(),
    targets: compiler.dependencies.take(),
  };
  const sequence = order(size, unordered, reversedEdges(unordered.offsets, unordered.targets), requested);
  if (sequence.length < size) throw cycleError(compiler, unordered);
  const ranks = new Int32Array(size);
  for (let rank = 0; rank < size; rank++) ranks[sequence[rank]!] = rank;
  const dependencies = rankAdjacency(unordered, sequence, ranks, shared);
  const dependents = reversedEdges(dependencies.offsets, dependencies.targets);
  return { sequence, ranks, dependencies, dependents, dependentCounts: countDependents(dependents, shared) };
}

function arrange(compiler: Compiler, options: CompileOptions): Plan {
  const size = compiler.taskCount;
  const requested = compiler.requestedFlags();
  // The message about a single task contains its program, see `packProgram`.
  const shared = options.shared === true && size > 1;
  const arranged = arrangement(compiler, requested, shared);
  const { sequence, ranks, dependencies, dependents, dependentCounts } = arranged;
  const { tokenOffsets, operations, operands } = rankTokens(compiler, sequence, ranks, shared);
  const program: Program = {
    size,
    tokenOffsets,
    operations,
    operands,
    dependencyOffsets: dependencies.offsets,
    dependencies: dependencies.targets,
    dependentCounts,
  };
  const keys: string[] = new Array(size);
  const rankedRequested = new Uint8Array(size);
  const functionOf = new Int32Array(size);
  const unorderedFunctions = compiler.functionOf.values;
  const imports = compiler.hasExternals ? new Map<number, External>() : undefined;
  for (let rank = 0; rank < size; rank++) {
    const task = sequence[rank]!;
    keys[rank] = compiler.key(task);
    rankedRequested[rank] = requested[task]!;
    functionOf[rank] = unorderedFunctions[task]!;
    if (imports !== undefined) {
      const external = compiler.external(task);
      if (external !== undefined) imports.set(rank, external);
    }
  }
  return {
    program,
    keys,
    sourceOf: compiler.sources(sequence),
    functionOf,
    functions: compiler.functions,
    constants: compiler.constants,
    dependencies,
    dependents,
    requested: rankedRequested,
    ids: compiler.rankIndex(ranks),
    data: compiler.data,
    imports: imports ?? NO_IMPORTS,
    spans: planSpans(size, (rank) => compiler.span(sequence[rank]!)),
    ...planPriorities(size, (rank) => compiler.priority(sequence[rank]!), options.priority),
  };
}

function integers(length: number, shared: boolean): Int32Array {
  return shared ? new Int32Array(new SharedArrayBuffer(4 * length)) : new Int32Array(length);
}

function rankTokens(
  compiler: Compiler,
  sequence: Int32Array,
  ranks: Int32Array,
  shared: boolean,
): Pick<Program, 'tokenOffsets' | 'operations' | 'operands'> {
  const { operations: fromOperations, operands: fromOperands, length } = compiler.tokens;
  const offsets = compiler.tokenOffsets.values;
  const tokenOffsets = integers(sequence.length + 1, shared);
  const operations = shared ? new Uint8Array(new SharedArrayBuffer(length)) : new Uint8Array(length);
  const operands = shared ? new Float64Array(new SharedArrayBuffer(8 * length)) : new Float64Array(length);
  let to = 0;
  for (let rank = 0; rank < sequence.length; rank++) {
    const task = sequence[rank]!;
    const end = offsets[task + 1]!;
    for (let from = offsets[task]!; from < end; from++, to++) {
      const operation = fromOperations[from]!;
      operations[to] = operation;
      operands[to] = operation === OP_REF ? ranks[fromOperands[from]!]! : fromOperands[from]!;
    }
    tokenOffsets[rank + 1] = to;
  }
  return { tokenOffsets, operations, operands };
}

function rankAdjacency(
  edges: Adjacency,
  sequence: Int32Array,
  ranks: Int32Array,
  shared: boolean,
): Adjacency {
  const offsets = integers(sequence.length + 1, shared);
  const targets = integers(edges.targets.length, shared);
  let to = 0;
  for (let rank = 0; rank < sequence.length; rank++) {
    const task = sequence[rank]!;
    const end = edges.offsets[task + 1]!;
    for (let from = edges.offsets[task]!; from < end; from++) targets[to++] = ranks[edges.targets[from]!]!;
    offsets[rank + 1] = to;
  }
  return { offsets, targets };
}

function countDependents(dependents: Adjacency, shared: boolean): Int32Array {
  const size = dependents.offsets.length - 1;
  const counts = integers(size, shared);
  for (let task = 0; task < size; task++)
    counts[task] = dependents.offsets[task + 1]! - dependents.offsets[task]!;
  return counts;
}

/** Largest number of keys of a cycle in an error. */
const CYCLE_KEYS = 12;

function cycleError(compiler: Compiler, dependencies: Adjacency): LongpoleError {
  const cycle = findCycle(compiler.taskCount, dependencies) ?? new Int32Array(0);
  const keys = Array.from(cycle.subarray(0, CYCLE_KEYS), (task) => compiler.key(task));
  if (cycle.length > CYCLE_KEYS) keys.push(`… ${cycle.length - CYCLE_KEYS} more …`);
  const path = [...keys, keys[0]].join(' → ');
  return new LongpoleError(
    'ERR_LONGPOLE_CYCLE',
    `The graph has a cycle of ${cycle.length} ${cycle.length === 1 ? 'task' : 'tasks'}: ${path} (each needs the next). ` +
      'Remove one of these dependencies.',
  );
}

/** Returns the priorities of the tasks, at no cost if the program never opened a block of annotations. */
function planPriorities(
  size: number,
  priorityOf: (id: number) => number | undefined,
  common: number | undefined,
): Pick<Plan, 'priority' | 'priorities'> {
  if (common === undefined || definedAnnotations.source === undefined || size === 0)
    return { priority: common ?? 0, priorities: undefined };
  const priorities = Float64Array.from({ length: size }, (_unused, id) => priorityOf(id) ?? common);
  const priority = priorities.reduce((most, one) => Math.max(most, one));
  return { priority, priorities: priorities.every((one) => one === priority) ? undefined : priorities };
}

// Determines the spans of tasks: the span in which a task was defined, else the span in which it is computed.

/** Returns the spans; undefined, at no cost, if the program never opened one. */
function planSpans(size: number, spanOf: (id: number) => SpanRef | undefined): Plan['spans'] {
  if (definedSpans.source === undefined) return undefined;
  const outside = definedSpans.current ?? { tags: DEFAULT_SPAN, code: [] };
  const of = new Int32Array(size);
  const refs: SpanRef[] = [];
  const byRef = new Map<SpanRef, number>();
  const byTags = new Map<string, number>();
  for (let id = 0; id < size; id++) {
    const ref = spanOf(id) ?? outside;
    let index = byRef.get(ref);
    if (index === undefined) {
      // A block that ran twice opened two spans with the same name. They count as one span.
      const name = JSON.stringify(ref.tags);
      index = byTags.get(name) ?? refs.push(ref) - 1;
      byTags.set(name, index);
      byRef.set(ref, index);
    }
    of[id] = index;
  }
  if (refs.length === 0) return undefined;
  return {
    of: refs.length === 1 ? null : of,
    names: refs.map(({ tags }) => tags),
    code: refs.map(({ code }) => code),
  };
}
