// A bounded window over a growing table. It evicts whole chunks, the oldest first. Rows are counted since the
// beginning.
import { filledWith } from '../../base/resized.js';

const CHUNK_ROWS = 4096;

export interface Chunk {
  readonly length: number;
}

/** Rows `[from .. to)` of a chunk. */
export interface Piece<C> {
  readonly chunk: C;
  readonly from: number;
  readonly to: number;
}

/** Returns rows `[from .. to)` of consecutive chunks; the first chunk begins with row `first`. */
export function piecesOf<C extends Chunk>(
  chunks: readonly C[],
  first: number,
  from: number,
  to: number,
): Piece<C>[] {
  const pieces: Piece<C>[] = [];
  let at = first;
  for (const chunk of chunks) {
    const start = Math.max(0, from - at);
    const end = Math.min(chunk.length, to - at);
    if (start < end) pieces.push({ chunk, from: start, to: end });
    at += chunk.length;
  }
  return pieces;
}

export class RowWindow<C extends Chunk> {
  readonly #make: () => C;
  readonly #limit: number;
  readonly #onEvict: (chunk: C) => void;
  readonly #chunkRows: number;
  readonly #chunks: C[] = [];
  /** Number of evicted rows. */
  first = 0;

  /** Calls `onEvict` with each evicted chunk. */
  constructor(limit: number, make: () => C, onEvict: (chunk: C) => void = () => undefined) {
    this.#make = make;
    this.#onEvict = onEvict;
    this.#limit = limit;
    this.#chunkRows = Math.max(16, Math.min(CHUNK_ROWS, limit >> 3));
  }

  /** Number of rows that were added, including evicted rows. */
  get end(): number {
    return this.#chunks.reduce((sum, chunk) => sum + chunk.length, this.first);
  }

  /** Returns the chunk for one further row. Evicts the oldest chunks if the window is full. */
  next(): C {
    const last = this.#chunks.at(-1);
    if (last !== undefined && last.length < this.#chunkRows) return last;
    while (this.end - this.first - this.#chunkRows >= this.#limit) {
      const oldest = this.#chunks.shift();
      if (oldest === undefined) break;
      this.first += oldest.length;
      this.#onEvict(oldest);
    }
    const chunk = this.#make();
    this.#chunks.push(chunk);
    return chunk;
  }

  /** Returns rows `[from .. to)`, counted since the beginning, without evicted rows. */
  pieces(from: number, to: number): Piece<C>[] {
    return piecesOf(this.#chunks, this.first, from, to);
  }
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
