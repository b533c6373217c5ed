// A bounded window over a table that only grows: chunks, the oldest dropped whole, rows counted since the beginning.
import { filledWith } from '../../base/resized.js';

const CHUNK_ROWS = 4096;

/** Something that rows are added to. */
export interface Chunk {
  readonly length: number;
}

/** Rows `[from .. length)` of a chunk, its length taken when the piece was made. */
export interface Piece<C> {
  readonly chunk: C;
  readonly from: number;
  readonly to: number;
}

/** Rows `[from .. to)` of chunks of which the first begins with row `first`. */
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
  readonly #letGo: (chunk: C) => void;
  readonly #chunkRows: number;
  readonly #chunks: C[] = [];
  /** Rows let go. */
  first = 0;

  /** `letGo` is called with each chunk that goes. */
  constructor(limit: number, make: () => C, letGo: (chunk: C) => void = () => undefined) {
    this.#make = make;
    this.#letGo = letGo;
    this.#limit = limit;
    this.#chunkRows = Math.max(16, Math.min(CHUNK_ROWS, limit >> 3));
  }

  /** Rows that were ever added. */
  get end(): number {
    return this.#chunks.reduce((sum, chunk) => sum + chunk.length, this.first);
  }

  /** The chunk to add one row to. */
  next(): C {
    const last = this.#chunks.at(-1);
    if (last !== undefined && last.length < this.#chunkRows) return last;
    while (this.end - this.first - this.#chunkRows >= this.#limit) {
      const oldest = this.#chunks.shift();
      if (oldest === undefined) break;
      this.first += oldest.length;
      this.#letGo(oldest);
    }
    const chunk = this.#make();
    this.#chunks.push(chunk);
    return chunk;
  }

  /** Rows `[from .. to)`, counted since the beginning; those let go are left out. */
  pieces(from: number, to: number): Piece<C>[] {
    return piecesOf(this.#chunks, this.first, from, to);
  }
}

/** Columns of pieces as one: without a copy where there is one piece. */
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

/** A typed array. */
interface Joinable<A> {
  readonly length: number;
  subarray(from: number, to: number): A;
  set(values: A, at: number): void;
}
