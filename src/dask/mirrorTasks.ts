// The tasks of a Dask cluster, from rows of the bridge: the computation of each task, and the state of unfinished
// tasks. A computation is kept until the scheduler has forgotten all its tasks.
import { firstWhere, getOrMake } from '../base/lookUps.js';
import { type Computation, type DropReason, nextAttempt, prefixOf } from '../protocol/clusterObserver.js';
import { damagedRow } from '../protocol/daskCells.js';
import type { DaskRow } from '../protocol/daskRows.js';
import { DEFAULT_SPAN, type TaskKind } from '../protocol/metrics.js';

/** An unfinished task that has all its inputs. */
export interface OpenTask {
  readonly ready: number;
  /** NaN if the task was not dispatched during the observation. */
  dispatched: number;
  /** Index of the worker; -1 before the task was dispatched. */
  worker: number;
  /** Bytes of its arguments, if they are large. */
  nbytes?: number;
}

interface Known {
  readonly info: Computation;
  /** Number of ended runs by local id; see nextAttempt. */
  readonly runs: Uint8Array;
  /** Number of tasks that the scheduler has not forgotten. */
  left: number;
  /** Tasks without a run that are counted as dropped, by local id. */
  readonly dropped: Map<number, DropReason>;
}

export interface FoundTask {
  readonly computation: Computation;
  readonly local: number;
}

type KnownTask = FoundTask & { readonly known: Known };

export class MirrorTasks {
  /** Computations, ascending by first id. */
  #known: Known[] = [];
  readonly #spans = new Map<string, readonly string[]>();
  readonly #open = new Map<number, OpenTask>();
  /** Ids of the tasks that workers have, by key, because workers report keys. */
  readonly #processing = new Map<string, number>();
  #next = 0;
  #number = 0;
  #forgotten = 0;

  span(id: string, tags: readonly string[]): void {
    // distributed creates a default span for each computation outside of spans. They all count as DEFAULT_SPAN.
    if (tags.join() !== DEFAULT_SPAN.join()) this.#spans.set(id, tags);
  }

  tagsOf(spanId: string): readonly string[] {
    return this.#spans.get(spanId) ?? DEFAULT_SPAN;
  }

  add(graph: DaskRow<'graph'>): Computation {
    const { firstId, keys } = graph;
    if (firstId < this.#next) damagedRow(`a graph begins at task ${firstId}, which exists already`);
    this.#next = firstId + keys.length;
    const info: Computation = {
      number: ++this.#number,
      firstId,
      size: keys.length,
      keys,
      prefixOf: graph.prefixOf,
      prefixes: graph.prefixes,
      functionOf: graph.functionOf,
      functions: graph.functions,
      spanOf: graph.spanOf,
      spans: graph.spans.map((id) => this.tagsOf(id)),
      ...edgesOf(graph),
      given: graph.given,
      submitted: graph.submitted,
      client: graph.client,
      code: graph.code,
    };
    this.#known.push({ info, runs: new Uint8Array(keys.length), left: keys.length, dropped: new Map() });
    return info;
  }

  /** @throws LongpoleError ERR_LONGPOLE_DASK_BRIDGE for an unknown task */
  find(id: number): FoundTask {
    return this.#find(id) ?? damagedRow(`there is no task ${id}`);
  }

  #find(id: number): KnownTask | undefined {
    const known =
      this.#known[firstWhere(0, this.#known.length, (at) => this.#known[at]!.info.firstId > id) - 1];
    if (known === undefined) return undefined;
    const { info: computation } = known;
    const local = id - computation.firstId;
    return local < computation.size ? { known, computation, local } : undefined;
  }

  /** Returns the prefix and span of a task; undefined if the task is unknown, or the scheduler has forgotten it. */
  kindOf(id: number): TaskKind | undefined {
    const found = this.#find(id);
    if (found === undefined) return undefined;
    const { computation, local } = found;
    return {
      prefix: prefixOf(computation, local),
      span: computation.spans[computation.spanOf?.[local] ?? 0] ?? DEFAULT_SPAN,
    };
  }

  ready(id: number, time: number): void {
    this.find(id);
    this.#open.set(id, undispatched(time));
  }

  sent(id: number, time: number, worker: number): void {
    const { computation, local } = this.find(id);
    const open = getOrMake(this.#open, id, undispatched);
    open.dispatched = time;
    open.worker = worker;
    this.#processing.set(computation.keys[local] ?? '', id);
  }

  sized(id: number, nbytes: number): void {
    const open = this.#open.get(id);
    if (open !== undefined) open.nbytes = nbytes;
  }

  /** Removes a task whose run has ended, and returns its state. */
  end(id: number): OpenTask {
    const { computation, local } = this.find(id);
    const open = this.#open.get(id) ?? undispatched();
    this.#open.delete(id);
    this.#processing.delete(computation.keys[local] ?? '');
    return open;
  }

  /** Returns the id of the task with this key if a worker has the task. */
  processing(key: string): number | undefined {
    return this.#processing.get(key);
  }

  /** Ids of the tasks that have all their inputs and have not ended. */
  get unfinished(): Iterable<number> {
    return this.#open.keys();
  }

  /** The prefix of each task that a worker has. */
  get processingPrefixes(): readonly string[] {
    return Array.from(this.#processing.values(), (id) => this.kindOf(id)?.prefix ?? '');
  }

  /** Ids of the tasks that workers have. */
  get processingIds(): ReadonlySet<number> {
    return new Set(this.#processing.values());
  }

  get isProcessing(): boolean {
    return this.#processing.size > 0;
  }

  /** Returns the number of the run that ends; see nextAttempt. */
  attempt(id: number): number {
    const found = this.#find(id);
    return found === undefined ? 1 : nextAttempt(found.known.runs, found.local);
  }

  /** Counts a task as dropped. Returns false if it has a run, or is counted already. */
  drop(id: number, why: DropReason): boolean {
    const found = this.#find(id);
    if (found === undefined) return false;
    const { known, local } = found;
    if (known.runs[local] !== 0 || known.dropped.has(local)) return false;
    known.dropped.set(local, why);
    return true;
  }

  /** Returns why a task was counted as dropped that will run after all; undefined if it was not. */
  undrop(id: number): DropReason | undefined {
    const found = this.#find(id);
    const why = found?.known.dropped.get(found.local);
    found?.known.dropped.delete(found.local);
    return why;
  }

  /** Removes a task. Returns its computation if that was the last task of the computation. */
  forget(id: number): Computation | undefined {
    const known = this.#find(id)?.known;
    if (known === undefined || known.left === 0) return undefined;
    if (this.#open.has(id)) this.end(id);
    known.left--;
    if (known.left > 0) return undefined;
    this.#forgotten++;
    // Walks over the list only when half of its computations are forgotten.
    if (this.#forgotten > 64 && this.#forgotten * 2 > this.#known.length) {
      this.#known = this.#known.filter(({ left }) => left > 0);
      this.#forgotten = 0;
    }
    return known.info;
  }
}

function undispatched(ready = Number.NaN): OpenTask {
  return { ready, dispatched: Number.NaN, worker: -1 };
}

/** Converts ids of dependencies to local ids; ids of other graphs become `size` plus an index of `externals`. */
function edgesOf({
  firstId,
  keys,
  dependencyCounts,
  dependencies,
}: DaskRow<'graph'>): Pick<Computation, 'dependencyOffsets' | 'dependencies' | 'externals'> {
  const size = keys.length;
  const dependencyOffsets = new Int32Array(size + 1);
  for (let local = 0; local < size; local++)
    dependencyOffsets[local + 1] = dependencyOffsets[local]! + dependencyCounts[local]!;
  const places = new Map<number, number>();
  const locals = Int32Array.from(dependencies, (id) => {
    if (id >= firstId && id < firstId + size) return id - firstId;
    return size + getOrMake(places, id, () => places.size);
  });
  return { dependencyOffsets, dependencies: locals, externals: Float64Array.from(places.keys()) };
}
