// What the live trace knows of tasks before they run: keys, prefixes, functions, spans and dependencies. A large computation
// is a page by itself and nothing of it is copied; the tasks of small ones are copied into pages that they share, because
// the objects of a computation with one task weigh more than a kilobyte.
import type { Computation } from '../../protocol/clusterObserver.js';
import { Float64Column, Int32Column } from '../columns.js';
import { KeyColumn } from './keyColumn.js';

/** Facts about tasks by slot. Ids of texts are those of the live trace's names. */
export interface TaskPage {
  keyAt(slot: number): string;
  prefixAt(slot: number): number;
  functionAt(slot: number): number;
  spanAt(slot: number): number;
  /** Ids of tasks. */
  addDependencies(slot: number, to: Float64Column): void;
  /** The tasks from a slot on as runs name them. Not for long: arrays are views of what grows. */
  named(slot: number, size: number, names: SharedNames): NamedTasks;
}

/** What a batch of runs needs to know of its computation. */
export type NamedTasks = Pick<
  Computation,
  'keys' | 'prefixOf' | 'prefixes' | 'functionOf' | 'functions' | 'spanOf' | 'spans'
>;

/** All names of a live trace by id, and each as the path of a span. The same arrays all the time, which grow. */
export interface SharedNames {
  readonly texts: readonly string[];
  readonly paths: readonly (readonly string[])[];
}

/** The ids of a computation's texts among the names of the live trace. */
export interface NameIds {
  readonly prefixes: Int32Array;
  readonly functions: Int32Array;
  readonly spans: Int32Array;
}

/** Tasks of one computation, as it told them. Slots are local ids. */
export class SharedPage implements TaskPage {
  readonly #computation: Computation;
  readonly #names: NameIds;

  constructor(computation: Computation, names: NameIds) {
    this.#computation = computation;
    this.#names = names;
  }

  keyAt(slot: number): string {
    return this.#computation.keys[slot] ?? '';
  }

  prefixAt(slot: number): number {
    return this.#names.prefixes[this.#computation.prefixOf[slot]!] ?? -1;
  }

  functionAt(slot: number): number {
    return this.#names.functions[this.#computation.functionOf[slot]!] ?? -1;
  }

  spanAt(slot: number): number {
    return this.#names.spans[this.#computation.spanOf?.[slot] ?? 0] ?? -1;
  }

  named(): NamedTasks {
    return this.#computation;
  }

  addDependencies(slot: number, to: Float64Column): void {
    const { firstId, size, dependencyOffsets, dependencies, externals } = this.#computation;
    const end = dependencyOffsets[slot + 1]!;
    for (let i = dependencyOffsets[slot]!; i < end; i++) {
      const local = dependencies[i]!;
      to.push(local < size ? firstId + local : externals[local - size]!);
    }
  }
}

/** A page is full when it has this many tasks; then it can go when the last of its computations has gone. */
const FULL = 4096;

/** Tasks of many computations, one behind the other. */
export class CopiedPage implements TaskPage {
  readonly #keys = new KeyColumn();
  readonly #prefix = new Int32Column();
  readonly #function = new Int32Column();
  readonly #span = new Int32Column();
  readonly #dependencyOffsets = new Int32Column();
  readonly #dependencies = new Float64Column();

  constructor() {
    this.#dependencyOffsets.push(0);
  }

  get full(): boolean {
    return this.#keys.length >= FULL;
  }

  /** Returns the slot of local id 0. */
  add(computation: Computation, names: NameIds): number {
    const first = this.#keys.length;
    const own = new SharedPage(computation, names);
    this.#keys.add(computation.keys);
    for (let local = 0; local < computation.size; local++) {
      this.#prefix.push(own.prefixAt(local));
      this.#function.push(own.functionAt(local));
      this.#span.push(own.spanAt(local));
      own.addDependencies(local, this.#dependencies);
      this.#dependencyOffsets.push(this.#dependencies.length);
    }
    return first;
  }

  keyAt(slot: number): string {
    return this.#keys.at(slot);
  }

  prefixAt(slot: number): number {
    return this.#prefix.values[slot]!;
  }

  functionAt(slot: number): number {
    return this.#function.values[slot]!;
  }

  spanAt(slot: number): number {
    return this.#span.values[slot]!;
  }

  named(slot: number, size: number, { texts, paths }: SharedNames): NamedTasks {
    const end = slot + size;
    return {
      keys: this.#keys.slice(slot, end),
      prefixOf: this.#prefix.values.subarray(slot, end),
      prefixes: texts,
      functionOf: this.#function.values.subarray(slot, end),
      functions: texts,
      spanOf: this.#span.values.subarray(slot, end),
      spans: paths,
    };
  }

  addDependencies(slot: number, to: Float64Column): void {
    const end = this.#dependencyOffsets.values[slot + 1]!;
    for (let i = this.#dependencyOffsets.values[slot]!; i < end; i++) to.push(this.#dependencies.values[i]!);
  }
}
