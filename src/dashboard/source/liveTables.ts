// The tables that a server has sent: bytes of the newest rows of each table, and exact sums of all rows. A trace is
// built from them for each update of the page.
import { getOrMake } from '../../base/lookUps.js';
import { joinedBytes } from '../../base/resized.js';
import type { RecordedTable } from '../../protocol/traceSchema.js';
import {
  CURSOR_TABLES,
  type TableMessage,
  type TotalsMessage,
  type ViewCursor,
} from '../../protocol/viewMessages.js';
import { memoryTables, openTables } from '../../trace/recording/openTables.js';
import { sampleFacts } from '../../trace/samples/sampleRows.js';
import { SampleSums } from '../../trace/samples/sampleSums.js';
import type { TraceTotals } from '../../trace/totals.js';
import { type EvictedRows, NO_ROWS, type Trace, type TraceDamage } from '../../trace/trace.js';
import { READ_CODEC } from './fileSource.js';

/** Newest rows of a table that a page keeps of a live run. The sums count all rows. */
const MAX_ROWS = 200_000;
/** Limits of other tables: edges outnumber tasks, and rows refer to workers, computations and stack frames. */
const LIMITS: Partial<Record<RecordedTable, number>> = {
  dependencies: 1_000_000,
  workers: Number.POSITIVE_INFINITY,
  computations: Number.POSITIVE_INFINITY,
  frames: Number.POSITIVE_INFINITY,
};

/** End mark of an Arrow stream. */
const END = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0);

interface Piece {
  readonly rows: number;
  readonly bytes: Uint8Array;
}

class TableBytes {
  schema: Uint8Array = new Uint8Array(0);
  #pieces: Piece[] = [];
  rows = 0;

  /** Returns the oldest pieces, which are evicted if there are more rows than `limit`. */
  add(piece: Piece, limit: number): readonly Piece[] {
    this.#pieces.push(piece);
    this.rows += piece.rows;
    let evicted = 0;
    while (this.rows > limit && evicted < this.#pieces.length - 1) this.rows -= this.#pieces[evicted++]!.rows;
    return evicted === 0 ? [] : this.#pieces.splice(0, evicted);
  }

  clear(): void {
    this.#pieces = [];
    this.rows = 0;
  }

  /** Returns a complete Arrow stream of schema, pieces and end mark. Default: all kept pieces. */
  joined(pieces: readonly Piece[] = this.#pieces): Uint8Array {
    return joinedBytes([this.schema, ...pieces.map(({ bytes }) => bytes), END]);
  }
}

export class LiveTables {
  readonly #tables = new Map<RecordedTable, TableBytes>();
  /** Rows of a live run that no cursor has confirmed. */
  #staged: TableMessage[] = [];
  readonly #older = new SampleSums();
  /** False for a recorded trace, all of whose rows are kept. */
  readonly #limited: boolean;
  cursor: ViewCursor | undefined;
  sums: TraceTotals | undefined;
  totals: TotalsMessage | undefined;

  constructor(limited: boolean) {
    this.#limited = limited;
  }

  #of(table: RecordedTable): TableBytes {
    return getOrMake(this.#tables, table, () => new TableBytes());
  }

  setSchema(table: RecordedTable, bytes: Uint8Array): void {
    this.#of(table).schema = bytes;
  }

  add(message: TableMessage): void {
    if (this.#limited) this.#staged.push(message);
    else this.#keep(message, Number.POSITIVE_INFINITY);
  }

  /** Discards rows since the last cursor, because the server sends them again. */
  forgetStaged(): void {
    this.#staged = [];
  }

  /** Keeps the staged rows: all rows before the cursor have arrived. */
  reach(cursor: ViewCursor): void {
    for (const message of this.#staged) this.#keep(message, LIMITS[message.table] ?? MAX_ROWS);
    this.#staged = [];
    this.cursor = cursor;
  }

  /**
   * Discards the rows of tables that miss rows before the next message, so that a gap does not look like idle time.
   * Samples stay, because they are only summed.
   */
  skip(missed: ViewCursor): void {
    for (const table of CURSOR_TABLES)
      if (table !== 'computations' && table !== 'samples' && missed[table] > 0) this.#of(table).clear();
  }

  #keep({ table, rows, bytes }: TableMessage, limit: number): void {
    const evicted = this.#of(table).add({ rows, bytes }, limit);
    if (table === 'samples' && evicted.length > 0) this.#sumUp(this.#of(table).joined(evicted));
  }

  #sumUp(bytes: Uint8Array): void {
    const tables = new Map<RecordedTable, Uint8Array>([
      ['workers', this.#of('workers').joined()],
      ['frames', this.#of('frames').joined()],
      ['samples', bytes],
    ]);
    const { samples, frames, strings } = openTables(
      { ended: 'closed' },
      memoryTables((table) => tables.get(table) ?? new Uint8Array(0)),
      { codec: READ_CODEC, checked: false },
    );
    for (let row = 0; row < samples.length; row++)
      this.#older.add(sampleFacts(samples, row, strings, frames));
  }

  /**
   * Returns the trace of all kept rows. Cost: a copy of all bytes; a column is decoded at its first use.
   * @param damage damage to the files from which the server read a recorded trace
   */
  trace(damage?: TraceDamage): Trace {
    const totals = this.sums && { totals: this.sums, evicted: this.evicted() };
    const known = { ...totals, older: this.#older, damage };
    return openTables(
      { ended: 'closed' },
      memoryTables((table) => this.#of(table).joined()),
      { codec: READ_CODEC, checked: false, known },
    );
  }

  /** Returns by table the number of rows of the run that the page does not have. */
  evicted(): EvictedRows {
    const { cursor } = this;
    // A recorded trace has no cursor. Its sums may count runs whose rows were evicted before the recording.
    if (cursor === undefined) return { ...NO_ROWS, tasks: this.#runsWithoutRow() };
    const result = { ...NO_ROWS };
    for (const table of CURSOR_TABLES)
      if (table !== 'computations' && table !== 'samples')
        result[table] = Math.max(0, cursor[table] - this.#of(table).rows);
    return result;
  }

  #runsWithoutRow(): number {
    const runs = this.sums?.states.reduce((sum, count) => sum + count, 0) ?? 0;
    return Math.max(0, runs - this.#of('tasks').rows);
  }
}
