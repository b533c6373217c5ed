// Read-only maps and sets that compute their content on the first access. A caller that never reads them pays
// nothing.
import { firstOf, INSPECT, type Inspect, type InspectOptions, printedCollection } from './printed.js';

export interface SetSource<T> {
  size(): number;
  has(value: T): boolean;
  values(): Iterable<T>;
}

export class LazySet<T> implements ReadonlySet<T> {
  readonly #source: SetSource<T>;

  constructor(source: SetSource<T>) {
    this.#source = source;
  }

  get size(): number {
    return this.#source.size();
  }

  has(value: T): boolean {
    return this.#source.has(value);
  }

  *values(): SetIterator<T> {
    yield* this.#source.values();
  }

  keys(): SetIterator<T> {
    return this.values();
  }

  *entries(): SetIterator<[T, T]> {
    for (const value of this.#source.values()) yield [value, value];
  }

  forEach(callback: (value: T, again: T, set: ReadonlySet<T>) => void, self?: unknown): void {
    for (const value of this.#source.values()) callback.call(self, value, value, this);
  }

  [Symbol.iterator](): SetIterator<T> {
    return this.values();
  }

  [INSPECT](_depth: number, options: InspectOptions, inspect: Inspect): string {
    return printedCollection((count) => new Set(firstOf(this.values(), count)), this.size, options, inspect);
  }
}

export interface MapSource<K, V> {
  size(): number;
  /** Returns the value of a key for which `has` returned true. */
  get(key: K): V;
  has(key: K): boolean;
  keys(): Iterable<K>;
}

export class LazyMap<K, V> implements ReadonlyMap<K, V> {
  readonly #source: MapSource<K, V>;

  constructor(source: MapSource<K, V>) {
    this.#source = source;
  }

  get size(): number {
    return this.#source.size();
  }

  get(key: K): V | undefined {
    return this.#source.has(key) ? this.#source.get(key) : undefined;
  }

  has(key: K): boolean {
    return this.#source.has(key);
  }

  *keys(): MapIterator<K> {
    yield* this.#source.keys();
  }

  *values(): MapIterator<V> {
    for (const key of this.#source.keys()) yield this.#source.get(key);
  }

  *entries(): MapIterator<[K, V]> {
    for (const key of this.#source.keys()) yield [key, this.#source.get(key)];
  }

  forEach(callback: (value: V, key: K, map: ReadonlyMap<K, V>) => void, self?: unknown): void {
    for (const [key, value] of this.entries()) callback.call(self, value, key, this);
  }

  [Symbol.iterator](): MapIterator<[K, V]> {
    return this.entries();
  }

  [INSPECT](_depth: number, options: InspectOptions, inspect: Inspect): string {
    return printedCollection((count) => new Map(firstOf(this.entries(), count)), this.size, options, inspect);
  }
}
