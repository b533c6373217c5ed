// JSON as text in pieces, for writers of files that are larger than memory should be.
import type { StringTable } from '../../stringTable.js';

/** Characters that are collected before they are handed on. */
const PIECE = 1 << 16;

/** Collects text; `full` says when to hand it on. */
export class TextPieces {
  #text = '';

  add(text: string): void {
    this.#text += text;
  }

  get full(): boolean {
    return this.#text.length >= PIECE;
  }

  /** What was collected since the last call. */
  take(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }
}

/** Strings as JSON, in quotes; those of a table that come again are kept. Ids below 0 are null. */
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

/** One object's fields, in order; absent values are left out. */
export class JsonObjectText {
  #text = '';

  /** `value` is JSON. */
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

  /** A text of a table; left out below 0. */
  text(name: string, strings: QuotedStrings, id: number): this {
    return id < 0 ? this : this.raw(name, strings.get(id));
  }

  toString(): string {
    return `{${this.#text}}`;
  }
}
