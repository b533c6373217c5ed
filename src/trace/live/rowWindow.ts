// A bounded window over a growing table. It evicts whole chunks, the oldest first. Rows are counted since the
// beginning.
import { filledWith } from '../../base/resized.js';

const CHUNK_ROWS = 4096;

export interface Chunk {
  readonly length: number;
}

export interface Piece<C> {
  readonly chunk: C;
  readonly from: number;
  readonly to: number;
}

export class RowWindow<C extends Chunk> {
  readonly #make: () => C;
  readonly #limit: number;
  readonly #onEvict: (chunk: C) => void;
  readonly #chunkRows: number;
  readonly #chunks: C[] = [];
  /** Number of the first row of the newest chunk. */
  #lastStart = 0;
  first = 0;

  /** Calls `onEvict` with each evicted chunk. */
  constructor(
    limit: number,
    make: () => C,
    onEvict: (chunk: C) => void = () => undefined,
    chunkRows = rowsOfChunk(limit, 16, CHUNK_ROWS),
  ) {
    this.#make = make;
    this.#onEvict = onEvict;
    this.#limit = limit;
    this.#chunkRows = chunkRows;
  }

  /** Number of rows that were added, including evicted rows. */
  get end(): number {
    return this.#lastStart + (this.#chunks.at(-1)?.length ?? 0);
  }

  /** Returns the chunk for further rows. Evicts the oldest chunks if the window is full. */
  next(): C {
    const last = this.#chunks.at(-1);
    if (last !== undefined && last.length < this.#chunkRows) return last;
    this.trim();
    this.#lastStart = this.end;
    const chunk = this.#make();
    this.#chunks.push(chunk);
    return chunk;
  }

  /** Evicts the oldest chunks if the window is full. */
  protected trim(): void {
    while (this.end - this.first - this.#chunkRows >= this.#limit && this.#evict());
  }

  /** Evicts the oldest chunk, unless it is the newest one. Returns whether a chunk was evicted. */
  dropOldest(): boolean {
    return this.#chunks.length > 1 && this.#evict();
  }

  #evict(): boolean {
    const oldest = this.#chunks.shift();
    if (oldest === undefined) return false;
    this.first += oldest.length;
    if (this.#chunks.length === 0) this.#lastStart = this.first;
    this.#onEvict(oldest);
    return true;
  }

  /** Returns rows `[from .. to)`, counted since the beginning, without evicted rows. */
  pieces(from: number, to: number): Piece<C>[] {
    const pieces: Piece<C>[] = [];
    let at = this.first;
    for (const chunk of this.#chunks) {
      const start = Math.max(0, from - at);
      const end = Math.min(chunk.length, to - at);
      if (start < end) pieces.push({ chunk, from: start, to: end });
      at += chunk.length;
    }
    return pieces;
  }
}

/** Returns the rows of a chunk of a window: an eighth of it, within bounds. */
export function rowsOfChunk(limit: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, limit >> 3));
}

/** Joins the columns of pieces. The column of a single piece is not copied. */
export class Joined<C> {
  readonly pieces: readonly Piece<C>[];
  readonly length: number;

  constructor(pieces: readonly Piece<C>[]) {
    this.pieces = pieces;
    this.length = pieces.reduce((sum, { from, to }) => sum + to - from, 0);
  }

  numbers(of: (chunk: C) => Float64Array): Float64Array {
    return this.#join(of, (length) => new Float64Array(length));
  }

  ids(of: (chunk: C) => Int32Array): Int32Array {
    return this.#join(of, (length) => new Int32Array(length));
  }

  bytes(of: (chunk: C) => Uint8Array): Uint8Array {
    return this.#join(of, (length) => new Uint8Array(length));
  }

  #join<A extends Joinable<A>>(of: (chunk: C) => A, make: (length: number) => A): A {
    const parts = this.pieces.map(({ chunk, from, to }) => of(chunk).subarray(from, to));
    const [only] = parts;
    return only !== undefined && parts.length === 1 ? only : filledWith(make(this.length), parts);
  }
}

interface Joinable<A> {
  readonly length: number;
  subarray(from: number, to: number): A;
  set(values: A, at: number): void;
}
