// The stored results of which an isolate has copies, by run and local id. The isolate evicts its copies when the
// results are spilled, and receives them again when a batch needs them.
import { getOrMake, pushTo } from '../../base/lookUps.js';
import type { Batch } from '../../protocol/isolateMessages.js';
import type { GatherInput, ResultId } from '../../protocol/packedResult.js';
import { dependenciesOf } from '../../protocol/program.js';
import type { WorkerRun } from '../../protocol/workerMessages.js';

const NO_INPUTS: readonly GatherInput[] = [];
const NOTHING: ReadonlyMap<number, ResultId> = new Map();

export class IsolateCopies {
  readonly #copies = new Map<ResultId, { readonly run: number; readonly id: number }[]>();
  /** Run → results with copies in it. A result may outlive a million runs that use it. */
  readonly #results = new Map<number, Set<ResultId>>();
  /** Run → local id → result that the isolate has evicted. */
  readonly #evicted = new Map<number, Map<number, ResultId>>();

  get size(): number {
    let size = this.#copies.size;
    for (const table of [this.#results, this.#evicted])
      for (const entries of table.values()) size += entries.size;
    return size;
  }

  add(result: ResultId, run: number, id: number): void {
    this.#evicted.get(run)?.delete(id);
    getOrMake(this.#results, run, () => new Set()).add(result);
    const known = getOrMake(this.#copies, result, () => []);
    if (!known.some((copy) => copy.run === run && copy.id === id)) known.push({ run, id });
  }

  forget(result: ResultId): void {
    for (const { run } of this.#copies.get(result) ?? []) this.#results.get(run)?.delete(result);
    this.#copies.delete(result);
  }

  released(run: number, ids: Int32Array): void {
    const evicted = this.#evicted.get(run);
    if (evicted !== undefined) for (const id of ids) evicted.delete(id);
  }

  closed(run: number): void {
    this.#evicted.delete(run);
    for (const result of this.#results.get(run) ?? []) {
      const left = this.#copies.get(result)?.filter((copy) => copy.run !== run) ?? [];
      if (left.length > 0) this.#copies.set(result, left);
      else this.#copies.delete(result);
    }
    this.#results.delete(run);
  }

  /** Forgets all copies, because a new isolate has none. */
  clear(): void {
    this.#copies.clear();
    this.#results.clear();
    this.#evicted.clear();
  }

  /** Marks results as evicted. Returns the local ids to evict, by run. */
  evict(results: readonly ResultId[]): Map<number, number[]> {
    const idsByRun = new Map<number, number[]>();
    for (const result of results) {
      for (const { run, id } of this.#copies.get(result) ?? []) {
        getOrMake(this.#evicted, run, () => new Map()).set(id, result);
        pushTo(idsByRun, run, id);
      }
      this.forget(result);
    }
    return idsByRun;
  }

  /** Whether the isolate has evicted results of the run. */
  hasEvicted(run: number): boolean {
    return this.#evicted.has(run);
  }

  /** Returns the evicted results that the batch needs, as inputs from the store of this worker, `self`. */
  evictedInputs(spec: WorkerRun, batch: Batch, self: number): readonly GatherInput[] {
    const evicted = this.evictedIn(spec, batch);
    if (evicted.size === 0) return NO_INPUTS;
    const input = { key: '', nbytes: 0, from: self, address: '' };
    return Array.from(evicted, ([id, result]) => ({ id, result, ...input }));
  }

  /** Returns the evicted results that the batch needs and does not gather, by local id. */
  evictedIn({ run, program }: WorkerRun, { ids, gather }: Batch): ReadonlyMap<number, ResultId> {
    const evicted = this.#evicted.get(run);
    if (evicted === undefined || evicted.size === 0) return NOTHING;
    const needed = new Map<number, ResultId>();
    for (const id of ids) {
      for (const input of dependenciesOf(program, id)) {
        const result = evicted.get(input);
        if (result !== undefined) needed.set(input, result);
      }
    }
    for (const { id } of gather) needed.delete(id);
    return needed;
  }
}
