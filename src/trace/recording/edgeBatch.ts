// Collects edges of the graph for a batch.

import { Float64Column } from '../../base/columns.js';
import type { Computation } from '../../protocol/clusterObserver.js';
import type { ArrowValues } from '../formats/arrow/arrowTypes.js';

/** A computation whose edges are in a page of a live trace. */
export interface ComputationEdges {
  readonly firstId: number;
  readonly size: number;
  readonly slot: number;
  readonly page: { addDependencies(slot: number, to: Float64Column): void };
}

export class EdgeBatch {
  readonly #task = new Float64Column();
  readonly #dependency = new Float64Column();

  get length(): number {
    return this.#task.length;
  }

  /** Adds the edges of tasks from local id `from` on, until there are `rows` rows. Returns the next local id. */
  add(computation: Computation, from: number, rows: number): number {
    const { firstId, size, dependencyOffsets, dependencies, externals } = computation;
    let id = from;
    for (; id < size && this.length < rows; id++) {
      const end = dependencyOffsets[id + 1]!;
      for (let i = dependencyOffsets[id]!; i < end; i++) {
        const local = dependencies[i]!;
        this.#task.push(firstId + id);
        this.#dependency.push(local < size ? firstId + local : externals[local - size]!);
      }
    }
    return id;
  }

  /** Like `add`, for edges in a page. */
  addPage({ firstId, size, page, slot }: ComputationEdges, from: number, rows: number): number {
    let id = from;
    for (; id < size && this.length < rows; id++) {
      page.addDependencies(slot + id, this.#dependency);
      while (this.#task.length < this.#dependency.length) this.#task.push(firstId + id);
    }
    return id;
  }

  values(): ArrowValues[] {
    return [
      { type: 'int64', values: this.#task.values },
      { type: 'int64', values: this.#dependency.values },
    ];
  }

  clear(): void {
    this.#task.length = 0;
    this.#dependency.length = 0;
  }
}
