// The graphs that a scheduler has taken in, as one: columns by task id that grow with every graph. Each graph is a segment
// of consecutive ids. A task of another segment that a graph needs is an import: a task of its own without code, whose
// one dependency is the task it stands for. So all edges but that one stay within a segment, and a segment whose tasks
// are all forgotten can be cut out again.
import { resizedInt32, resizedUint8 } from '../../base/resized.js';

/** A graph as the scheduler sees it. Ids are ranks: a smaller id runs earlier. */
export interface SchedulerGraph {
  readonly size: number;
  readonly dependencyOffsets: Int32Array;
  readonly dependencies: Int32Array;
  readonly dependentOffsets: Int32Array;
  readonly dependents: Int32Array;
  readonly requested: Uint8Array;
  /** Task id → function number, or -1: tasks of one function are expected to take equally long. */
  readonly functionOf: Int32Array;
  readonly functionCount: number;
}

/** How the tasks of a segment are to be treated. */
export interface SegmentPolicy {
  /** Higher runs first. Default 0. */
  readonly priority?: number;
  /** Names of the workers that may run the tasks; null: all. */
  readonly workers?: ReadonlySet<string> | null;
  /** What a worker must have at least, by name. */
  readonly resources?: ReadonlyMap<string, number> | null;
  /** How often a task that threw is tried again. Default 0. */
  readonly retries?: number;
  /** There is no code: the results were there from the beginning and cannot be computed again. */
  readonly data?: boolean;
}

export interface Segment {
  readonly number: number;
  /** Changes when earlier segments are cut out. */
  base: number;
  readonly size: number;
  /** Tasks (with imports) that are not forgotten. */
  alive: number;
  /** Segments that are not dead and import from this one: its lineage is needed as long as theirs. */
  importers: number;
  /** Nobody needs anything of it any more, nor its lineage: the next compaction cuts it out. */
  dead: boolean;
  /** Some task failed, was cancelled or ran again, so that its isolates do not drop every private result by counting. */
  irregular: boolean;
  /** Tasks that are neither in memory nor forgotten nor erred. */
  unfinished: number;
  readonly importsFrom: ReadonlySet<Segment>;
  readonly priority: number;
  readonly workers: ReadonlySet<string> | null;
  readonly resources: ReadonlyMap<string, number> | null;
  readonly retries: number;
  readonly data: boolean;
}

/** Ids of a segment before a compaction and after it. */
export interface Move {
  readonly from: number;
  readonly to: number;
  readonly size: number;
}

/** What a compaction did: the segments that stay, in order, and the new id of a task by its old one; -1: gone. */
export interface Moves {
  readonly kept: readonly Move[];
  moved(id: number): number;
}

const NO_IMPORTS: ReadonlyMap<number, number> = new Map();
const MIN_CAPACITY = 1024;

/** Columns grow by half, so that at most a third of them is empty. */
export function grownCapacity(size: number, before: number): number {
  return Math.max(size, before + (before >>> 1), MIN_CAPACITY);
}

/**
 * What columns of this capacity should shrink to when they are compacted; the same if that is not worth it. `size`: what they
 * held until now. The next graph is often as large as the last, so the room is given back when it is not.
 */
export function shrunkCapacity(size: number, capacity: number): number {
  const enough = Math.max(size + (size >>> 1), MIN_CAPACITY);
  return enough * 2 <= capacity ? enough : capacity;
}

export class TaskGraph implements SchedulerGraph {
  size = 0;
  dependencyOffsets: Int32Array = new Int32Array(1);
  dependencies: Int32Array = new Int32Array(0);
  dependentOffsets: Int32Array = new Int32Array(1);
  dependents: Int32Array = new Int32Array(0);
  requested: Uint8Array = new Uint8Array(0);
  functionOf: Int32Array = new Int32Array(0);
  functionCount = 0;
  segments: Segment[] = [];
  /** Task → the tasks of later segments that import it. */
  importers = new Map<number, number[]>();
  /** How many tasks are imports. */
  importCount = 0;
  /** Tasks in dead segments. */
  deadSize = 0;
  /** Import → the task that it stands for, which is no import itself; -1: no import. Empty where there can be none. */
  #origins: Int32Array = new Int32Array(0);
  #edges = 0;
  #last: Segment | undefined;
  #nextNumber = 0;

  /** The one graph of a scheduler that will get no other: its columns are used as they are. */
  static of(graph: SchedulerGraph): TaskGraph {
    const only = new TaskGraph();
    only.#adopt(graph);
    only.#addSegment(0, graph, {}, new Set());
    return only;
  }

  /**
   * Takes a copy of a graph in, behind the others. `imports`: local id → id of the task it stands for. What an import
   * of an import stands for is found here, once.
   */
  add(
    graph: SchedulerGraph,
    policy: SegmentPolicy = {},
    imports: ReadonlyMap<number, number> = NO_IMPORTS,
  ): Segment {
    const base = this.size;
    const importsFrom = new Set<Segment>();
    for (const origin of imports.values()) importsFrom.add(this.segmentOf(this.originOf(origin)));
    for (const from of importsFrom) from.importers++;
    this.#append(graph);
    for (const [local, given] of imports) {
      const origin = this.originOf(given);
      this.#origins[base + local] = origin;
      this.#addImporter(origin, base + local);
    }
    this.importCount += imports.size;
    const segment = this.#addSegment(base, graph, policy, importsFrom);
    this.bury(segment);
    return segment;
  }

  /** Marks a segment as dead if it is, and those that only it kept. */
  bury(first: Segment): void {
    const stack = [first];
    for (let segment = stack.pop(); segment !== undefined; segment = stack.pop()) {
      if (segment.alive > 0 || segment.importers > 0 || segment.dead) continue;
      segment.dead = true;
      this.deadSize += segment.size;
      for (const from of segment.importsFrom) {
        from.importers--;
        stack.push(from);
      }
    }
  }

  /** The segment of a task. Usually the one that was asked for last. */
  segmentOf(id: number): Segment {
    const last = this.#last;
    if (last !== undefined && id >= last.base && id < last.base + last.size) return last;
    const { segments } = this;
    this.#last = segments[lastUpTo(segments.length, (index) => segments[index]!.base, id)]!;
    return this.#last;
  }

  isImport(id: number): boolean {
    return this.importCount > 0 && this.#origins[id]! >= 0;
  }

  /** The task whose result a task's result is: itself unless it is an import. */
  originOf(id: number): number {
    return this.isImport(id) ? this.#origins[id]! : id;
  }

  /** The imports that stand for a task. */
  importersOf(id: number): readonly number[] {
    return this.importers.size === 0 ? NO_IDS : (this.importers.get(id) ?? NO_IDS);
  }

  /** Cuts the dead segments out. */
  compact(): Moves {
    const before = { size: this.size, edges: this.#edges };
    const old = this.segments.map((segment) => ({ segment, from: segment.base }));
    const kept: Move[] = [];
    let to = 0;
    let edges = 0;
    for (const { segment, from } of old) {
      if (segment.dead) continue;
      edges = this.#move(from, to, segment.size, edges);
      segment.base = to;
      kept.push({ from, to, size: segment.size });
      to += segment.size;
    }
    const moved = (id: number): number => {
      const entry = old[lastUpTo(old.length, (index) => old[index]!.from, id)]!;
      return entry.segment.dead ? -1 : id - entry.from + entry.segment.base;
    };
    this.#edges = edges;
    this.segments = this.segments.filter((segment) => !segment.dead);
    this.#last = undefined;
    this.size = to;
    this.deadSize = 0;
    if (this.importCount > 0) this.#renameImports(kept, moved);
    this.#shrink(before);
    return { kept, moved };
  }

  #addSegment(
    base: number,
    graph: SchedulerGraph,
    policy: SegmentPolicy,
    importsFrom: ReadonlySet<Segment>,
  ): Segment {
    const segment: Segment = {
      number: this.#nextNumber++,
      base,
      size: graph.size,
      alive: graph.size,
      importers: 0,
      dead: false,
      irregular: false,
      unfinished: graph.size,
      importsFrom,
      priority: policy.priority ?? 0,
      workers: policy.workers ?? null,
      resources: policy.resources ?? null,
      retries: policy.retries ?? 0,
      data: policy.data ?? false,
    };
    this.segments.push(segment);
    this.functionCount = Math.max(this.functionCount, graph.functionCount);
    return segment;
  }

  #adopt(graph: SchedulerGraph): void {
    this.size = graph.size;
    this.dependencyOffsets = graph.dependencyOffsets;
    this.dependencies = graph.dependencies;
    this.dependentOffsets = graph.dependentOffsets;
    this.dependents = graph.dependents;
    this.requested = graph.requested;
    this.functionOf = graph.functionOf;
    this.#edges = graph.dependencies.length;
  }

  #append(graph: SchedulerGraph): void {
    const base = this.size;
    const edges = this.#edges;
    const size = base + graph.size;
    const edgeCount = edges + graph.dependencies.length;
    this.#reserve(size, edgeCount);
    for (let id = 0; id < graph.size; id++) {
      this.dependencyOffsets[base + id + 1] = edges + graph.dependencyOffsets[id + 1]!;
      this.dependentOffsets[base + id + 1] = edges + graph.dependentOffsets[id + 1]!;
    }
    for (let edge = 0; edge < graph.dependencies.length; edge++) {
      this.dependencies[edges + edge] = base + graph.dependencies[edge]!;
      this.dependents[edges + edge] = base + graph.dependents[edge]!;
    }
    this.requested.set(graph.requested, base);
    this.functionOf.set(graph.functionOf, base);
    this.#origins.fill(-1, base, size);
    this.size = size;
    this.#edges = edgeCount;
  }

  #reserve(size: number, edges: number): void {
    if (this.requested.length < size) this.#resize(grownCapacity(size, this.requested.length));
    if (this.dependencies.length < edges) this.#resizeEdges(grownCapacity(edges, this.dependencies.length));
  }

  #shrink(before: { readonly size: number; readonly edges: number }): void {
    const { requested, dependencies } = this;
    const tasks = shrunkCapacity(before.size, requested.length);
    if (tasks < requested.length) this.#resize(tasks);
    const edges = shrunkCapacity(before.edges, dependencies.length);
    if (edges < dependencies.length) this.#resizeEdges(edges);
  }

  #resize(capacity: number): void {
    this.dependencyOffsets = resizedInt32(this.dependencyOffsets, capacity + 1);
    this.dependentOffsets = resizedInt32(this.dependentOffsets, capacity + 1);
    this.functionOf = resizedInt32(this.functionOf, capacity);
    this.#origins = resizedInt32(this.#origins, capacity);
    this.requested = resizedUint8(this.requested, capacity);
  }

  #resizeEdges(capacity: number): void {
    this.dependencies = resizedInt32(this.dependencies, capacity);
    this.dependents = resizedInt32(this.dependents, capacity);
  }

  /** Moves the columns of one segment down; returns where the next segment's edges go. */
  #move(from: number, to: number, size: number, edgesTo: number): number {
    const first = this.dependencyOffsets[from]!;
    const count = this.dependencyOffsets[from + size]! - first;
    const shift = from - to;
    const edgeShift = first - edgesTo;
    if (shift === 0 && edgeShift === 0) return edgesTo + count;
    for (let id = 0; id <= size; id++) {
      this.dependencyOffsets[to + id] = this.dependencyOffsets[from + id]! - edgeShift;
      this.dependentOffsets[to + id] = this.dependentOffsets[from + id]! - edgeShift;
    }
    for (let edge = first; edge < first + count; edge++) {
      this.dependencies[edge - edgeShift] = this.dependencies[edge]! - shift;
      this.dependents[edge - edgeShift] = this.dependents[edge]! - shift;
    }
    this.requested.copyWithin(to, from, from + size);
    this.functionOf.copyWithin(to, from, from + size);
    return edgesTo + count;
  }

  #addImporter(origin: number, id: number): void {
    const known = this.importers.get(origin);
    if (known === undefined) this.importers.set(origin, [id]);
    else known.push(id);
  }

  /** What a living import stands for is in a segment that stays. */
  #renameImports(kept: readonly Move[], moved: (id: number) => number): void {
    this.importers = new Map();
    this.importCount = 0;
    for (const { from, to, size } of kept) {
      this.#origins.copyWithin(to, from, from + size);
      for (let id = to; id < to + size; id++) {
        const before = this.#origins[id]!;
        if (before < 0) continue;
        const origin = moved(before);
        this.#origins[id] = origin;
        this.#addImporter(origin, id);
        this.importCount++;
      }
    }
  }
}

const NO_IDS: readonly number[] = [];

/** The last index whose value, in ascending order, is at most `wanted`. */
function lastUpTo(length: number, valueAt: (index: number) => number, wanted: number): number {
  let low = 0;
  let high = length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (valueAt(middle) <= wanted) low = middle;
    else high = middle - 1;
  }
  return low;
}
