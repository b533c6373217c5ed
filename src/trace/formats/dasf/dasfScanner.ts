// Converts records of DASF to rows without creating objects. The two most frequent events, completed tasks and managed
// memory of workers, are read byte by byte into columns. The msgpack codec handles records in another form than DASF's;
// this file must be fast for the usual form and detect the others.
import { StringTable } from '../../stringTable.js';
import { type TaskRow, type TraceBuilder, UNKNOWN_TASK } from '../../traceBuilder.js';
import { Field, fieldAt, managedMemory, shapeText } from './dasfEventRows.js';
import { skipValue, unpackValue } from './msgpack.js';

const COMPLETE = 'X'.charCodeAt(0);
const INSTANT = 'I'.charCodeAt(0);
const NIL = 0xc0;
const ABSENT = -1;

/** Slots of the fields whose last two strings are cached. */
const [NAME, HOST, WORKER, DTYPE, RESULT_TYPE] = [0, 2, 4, 6, 8] as const;

/** Position that marks a record in an unusual form. */
const STOP = -1;

/** Reads 0.3 to 0.6 µs per event, mostly for the keys of dependencies and dependents. */
export class DasfScanner {
  readonly #builder: TraceBuilder;
  readonly #computeName: number;
  readonly #memoryName: number;
  /** Shapes by their msgpack bytes; each is converted to text once. */
  readonly #shapes = new StringTable();
  readonly #shapeTexts: number[] = [];
  /** Last two strings of some fields. Any initial id is valid. */
  readonly #recent = new Int32Array(10);
  #bytes = new Uint8Array();
  #view = new DataView(this.#bytes.buffer);
  #name = ABSENT;
  #time = Number.NaN;
  #phase = 0;
  #tasks = Number.NaN;
  #string = ABSENT;
  #number = Number.NaN;
  readonly #row: TaskRow = { ...UNKNOWN_TASK };

  constructor(builder: TraceBuilder) {
    this.#builder = builder;
    this.#computeName = builder.strings.internString('Compute');
    this.#memoryName = builder.strings.internString('Managed Memory');
  }

  /** Sets the bytes that later positions refer to. */
  use(bytes: Uint8Array<ArrayBuffer>, view: DataView<ArrayBuffer>): void {
    this.#bytes = bytes;
    this.#view = view;
  }

  /** Adds the row of the record `[start .. end)`. Returns false and adds nothing if the record has an unusual form. */
  scan(start: number, end: number): boolean {
    this.#reset();
    if (this.#fields(start, end, false) !== end || !this.#add()) {
      this.#builder.dropEdges();
      return false;
    }
    this.#builder.eventCount++;
    return true;
  }

  #reset(): void {
    const row = this.#row;
    row.key = ABSENT;
    row.recordedName = ABSENT;
    row.host = ABSENT;
    row.worker = ABSENT;
    row.device = ABSENT;
    row.duration = Number.NaN;
    row.nbytes = Number.NaN;
    row.resultType = ABSENT;
    row.dtype = ABSENT;
    row.shape = ABSENT;
    this.#name = ABSENT;
    this.#time = Number.NaN;
    this.#phase = 0;
    this.#tasks = Number.NaN;
  }

  #add(): boolean {
    const row = this.#row;
    if (!Number.isFinite(this.#time)) return false;
    if (this.#name === this.#computeName) {
      if (this.#phase !== COMPLETE || row.key < 0 || !(row.duration >= 0 && row.duration < Infinity))
        return false;
      row.stop = this.#time;
      this.#builder.addTask(row);
    } else {
      if (this.#phase !== INSTANT || Number.isNaN(this.#tasks)) return false;
      const worker = this.#builder.workers.of(row.host, row.worker);
      this.#builder.memory.add(managedMemory(this.#time, row.host, worker, row.nbytes, this.#tasks));
    }
    return true;
  }

  /** Reads the fields of a record, or those of its arguments. */
  #fields(start: number, end: number, areArguments: boolean): number {
    const bytes = this.#bytes;
    const header = bytes[start]!;
    if ((header & 0xf0) !== 0x80) return STOP;
    let at = start + 1;
    for (let left = header & 15; left > 0 && at !== STOP; left--) {
      const field = fieldAt(bytes, at, end);
      at += 1 + (bytes[at]! & 31);
      if (at >= end) return STOP;
      if (!areArguments) at = this.#envelopeValue(field, at, end);
      else if (this.#name === this.#computeName) at = this.#taskValue(field, at, end);
      else at = this.#memoryValue(field, at, end);
    }
    return at;
  }

  #envelopeValue(field: number, at: number, end: number): number {
    let next: number;
    switch (field) {
      case Field.name:
        next = this.#readRepeated(at, end, NAME);
        this.#name = this.#string;
        return this.#name === this.#computeName || this.#name === this.#memoryName ? next : STOP;
      case Field.timestamp:
        next = this.#readNumber(at, end);
        this.#time = this.#number;
        return next;
      case Field.duration:
        next = this.#readNumber(at, end);
        this.#row.duration = this.#number;
        return next;
      case Field.phase:
      case Field.scope:
        if (this.#bytes[at] !== 0xa1 || at + 2 > end) return STOP;
        if (field === Field.phase) this.#phase = this.#bytes[at + 1]!;
        return at + 2;
      case Field.process_id:
        next = this.#readRepeated(at, end, HOST);
        this.#row.host = this.#string;
        return next;
      case Field.thread_id:
        next = this.#readRepeated(at, end, WORKER);
        this.#row.worker = this.#string;
        return next;
      case Field.args:
        return this.#fields(at, end, true);
      default:
        return STOP;
    }
  }

  #memoryValue(field: number, at: number, end: number): number {
    if (field === Field.key || field === Field.state) return this.#skipString(at, end);
    if (field !== Field.size && field !== Field.tasks) return STOP;
    const next = this.#readNumber(at, end);
    if (field === Field.size) this.#row.nbytes = this.#number;
    else this.#tasks = this.#number;
    return next;
  }

  #taskValue(field: number, at: number, end: number): number {
    const row = this.#row;
    let next: number;
    switch (field) {
      case Field.dependencies:
        return this.#readEdges(at, end, this.#builder.dependencies);
      case Field.dependents:
        return this.#readEdges(at, end, this.#builder.dependents);
      case Field.state:
        return this.#skipString(at, end);
      case Field.shape:
        return this.#readShape(at, end);
      case Field.size:
        next = this.#readNumber(at, end);
        row.nbytes = this.#number;
        return next;
      case Field.key:
        next = this.#readString(at, end);
        row.key = this.#string;
        return next;
      case Field.name:
        next = this.#readString(at, end);
        row.recordedName = this.#string;
        return next;
      case Field.dtype:
        next = this.#readRepeated(at, end, DTYPE);
        row.dtype = this.#string;
        return next;
      case Field.type:
        next = this.#readRepeated(at, end, RESULT_TYPE);
        row.resultType = this.#string;
        return next;
      default:
        return STOP;
    }
  }

  #readEdges(start: number, end: number, column: { push(id: number): void }): number {
    const header = this.#bytes[start]!;
    let at = start + 1;
    let left = header & 15;
    if (header === 0xdc && start + 3 <= end) {
      left = this.#view.getUint16(start + 1);
      at = start + 3;
    } else if ((header & 0xf0) !== 0x90) {
      return STOP;
    }
    for (; left > 0; left--) {
      at = this.#readString(at, end);
      if (at === STOP || this.#string < 0) return STOP;
      column.push(this.#string);
    }
    return at;
  }

  #readShape(at: number, end: number): number {
    let next = this.#skipSizes(at, end);
    if (next === STOP) next = skipValue(this.#bytes, this.#view, at, end);
    if (next === STOP) return STOP;
    const id = this.#shapes.intern(this.#bytes, this.#view, at, next);
    if (id === this.#shapeTexts.length) {
      const text = shapeText(unpackValue(this.#bytes, this.#view, at, next));
      this.#shapeTexts.push(this.#builder.strings.internString(text));
    }
    this.#row.shape = this.#shapeTexts[id]!;
    return next;
  }

  /** Returns the end of a short list of unsigned integers, the form of every shape. */
  #skipSizes(start: number, end: number): number {
    const header = this.#bytes[start]!;
    if ((header & 0xf0) !== 0x90) return STOP;
    let at = start + 1;
    for (let left = header & 15; left > 0; left--) {
      const type = at < end ? this.#bytes[at]! : 0xc1;
      if (type <= 0x7f) at += 1;
      else if (type === 0xcc) at += 2;
      else if (type === 0xcd) at += 3;
      else if (type === 0xce) at += 5;
      else return STOP;
    }
    return at <= end ? at : STOP;
  }

  /** Reads the id of a string into `#string`, -1 for nil. Returns its end. */
  #readString(at: number, end: number): number {
    this.#string = ABSENT;
    const next = this.#skipString(at, end);
    if (next !== STOP && this.#bytes[at] !== NIL) {
      const start = at + headerSize(this.#bytes[at]!);
      this.#string = this.#builder.strings.intern(this.#bytes, this.#view, start, next);
    }
    return next;
  }

  /** Like `#readString`, but first compares with the strings of the last two events. */
  #readRepeated(at: number, end: number, slot: number): number {
    const next = this.#skipString(at, end);
    if (next === STOP || this.#bytes[at] === NIL) {
      this.#string = ABSENT;
      return next;
    }
    const { strings } = this.#builder;
    const start = at + headerSize(this.#bytes[at]!);
    const recent = this.#recent;
    const first = recent[slot]!;
    if (strings.equals(first, this.#bytes, this.#view, start, next)) {
      this.#string = first;
      return next;
    }
    const second = recent[slot + 1]!;
    const same = strings.equals(second, this.#bytes, this.#view, start, next);
    this.#string = same ? second : strings.intern(this.#bytes, this.#view, start, next);
    recent[slot + 1] = first;
    recent[slot] = this.#string;
    return next;
  }

  /** Returns the end of a string or nil. */
  #skipString(at: number, end: number): number {
    if (at >= end) return STOP;
    const type = this.#bytes[at]!;
    let next: number;
    if ((type & 0xe0) === 0xa0) next = at + 1 + (type & 31);
    else if (type === 0xd9 && at + 2 <= end) next = at + 2 + this.#bytes[at + 1]!;
    else if (type === 0xda && at + 3 <= end) next = at + 3 + this.#view.getUint16(at + 1);
    else if (type === NIL) next = at + 1;
    else return STOP;
    return next <= end ? next : STOP;
  }

  /** Reads a number into `#number`, NaN for nil. Returns its end. */
  #readNumber(at: number, end: number): number {
    if (at >= end) return STOP;
    const type = this.#bytes[at]!;
    const view = this.#view;
    if (type === 0xcb && at + 9 <= end) {
      this.#number = view.getFloat64(at + 1);
      return at + 9;
    }
    if (type <= 0x7f) {
      this.#number = type;
      return at + 1;
    }
    const next =
      at +
      (type === 0xcc ? 2 : type === 0xcd ? 3 : type === 0xce ? 5 : type === 0xcf || type === 0xd3 ? 9 : 1);
    if (next > end) return STOP;
    if (type === 0xcc) this.#number = this.#bytes[at + 1]!;
    else if (type === 0xcd) this.#number = view.getUint16(at + 1);
    else if (type === 0xce) this.#number = view.getUint32(at + 1);
    else if (type === 0xcf) this.#number = view.getUint32(at + 1) * 2 ** 32 + view.getUint32(at + 5);
    else if (type === 0xd3) this.#number = view.getInt32(at + 1) * 2 ** 32 + view.getUint32(at + 5);
    else if (type === NIL) this.#number = Number.NaN;
    else return STOP;
    return next;
  }
}

function headerSize(type: number): number {
  return type === 0xd9 ? 2 : type === 0xda ? 3 : 1;
}
