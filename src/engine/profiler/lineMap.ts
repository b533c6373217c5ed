// A source map that answers single positions. It notes the state at the start of each line, and decodes a line when it
// is queried. For the seven maps of Longpole's own bundles, which the first cycle of the profiler reads in the main
// thread, this takes 104 ms of CPU; with Node's `SourceMap` 167 ms, with @jridgewell/sourcemap-codec 118 to 134 ms.

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const SEMICOLON = 59;
const COMMA = 44;
/** Bits of a digit with data; the next bit continues the number. */
const DATA = 31;
const CONTINUES = 32;

const VALUES = new Uint8Array(128);
for (let value = 0; value < DIGITS.length; value++) VALUES[DIGITS.charCodeAt(value)] = value;

/** Words per line: offset in the mappings, then source, line and column of the last mapping before it. */
const WORDS = 4;

/** A source map, as far as `LineMap` reads it. */
export interface MapPayload {
  readonly mappings: string;
  readonly sources: readonly unknown[];
}

/** The mapping at a position. Lines and columns count from 0. */
export interface Mapping {
  /** Column in the script; -1 if the mapping is on an earlier line. */
  readonly column: number;
  /** Undefined if the mapping belongs to no source. */
  readonly source: string | undefined;
  readonly line: number;
}

export class LineMap {
  readonly #mappings: string;
  readonly #sources: readonly unknown[];
  readonly #lines: Int32Array;
  /** Position in the mappings, and the state of the decoder. */
  #at = 0;
  #column = 0;
  #source = 0;
  #line = 0;
  #sourceColumn = 0;
  #isMapped = false;

  constructor({ mappings, sources }: MapPayload) {
    this.#mappings = mappings;
    this.#sources = sources;
    this.#lines = this.#scan();
  }

  /** Returns the last mapping up to a position of the script; undefined if there is none. */
  find(line: number, column: number): Mapping | undefined {
    const from = WORDS * line;
    if (from >= this.#lines.length) return undefined;
    this.#at = this.#lines[from]!;
    const source = this.#lines[from + 1]!;
    this.#source = Math.max(0, source);
    this.#line = this.#lines[from + 2]!;
    this.#sourceColumn = this.#lines[from + 3]!;
    this.#column = 0;
    let found = source < 0 ? undefined : this.#mapping(-1);
    while (this.#hasSegment()) {
      this.#readSegment();
      if (this.#column > column) break;
      found = this.#mapping(this.#column);
    }
    return found;
  }

  #mapping(column: number): Mapping {
    const source = column < 0 || this.#isMapped ? this.#sources[this.#source] : undefined;
    return { column, source: typeof source === 'string' ? source : undefined, line: this.#line };
  }

  /** Returns the state at the start of each line. The source is -1 before the first mapping. */
  #scan(): Int32Array {
    const { length } = this.#mappings;
    const words: number[] = [0, -1, 0, 0];
    let hasMapping = false;
    while (this.#at < length) {
      if (this.#hasSegment()) {
        this.#readSegment();
        hasMapping ||= this.#isMapped;
        continue;
      }
      this.#at++;
      this.#column = 0;
      words.push(this.#at, hasMapping ? this.#source : -1, this.#line, this.#sourceColumn);
    }
    return Int32Array.from(words);
  }

  /** Skips commas. Returns whether a segment of the present line follows. */
  #hasSegment(): boolean {
    while (this.#mappings.charCodeAt(this.#at) === COMMA) this.#at++;
    return this.#at < this.#mappings.length && this.#mappings.charCodeAt(this.#at) !== SEMICOLON;
  }

  /** Reads a segment of one, four or five numbers, which are differences to the previous segment. */
  #readSegment(): void {
    this.#column += this.#number();
    this.#isMapped = !this.#isAtEnd();
    if (!this.#isMapped) return;
    this.#source += this.#number();
    this.#line += this.#number();
    this.#sourceColumn += this.#number();
    while (!this.#isAtEnd()) this.#number();
  }

  #isAtEnd(): boolean {
    const code = this.#mappings.charCodeAt(this.#at);
    return code === COMMA || code === SEMICOLON || Number.isNaN(code);
  }

  #number(): number {
    let value = 0;
    let shift = 0;
    let digit = CONTINUES;
    while ((digit & CONTINUES) !== 0 && this.#at < this.#mappings.length) {
      digit = VALUES[this.#mappings.charCodeAt(this.#at++)]!;
      value += (digit & DATA) << shift;
      shift += 5;
    }
    return (value & 1) === 1 ? -(value >> 1) : value >> 1;
  }
}
