// Writes parts of JSON, for files that should not be in memory at once.
import type { StringTable } from '../../stringTable.js';

/** Returns strings of a table as JSON, with quotes, and caches them. Negative ids are null. */
export class QuotedStrings {
  readonly #strings: StringTable;
  readonly #quoted: string[] = [];

  constructor(strings: StringTable) {
    this.#strings = strings;
  }

  get(id: number): string {
    if (id < 0) return 'null';
    let text = this.#quoted[id];
    if (text === undefined) {
      text = JSON.stringify(this.#strings.get(id));
      this.#quoted[id] = text;
    }
    return text;
  }
}

/** Writes the fields of an object in order, without absent values. */
export class JsonObjectText {
  #text = '';

  /** Adds a field; `value` is JSON. */
  raw(name: string, value: string): this {
    this.#text += this.#text === '' ? `"${name}":${value}` : `,"${name}":${value}`;
    return this;
  }

  number(name: string, value: number): this {
    return Number.isFinite(value) ? this.raw(name, String(value)) : this;
  }

  string(name: string, value: string): this {
    return this.raw(name, JSON.stringify(value));
  }

  /** Adds a text of a table; skips negative ids. */
  text(name: string, strings: QuotedStrings, id: number): this {
    return id < 0 ? this : this.raw(name, strings.get(id));
  }

  toString(): string {
    return `{${this.#text}}`;
  }
}
