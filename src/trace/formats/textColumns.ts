// How columns of texts come out of an Arrow stream: as bytes, so that no string is made for a text that nobody looks at.

/** The texts of some rows; good until the next read. */
export interface TextBatch {
  /** Text `i` is `bytes[offsets[i] .. offsets[i + 1])`. */
  readonly offsets: Int32Array;
  readonly bytes: Uint8Array;
  /** Over `bytes`. */
  readonly view: DataView;
}

/** A column of texts that are read batch by batch. */
export interface TextColumn {
  /** Row with which each batch begins; one more entry for the end. */
  readonly firstRows: Int32Array;
  /** `target`: memory to use again, if it is large enough. Throws ERR_LONGPOLE_TRACE_FORMAT if the batch is damaged. */
  read(batch: number, target?: Uint8Array): TextBatch;
}

export interface TextLists {
  /** Row `i` has the ids `[offsets[i] .. offsets[i + 1])`. */
  readonly offsets: Int32Array;
  readonly ids: Int32Array;
}
