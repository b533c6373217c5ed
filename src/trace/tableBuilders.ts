// Builders of two special tables. Workers are found by name and described later; the figures of resource samples have
// arbitrary names.

import { Float64Column } from '../base/columns.js';
import { getOrMake } from '../base/lookUps.js';
import type { ResourceSample } from '../protocol/clusterObserver.js';
import type { Encoded } from '../protocol/traceSchema.js';
import { arrayOf, rowsFrom, TableBuilder } from './tableRows.js';
import type { ResourceRows, WorkerRows } from './trace.js';

/** Limit for named figures besides those of the GPU. DASF's monitor has eight; a damaged file may have any number. */
const MAX_FIGURES = 64;

export class WorkerBuilder {
  readonly #rows = new TableBuilder('workers');
  readonly #byHost = new Map<number, Map<number, number>>();
  /** Result of the last lookup. Successive events mostly belong to one worker. */
  readonly #last = { host: -2, name: -2, row: -1 };

  get length(): number {
    return this.#rows.length;
  }

  /** Adds a worker and returns its row. Texts are ids of the trace's strings. */
  add(row: Encoded<'workers'>): number {
    this.#rows.add(row);
    return this.length - 1;
  }

  /**
   * Returns the row of the worker with this name on this host, adding it if needed. Returns -1 if the name is absent.
   */
  of(host: number, name: number): number {
    const last = this.#last;
    if (host === last.host && name === last.name) return last.row;
    if (name < 0) return -1;
    const names = getOrMake(this.#byHost, host, () => new Map<number, number>());
    const row = getOrMake(names, name, () => this.add({ name, host }));
    last.host = host;
    last.name = name;
    last.row = row;
    return row;
  }

  /** Updates the row of a worker with later facts. */
  describe(row: number, more: Partial<Encoded<'workers'>>): void {
    this.#rows.describe(row, more);
  }

  /** Returns a copy, because `describe` changes rows in place. */
  build(): WorkerRows {
    const rows = this.#rows.build();
    return rowsFrom('workers', rows.length, ({ name }) => arrayOf(rows, name).slice());
  }
}

export class ResourceBuilder {
  readonly #rows = new TableBuilder('resources');
  readonly #figures = new Map<string, Float64Column>();

  get length(): number {
    return this.#rows.length;
  }

  /** Adds a sample. `figures` are all its numbers, including those of the GPU. */
  add(
    sample: Omit<Encoded<'resources'>, 'gpuUtilization' | 'gpuMemoryUsed'>,
    figures: ReadonlyMap<string, number>,
  ): void {
    const row = this.length;
    this.#rows.add({
      ...sample,
      gpuUtilization: figures.get('gpu_utilization') ?? Number.NaN,
      gpuMemoryUsed: figures.get('gpu_memory_used') ?? Number.NaN,
    });
    for (const [name, value] of figures) {
      if (name === 'gpu_utilization' || name === 'gpu_memory_used') continue;
      const column = this.#figures.get(name) ?? this.#addFigure(name);
      if (column === undefined) continue;
      while (column.length < row) column.push(Number.NaN);
      column.push(value);
    }
  }

  #addFigure(name: string): Float64Column | undefined {
    if (this.#figures.size >= MAX_FIGURES) return undefined;
    const column = new Float64Column();
    this.#figures.set(name, column);
    return column;
  }

  build(): ResourceRows {
    const figures = new Map<string, Float64Array>();
    for (const [name, column] of this.#figures) {
      while (column.length < this.length) column.push(Number.NaN);
      figures.set(name, column.take());
    }
    return { ...this.#rows.build(), figures };
  }
}

/** Returns the known figures of a sample by the names that traces use. */
export function figuresOf(sample: ResourceSample): Map<string, number> {
  const { cpu, rss, heap, external, eventLoopDelay } = sample;
  const figures = new Map(Object.entries({ cpu, rss, heap, external, eventLoopDelay }));
  for (const [name, value] of sample.figures ?? []) figures.set(name, value);
  for (const [name, value] of figures) if (Number.isNaN(value)) figures.delete(name);
  return figures;
}
