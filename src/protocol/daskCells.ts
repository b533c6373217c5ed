// Reads a row of the bridge to Dask cell by cell. Each method returns the next cell, or throws if it has another
// type.
import { LongpoleError } from '../base/errors.js';

/** Throws LongpoleError ERR_LONGPOLE_DASK_BRIDGE for a row that cannot be read. */
export function damagedRow(what: string): never {
  throw new LongpoleError(
    'ERR_LONGPOLE_DASK_BRIDGE',
    `The bridge to Dask sent a row that cannot be read: ${what}. If your cluster has its own copy of longpole_dask, update it.`,
  );
}

export class Cells {
  readonly #cells: readonly unknown[];
  #at = 0;

  constructor(value: unknown) {
    if (!Array.isArray(value)) damagedRow('a row is not a list');
    this.#cells = value;
  }

  #next(): unknown {
    return this.#cells[this.#at++];
  }

  text(): string {
    const value = this.#next();
    return typeof value === 'string' ? value : this.#wrong('a text');
  }

  number(): number {
    const value = this.#next();
    return isNumber(value) ? value : this.#wrong('a number');
  }

  /** Reads a number, or NaN for none. */
  perhaps(): number {
    const value = this.#next();
    if (value === null || value === undefined) return Number.NaN;
    return isNumber(value) ? value : this.#wrong('a number or nothing');
  }

  /** Reads a whole number from 0 on. */
  count(): number {
    const value = this.#next();
    return isCount(value) ? value : this.#wrong('a whole number');
  }

  /** Reads a whole number from -1 on, where -1 means none. */
  index(): number {
    const value = this.#next();
    return value === -1 || isCount(value) ? value : this.#wrong('an index');
  }

  oneOf<const T extends string>(choices: readonly T[]): T {
    const value = this.#next();
    return choices.find((choice) => choice === value) ?? this.#wrong(`one of ${choices.join(', ')}`);
  }

  texts(): readonly string[] {
    const values = this.#list();
    return values.every((value) => typeof value === 'string') ? values : this.#wrong('a list of texts');
  }

  /** Reads whole numbers below 2^31, or up to 2^53 for numbers of tasks. */
  counts(): readonly number[] {
    const values = this.#list();
    return values.every(isCount) ? values : this.#wrong('a list of whole numbers');
  }

  rows<T>(read: (cells: Cells) => T): T[] {
    return this.#list().map((value) => read(new Cells(value)));
  }

  /** Reads a row, or undefined for none. */
  row<T>(read: (cells: Cells) => T): T | undefined {
    const value = this.#next();
    return value === null || value === undefined ? undefined : read(new Cells(value));
  }

  numberMap(): ReadonlyMap<string, number> {
    return this.#map('a map of numbers', isNumber);
  }

  textMap(): ReadonlyMap<string, string> {
    return this.#map('a map of texts', (value) => typeof value === 'string');
  }

  #list(): readonly unknown[] {
    const value = this.#next();
    return Array.isArray(value) ? value : this.#wrong('a list');
  }

  #map<T>(what: string, isValue: (value: unknown) => value is T): ReadonlyMap<string, T> {
    const value = this.#next();
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return this.#wrong('a map');
    const entries: [string, unknown][] = Object.entries(value);
    return new Map(entries.map(([name, one]) => [name, isValue(one) ? one : this.#wrong(what)]));
  }

  #wrong(what: string): never {
    const tag = typeof this.#cells[0] === 'string' ? this.#cells[0].slice(0, 40) : '';
    return damagedRow(`cell ${this.#at - 1} of a row '${tag}' is not ${what}`);
  }
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
