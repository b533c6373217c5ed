// The Arrow types of Longpole's tables, and the values of their columns.

/**
 * - `float64`: NaN is stored as NaN, not as null.
 * - `int64`, `int32`: a negative value is null.
 * - `uint8`: never null.
 * - `utf8`: one text per row.
 * - `dictionary`: texts with few distinct values.
 * - `utf8-list`: several texts per row.
 */
export type ArrowType = 'float64' | 'int64' | 'int32' | 'uint8' | 'utf8' | 'dictionary' | 'utf8-list';

export interface ArrowField {
  readonly name: string;
  readonly type: ArrowType;
}

/** Values of a column by its type. Arrays may be longer than the batch. */
export type ArrowValues =
  | { readonly type: 'float64'; readonly values: Float64Array }
  | { readonly type: 'int64'; readonly values: Float64Array }
  | { readonly type: 'int32'; readonly values: Int32Array }
  | { readonly type: 'uint8'; readonly values: Uint8Array }
  | { readonly type: 'utf8'; readonly values: readonly (string | null)[] }
  /** Indices into `texts`, -1 for null. `generation` changes when `texts` is replaced. */
  | {
      readonly type: 'dictionary';
      readonly values: Int32Array;
      readonly texts: readonly string[];
      readonly generation: number;
    }
  | { readonly type: 'utf8-list'; readonly values: readonly (readonly string[])[] };

/** Compresses single buffers as LZ4 frames, which every Arrow library reads. */
export interface ArrowCodec {
  compress(bytes: Uint8Array): Uint8Array;
  /** Unpacks `bytes` into `target`. Throws any error if the bytes are damaged or the result has another length. */
  decompress(bytes: Uint8Array, target: Uint8Array): void;
}

/** Marker of a message; a message without bytes ends a stream. */
export const CONTINUATION = 0xffffffff;

/** Arrow's numbers for kinds of messages. */
export const HEADER = { schema: 1, dictionary: 2, batch: 3 } as const;
/** Arrow's numbers for types. */
export const TYPE = { int: 2, float: 3, utf8: 5, list: 12 } as const;
/** Arrow's number for the precision of `float64`. */
export const DOUBLE = 2;
/** Arrow's number for LZ4 frames. */
export const LZ4_FRAME = 0;
