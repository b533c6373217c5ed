// The keys of a recorded trace. Only their ids are in memory; a text is read from the file on use.
import { firstWhere } from '../../base/lookUps.js';
import type { TextBatch, TextColumn } from '../formats/textColumns.js';
import { decodeText, decodeTexts, StringTable, type Texts } from '../stringTable.js';
import { KeyIds } from './keyIds.js';

/** Number of cached batches. Neighbouring keys are mostly in one batch. */
const KEPT = 8;

/** Assigns ids first to keys of tasks, then to other texts in the order in which they were added. */
export class RecordedKeys implements Texts {
  /** Id of the key by row of tasks. */
  readonly key: Int32Array;
  /** Id of each text in the table `others` of the constructor. */
  readonly others: Int32Array;
  readonly #column: TextColumn;
  readonly #own: number;
  /** First row of each key of a task; undefined if every key has one row. */
  readonly #rowOf: Int32Array | undefined;
  readonly #others = new StringTable();
  #batches = new Map<number, TextBatch>();
  #reads = 0;
  #strings: string[] = [];

  /** `others` are keys in other tables, e.g. of transfers. They may be keys of tasks. */
  constructor(column: TextColumn, others: StringTable) {
    this.#column = column;
    const rows = column.firstRows.at(-1) ?? 0;
    const ids = new KeyIds(rows + others.length);
    let spare = new Uint8Array(0);
    for (let batch = 0; batch + 1 < column.firstRows.length; batch++) {
      const texts = column.read(batch, spare);
      if (texts.bytes.length > spare.length) spare = new Uint8Array(texts.bytes.length * 2);
      ids.add(texts);
    }
    ids.add(others.batch());
    const all = ids.ids();
    this.key = all.subarray(0, rows);
    let own = 0;
    for (const id of this.key) if (id >= own) own = id + 1;
    this.#own = own;
    this.#rowOf = own === rows ? undefined : firstRows(this.key, own);
    this.others = all.subarray(rows);
    for (let i = 0; i < others.length; i++)
      if (this.others[i]! >= own) this.#others.internString(others.get(i));
  }

  get length(): number {
    return this.#own + this.#others.length;
  }

  /** Adds a text that is no key of a task and returns its id. */
  add(text: string): number {
    return this.#own + this.#others.internString(text);
  }

  /**
   * Returns the ids of the texts that `read` adds to a table; -1 stays. A text may have a further id as a key of a
   * task.
   */
  addAll(read: (table: StringTable) => Int32Array | undefined): Int32Array | undefined {
    const own = this.#own;
    return read(this.#others)?.map((id) => (id < 0 ? id : id + own));
  }

  get(id: number): string {
    if (id >= this.#own) return this.#others.get(id - this.#own);
    const known = this.#strings[id];
    if (known !== undefined) return known;
    const row = this.#rowOf?.[id] ?? id;
    const batch = this.#batchOf(row);
    const { offsets, bytes } = this.#read(batch);
    const at = row - this.#column.firstRows[batch]!;
    return decodeText(bytes.subarray(offsets[at]!, offsets[at + 1]!));
  }

  decodeAll(): void {
    if (this.#strings.length === this.#own) return;
    const strings = new Array<string>(this.#own);
    for (let batch = 0, id = 0; id < this.#own; batch++) {
      const { offsets, bytes } = this.#column.read(batch);
      const from = this.#column.firstRows[batch]!;
      const to = this.#column.firstRows[batch + 1]!;
      const texts = decodeTexts(offsets, bytes, 0, to - from);
      for (; id < this.#own && (this.#rowOf?.[id] ?? id) < to; id++)
        strings[id] = texts[(this.#rowOf?.[id] ?? id) - from]!;
    }
    this.#strings = strings;
    this.#others.decodeAll();
    this.#batches.clear();
  }

  #batchOf(row: number): number {
    const { firstRows } = this.#column;
    return firstWhere(1, firstRows.length - 1, (batch) => firstRows[batch]! > row) - 1;
  }

  /**
   * Returns a batch from the cache or the file. After as many reads as there are batches, all further batches stay in
   * memory, so that random access causes at most two reads per batch on average.
   */
  #read(batch: number): TextBatch {
    const known = this.#batches.get(batch);
    if (known !== undefined) return known;
    const { offsets, bytes } = this.#column.read(batch);
    const own = bytes.slice();
    const kept = { offsets, bytes: own, view: new DataView(own.buffer) };
    const few = ++this.#reads < this.#column.firstRows.length;
    if (few && this.#batches.size >= KEPT) {
      const [oldest] = this.#batches.keys();
      if (oldest !== undefined) this.#batches.delete(oldest);
    }
    this.#batches.set(batch, kept);
    return kept;
  }
}

function firstRows(key: Int32Array, count: number): Int32Array {
  const rows = new Int32Array(count);
  let next = 0;
  for (let row = 0; row < key.length; row++) if (key[row] === next) rows[next++] = row;
  return rows;
}
