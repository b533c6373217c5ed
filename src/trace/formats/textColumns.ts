// Columns of texts in an Arrow stream. Texts are bytes, so that a string is created only for a text that is read.

/** Texts of consecutive rows. Valid until the next read. */
export interface TextBatch {
  /** Text `i` is `bytes[offsets[i] .. offsets[i + 1])`. */
  readonly offsets: Int32Array;
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

export interface TextColumn {
  /** First row of each batch, and the number of rows as last entry. */
  readonly firstRows: Int32Array;
  /**
   * Returns the texts of a batch, in `target` if that is large enough. Throws ERR_LONGPOLE_TRACE_FORMAT if the batch is
   * damaged.
   */
  read(batch: number, target?: Uint8Array): TextBatch;
}

/** One list of texts per row. */
export interface TextLists {
  /** Ids of row `i`: `ids[offsets[i] .. offsets[i + 1])`. */
  readonly offsets: Int32Array;
  readonly ids: Int32Array;
}
