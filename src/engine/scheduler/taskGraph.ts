// All graphs of a scheduler in one: columns by task id that grow with every graph. Each graph is a segment of
// consecutive ids. If a graph needs a task of another segment, it has an import: a task without code, whose one
// dependency is the original task. All other edges stay within a segment, so a segment whose tasks are all forgotten
// can be removed.
import { firstWhere, pushTo } from '../../base/lookUps.js';
import { resizedInt32, resizedUint8 } from '../../base/resized.js';
import { orderByPriority, type TaskOrder } from './priorityQueue.js';

/** A graph in the form that the scheduler uses. Ids are ranks: a smaller id runs earlier. */
export interface SchedulerGraph {
  readonly size: number;
  readonly dependencyOffsets: Int32Array;
  readonly dependencies: Int32Array;
  readonly dependentOffsets: Int32Array;
  readonly dependents: Int32Array;
  readonly requested: Uint8Array;
  /** Function number of each task, or -1. Tasks of one function are expected to take equally long. */
  readonly functionOf: Int32Array;
  readonly functionCount: number;
  /** Priorities of the tasks of the only graph of a scheduler; absent if they are all equal. */
  readonly priorities?: Float64Array | undefined;
}

/** Rules for the tasks of a segment. */
export interface SegmentPolicy {
  /** Tasks with a higher priority run first. Default 0. */
  readonly priority?: number;
  /** Names of the workers that may run the tasks; null for all. */
  readonly workers?: ReadonlySet<string> | null;
  /** Resources that a worker must have at least, by name. */
  readonly resources?: ReadonlyMap<string, number> | null;
  /** Retries of a task that threw. Default 0. */
  readonly retries?: number;
  /** True if the tasks have a time limit. A task that exceeds it ends its isolate with the results there. */
  readonly limited?: boolean;
  /** The segment has no code: its results were given, and cannot be computed again. */
  readonly data?: boolean;
}

export interface Segment extends Required<SegmentPolicy> {
  readonly number: number;
  /** First id of the segment; changes when earlier segments are removed. */
  base: number;
  readonly size: number;
  /** Number of tasks (with imports) that are not forgotten. */
  alive: number;
  /** Number of living segments that import from this one. They need its lineage. */
  importers: number;
  /** True if neither its results nor its lineage are needed any more. The next compaction removes the segment. */
  dead: boolean;
  /** True if a task failed, was cancelled or ran again. Isolates then cannot drop every private result by counting. */
  irregular: boolean;
  /** Number of tasks that are neither in memory nor forgotten nor erred. */
  unfinished: number;
  readonly importsFrom: ReadonlySet<Segment>;
}

/** Ids of a segment before and after a compaction. */
export interface Move {
  readonly from: number;
  readonly to: number;
  readonly size: number;
}

/** Result of a compaction: the remaining segments in order, and the new id for each old id; -1 if removed. */
export interface Moves {
  readonly kept: readonly Move[];
  moved(id: number): number;
}

const NO_IMPORTS: ReadonlyMap<number, number> = new Map();
const MIN_CAPACITY = 64;

/** Returns a new capacity. Columns grow by half, so that at most a third of them is empty. */
export function grownCapacity(size: number, before: number): number {
  return Math.max(size, before + (before >>> 1), MIN_CAPACITY);
}

/**
 * Returns the capacity to which columns should shrink in a compaction, or the same if shrinking does not pay. `size`
 * is their former length. The next graph is often as large as the last one, so only surplus room is freed.
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
  /** Order of the tasks of the only graph, if they differ in priority. */
  order: TaskOrder | null = null;
  /** Task → the tasks of later segments that import it. */
  importers = new Map<number, number[]>();
  importCount = 0;
  /** Number of tasks in dead segments. */
  deadSize = 0;
  /** Import → the original task, which is never an import itself; -1 for other tasks. Empty if there can be no imports. */
  #origins: Int32Array = new Int32Array(0);
  #edges = 0;
  #last: Segment | undefined;
  #nextNumber = 0;

  /** Wraps the only graph of a scheduler. Its columns are used without a copy. */
  static of(graph: SchedulerGraph): TaskGraph {
    const only = new TaskGraph();
    only.size = graph.size;
    only.dependencyOffsets = graph.dependencyOffsets;
    only.dependencies = graph.dependencies;
    only.dependentOffsets = graph.dependentOffsets;
    only.dependents = graph.dependents;
    only.requested = graph.requested;
    only.functionOf = graph.functionOf;
    if (graph.priorities !== undefined) only.order = orderByPriority(graph.priorities);
    only.#edges = graph.dependencies.length;
    only.#addSegment(0, graph, {}, new Set());
    return only;
  }

  /**
   * Adds a copy of a graph behind the others. `imports`: local id → id of the original. Resolves an import of an
   * import here, once.
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
      pushTo(this.importers, origin, base + local);
    }
    this.importCount += imports.size;
    const segment = this.#addSegment(base, graph, policy, importsFrom);
    this.bury(segment);
    return segment;
  }

  /** Marks a segment as dead if it is, and then the segments that only this one kept alive. */
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

  /** Returns the segment of a task. Most calls ask for the same segment as the call before. */
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

  /** Returns the original of an import, and any other task itself. */
  originOf(id: number): number {
    return this.isImport(id) ? this.#origins[id]! : id;
  }

  /** Returns the imports of a task. */
  importersOf(id: number): readonly number[] {
    return this.importers.size === 0 ? NO_IDS : (this.importers.get(id) ?? NO_IDS);
  }

  /** Removes the dead segments. */
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
      limited: policy.limited ?? false,
      data: policy.data ?? false,
    };
    this.segments.push(segment);
    this.functionCount = Math.max(this.functionCount, graph.functionCount);
    return segment;
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

  /** Moves the columns of one segment down. Returns the position for the next segment's edges. */
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

  /** Renames the originals of living imports, which are in segments that stay. */
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
        pushTo(this.importers, origin, id);
        this.importCount++;
      }
    }
  }
}

const NO_IDS: readonly number[] = [];

/** Returns the last index whose value, in ascending order, is at most `wanted`. */
function lastUpTo(length: number, valueAt: (index: number) => number, wanted: number): number {
  return firstWhere(1, length, (index) => valueAt(index) > wanted) - 1;
}
