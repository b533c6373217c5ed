// Facts about tasks that are known before they run: keys, prefixes, functions, spans and dependencies. A large
// computation is a page by itself and is not copied. Small ones are copied into shared pages, because the objects of a
// computation with one task use more than a kilobyte.

import { Float64Column, Int32Column } from '../../base/columns.js';
import { resizedUint8 } from '../../base/resized.js';
import type { Computation } from '../../protocol/clusterObserver.js';
import { decodeTexts } from '../stringTable.js';

/** Facts about tasks by slot. Ids of texts refer to the names of the live trace. */
export interface TaskPage {
  keyAt(slot: number): string;
  prefixAt(slot: number): number;
  functionAt(slot: number): number;
  spanAt(slot: number): number;
  /** Appends the ids of a task's dependencies to `to`. */
  addDependencies(slot: number, to: Float64Column): void;
  /**
   * Returns the names of `size` tasks from `slot` on. Valid for a short time, because the arrays are views of growing
   * ones.
   */
  named(slot: number, size: number, names: SharedNames): NamedTasks;
}

/** Properties of a computation that its runs refer to. */
export type NamedTasks = Pick<
  Computation,
  'keys' | 'prefixOf' | 'prefixes' | 'functionOf' | 'functions' | 'spanOf' | 'spans'
>;

/** Names of a live trace by id, as texts and as paths of spans. The arrays grow and are never replaced. */
export interface SharedNames {
  readonly texts: readonly string[];
  readonly paths: readonly (readonly string[])[];
}

/** Ids of a computation's texts in the table of names. */
export interface NameIds {
  readonly prefixes: Int32Array;
  readonly functions: Int32Array;
  readonly spans: Int32Array;
}

/** The tasks of one large computation, which the page refers to without a copy. A slot is the id of a task in it. */
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
    addDependencies(this.#computation, slot, to);
  }
}

/** Appends the ids of the dependencies of a task. */
export function addDependencies(computation: Computation, local: number, to: Float64Column): void {
  const { firstId, size, dependencyOffsets, dependencies, externals } = computation;
  const end = dependencyOffsets[local + 1]!;
  for (let i = dependencyOffsets[local]!; i < end; i++) {
    const needed = dependencies[i]!;
    to.push(needed < size ? firstId + needed : externals[needed - size]!);
  }
}

/** Number of tasks that makes a page full. A full page is freed with the last of its computations. */
const FULL = 4096;

/** Copied tasks of many computations. */
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

  /** Copies a computation and returns the slot of local id 0. */
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

const encoder = new TextEncoder();

const FIRST_BYTES = 1 << 12;
/** Maximal size of a UTF-16 code unit in UTF-8. */
const MAX_BYTES_PER_LETTER = 3;

/** Cache of the column that was read last; the next key is mostly of the same column. */
let recent: { readonly column: KeyColumn; readonly keys: readonly string[] } | undefined;

/**
 * Keys of tasks, concatenated as bytes. As strings, the keys of a window would be most of the garbage collector's work,
 * and most keys are never read.
 */
export class KeyColumn {
  #bytes = new Uint8Array(FIRST_BYTES);
  #used = 0;
  readonly #offsets = new Int32Column();

  constructor() {
    this.#offsets.push(0);
  }

  get length(): number {
    return this.#offsets.length - 1;
  }

  /** Appends keys, some 20 ns each if all are ASCII. A lone surrogate becomes U+FFFD. */
  add(keys: readonly string[]): void {
    const all = keys.length === 1 ? keys[0]! : keys.join('');
    this.#reserve(all.length);
    // Text that is not ASCII does not fit, because it has more bytes than code units.
    const room = this.#bytes.subarray(this.#used, this.#used + all.length);
    if (encoder.encodeInto(all, room).read === all.length) {
      for (const key of keys) this.#end(key.length);
      return;
    }
    for (const key of keys) {
      this.#reserve(key.length * MAX_BYTES_PER_LETTER);
      this.#end(encoder.encodeInto(key, this.#bytes.subarray(this.#used)).written);
    }
  }

  /** Returns the keys `[from .. to)`, some 20 ns each if all are ASCII. */
  slice(from: number, to: number): string[] {
    return decodeTexts(this.#offsets.values, this.#bytes, from, to);
  }

  /** Returns one key, or '' if it does not exist. Fast if the next call is mostly for the same column. */
  at(index: number): string {
    if (recent?.column !== this || recent.keys.length <= index)
      recent = { column: this, keys: this.slice(0, this.length) };
    return recent.keys[index] ?? '';
  }

  #end(bytes: number): void {
    this.#used += bytes;
    this.#offsets.push(this.#used);
  }

  #reserve(bytes: number): void {
    if (this.#used + bytes <= this.#bytes.length) return;
    this.#bytes = resizedUint8(this.#bytes, Math.max(this.#bytes.length * 2, this.#used + bytes));
  }
}
