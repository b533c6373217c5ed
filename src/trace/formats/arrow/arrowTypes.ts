// The few Arrow types that Longpole's tables are made of, and what goes into a column of each.

/**
 * - `float64`: NaN is NaN, not null. - `int64`, `int32`: -1 is null, there is nothing else below 0. - `uint8`: never null.
 * - `utf8`: one text a row. - `dictionary`: texts of which few are different. - `utf8-list`: several texts a row.
 */
export type ArrowType = 'float64' | 'int64' | 'int32' | 'uint8' | 'utf8' | 'dictionary' | 'utf8-list';

export interface ArrowField {
  readonly name: string;
  readonly type: ArrowType;
}

/** The values of a column by its type; arrays may be longer than the batch. */
export type ArrowValues =
  | { readonly type: 'float64'; readonly values: Float64Array }
  | { readonly type: 'int64'; readonly values: Float64Array }
  | { readonly type: 'int32'; readonly values: Int32Array }
  | { readonly type: 'uint8'; readonly values: Uint8Array }
  | { readonly type: 'utf8'; readonly values: readonly (string | null)[] }
  /** Codes of `texts`, -1 for null. `generation` changes when the texts begin anew. */
  | {
      readonly type: 'dictionary';
      readonly values: Int32Array;
      readonly texts: readonly string[];
      readonly generation: number;
    }
  | { readonly type: 'utf8-list'; readonly values: readonly (readonly string[])[] };

/** Compresses the buffers of a batch, each by itself: LZ4 frames, which every Arrow library reads. */
export interface ArrowCodec {
  compress(bytes: Uint8Array): Uint8Array;
  /** Fills `target` with what comes out. Throws whatever it likes on damaged bytes, also if it is more or less than that. */
  decompress(bytes: Uint8Array, target: Uint8Array): void;
}

/** Begins every message; a message of no bytes ends a stream. */
export const CONTINUATION = 0xffffffff;

/** Arrow's numbers of the kinds of messages. */
export const HEADER = { schema: 1, dictionary: 2, batch: 3 } as const;
/** Arrow's numbers of types. */
export const TYPE = { int: 2, float: 3, utf8: 5, list: 12 } as const;
/** Arrow's number of the precision of `float64`. */
export const DOUBLE = 2;
/** Arrow's number of the compression. */
export const LZ4_FRAME = 0;
