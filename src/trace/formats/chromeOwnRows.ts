// Rows of Chrome traces that Longpole wrote: whatever viewers ignore stands in the arguments of events, and here becomes
// the rows that it was written from.
import { ACTIONS, TASK_STATES } from '../../protocol/clusterObserver.js';
import { Int32Column } from '../columns.js';
import type { StringTable } from '../stringTable.js';
import { DIRECTIONS, TRANSFER_KINDS } from '../trace.js';
import type { TaskRow, TraceBuilder } from '../traceBuilder.js';
import {
  Arg,
  COMPUTATION_EVENT,
  HOST_EVENT,
  INTERVAL_CATEGORY,
  ORIGIN_EVENT,
  secondsOf,
  TASK_CATEGORY,
  THREAD_EVENT,
  TRANSFER_CATEGORY,
  WORKER_EVENT,
} from './chromeFormat.js';
import type { ChromeOrigins } from './chromeOrigins.js';
import { EventField } from './chromeText.js';
import { COMMA, type JsonCursor, OPEN_BRACKET, QUOTE } from './jsonCursor.js';
import { type JsonFields, unescaped } from './jsonFields.js';

const LIFECYCLE = ['submitted', 'ready', 'dispatched', 'received', 'acknowledged'] as const;
const NUMBERS = ['id', 'computation', 'attempt'] as const;
const TEXTS = ['prefix', 'group', 'span'] as const;
type Detail = (typeof LIFECYCLE)[number] | (typeof NUMBERS)[number] | (typeof TEXTS)[number];
type Details = { [K in Detail | 'state' | 'functionName' | 'thread' | 'started']?: number };

export class ChromeOwnRows {
  /** Seconds of the file's time 0. */
  origin = 0;
  /** Whether Longpole wrote the file. */
  isOwn = false;
  readonly #builder: TraceBuilder;
  readonly #strings: StringTable;
  readonly #origins: ChromeOrigins;
  readonly #cursor: JsonCursor;
  readonly #args: JsonFields;
  /** Category → its text id, found at the first event. */
  readonly #categories: { task: number; interval: number; transfer: number };
  /** By computation: keys of its tasks. */
  readonly #computationKeys: Int32Column[] = [];

  constructor(builder: TraceBuilder, origins: ChromeOrigins, cursor: JsonCursor, args: JsonFields) {
    this.#builder = builder;
    this.#strings = builder.strings;
    this.#origins = origins;
    this.#cursor = cursor;
    this.#args = args;
    this.#categories = {
      task: builder.strings.internString(TASK_CATEGORY),
      interval: builder.strings.internString(INTERVAL_CATEGORY),
      transfer: builder.strings.internString(TRANSFER_CATEGORY),
    };
  }

  /** Metadata of Longpole's own; false if it is other metadata. */
  metadata(event: string, fields: JsonFields): boolean {
    if (event !== ORIGIN_EVENT && !this.isOwn) return false;
    if (!event.startsWith('longpole_')) return false;
    const process = this.#origins.processes[this.#origins.process(this.#pid(fields))]!;
    switch (event) {
      case ORIGIN_EVENT: {
        const origin = this.#args.number(Arg.origin);
        if (!Number.isFinite(origin)) return false;
        this.origin = origin;
        this.isOwn = true;
        process.isWorker = false;
        return true;
      }
      case WORKER_EVENT:
        process.isWorker = true;
        process.name = this.#text(Arg.name);
        process.host = this.#text(Arg.host);
        this.#describeWorker(this.#origins.workerOf(process));
        return true;
      case HOST_EVENT:
        process.isWorker = false;
        process.host = this.#text(Arg.host);
        return true;
      case THREAD_EVENT:
        this.#origins.setThread(this.#lane(fields), orAbsent(this.#args.number(Arg.thread)));
        return true;
      case COMPUTATION_EVENT:
        this.#addComputation();
        return true;
      default:
        return false;
    }
  }

  /** A row of one of the three tables of intervals; false if the event is none. Times in seconds. */
  complete(fields: JsonFields, start: number, duration: number): boolean {
    if (!this.isOwn) return false;
    const category = fields.text(EventField.cat, this.#strings);
    const { task, interval, transfer } = this.#categories;
    if (category !== task && category !== interval && category !== transfer) return false;
    const stop = this.#time(Arg.stopped, start + duration);
    if (category === task) {
      const exact = this.#args.number(Arg.duration);
      this.#addTask(fields, this.#time(Arg.started, start), stop, Number.isNaN(exact) ? duration : exact);
    } else if (category === interval) this.#addInterval(fields, start, stop);
    else this.#addTransfer(fields, start, stop);
    return true;
  }

  /** A task that never began is an instant. */
  instant(fields: JsonFields): boolean {
    if (!this.isOwn || fields.text(EventField.cat, this.#strings) !== this.#categories.task) return false;
    if (!this.#args.has(Arg.key)) return false;
    this.#addTask(
      fields,
      this.#time(Arg.started, Number.NaN),
      this.#time(Arg.stopped, Number.NaN),
      this.#args.number(Arg.duration),
    );
    return true;
  }

  #addTask(fields: JsonFields, started: number, stop: number, duration: number): void {
    const { dependencies, dependents } = this.#builder;
    this.#eachKey(Arg.dependencies, (key) => dependencies.push(key));
    this.#eachKey(Arg.dependents, (key) => dependents.push(key));
    const args = this.#args;
    const lane = this.#lane(fields);
    const process = this.#origins.processOf(lane);
    const key = this.#text(Arg.key);
    const name = this.#name(fields);
    const row: TaskRow = {
      key: key < 0 ? name : key,
      recordedName: this.#text(Arg.recorded),
      host: process.host,
      worker: this.#origins.workerOf(process) < 0 ? -1 : process.name,
      device: this.#text(Arg.device),
      stop,
      duration,
      nbytes: args.number(Arg.nbytes),
      resultType: this.#text(Arg.type),
      dtype: this.#text(Arg.dtype),
      shape: this.#text(Arg.shape),
    };
    const details: Details = {
      functionName: name,
      started,
      thread: this.#origins.threadOf(lane),
      state: this.#state(),
    };
    for (const one of TEXTS) if (args.has(Arg[one])) details[one] = this.#text(Arg[one]);
    for (const one of NUMBERS) if (args.has(Arg[one])) details[one] = args.number(Arg[one]);
    for (const one of LIFECYCLE) if (args.has(Arg[one])) details[one] = this.#time(Arg[one], Number.NaN);
    // What the writer leaves out because it follows.
    details.prefix ??= name;
    details.group ??= details.prefix;
    details.attempt ??= 1;
    const computation = details.computation;
    if (computation !== undefined && this.#computationKeys[computation] === undefined)
      delete details.computation;
    else if (computation !== undefined) this.#computationKeys[computation]!.push(row.key);
    this.#builder.addTask(row, details);
  }

  #state(): number {
    const text = this.#text(Arg.state);
    return text < 0 ? 0 : Math.max(0, indexIn(TASK_STATES, this.#strings.get(text)));
  }

  #addInterval(fields: JsonFields, start: number, stop: number): void {
    const lane = this.#lane(fields);
    const action = indexIn(ACTIONS, this.#strings.get(this.#name(fields)));
    if (action < 0) return;
    this.#builder.intervals.add({
      worker: this.#origins.workerOf(this.#origins.processOf(lane)),
      thread: orAbsent(this.#args.number(Arg.thread)),
      action,
      start,
      stop,
      task: this.#args.number(Arg.task),
      nbytes: this.#args.number(Arg.nbytes),
    });
  }

  #addTransfer(fields: JsonFields, start: number, stop: number): void {
    const lane = this.#lane(fields);
    const direction = this.#choice(Arg.direction, DIRECTIONS);
    const what = this.#choice(Arg.what, TRANSFER_KINDS);
    if (direction < 0 || what < 0) return;
    const keys: number[] = [];
    this.#eachKey(Arg.keys, (key) => keys.push(key));
    const peer = this.#args.number(Arg.peer);
    this.#builder.transfers.add({
      worker: this.#origins.workerOf(this.#origins.processOf(lane)),
      // A damaged number must not lead outside the table.
      peer: peer >= 0 && peer < this.#builder.workers.length ? peer : -1,
      direction,
      what,
      nbytes: this.#args.number(Arg.nbytes),
      compressed: this.#args.number(Arg.compressed),
      start,
      stop,
      keys,
    });
  }

  #addComputation(): void {
    const args = this.#args;
    const ids = new Int32Column();
    const strings = this.#strings;
    let keys: readonly string[] | undefined;
    this.#computationKeys.push(ids);
    this.#builder.computations.push({
      number: args.number(Arg.id),
      firstId: args.number(Arg.firstId),
      size: args.number(Arg.size),
      start: this.#time(Arg.start, Number.NaN),
      stop: this.#time(Arg.stopped, Number.NaN),
      client: this.#string(Arg.client),
      code: this.#string(Arg.code),
      get keys() {
        keys ??= Array.from(new Set(ids.take()), (id) => strings.get(id));
        return keys;
      },
    });
  }

  #describeWorker(row: number): void {
    const args = this.#args;
    this.#builder.workers.describe(row, {
      address: this.#text(Arg.address),
      reason: this.#text(Arg.reason),
      pid: args.number(Arg.pid),
      threads: args.number(Arg.threads),
      memoryLimit: args.number(Arg.memoryLimit),
      started: this.#time(Arg.started, Number.NaN),
      stopped: this.#time(Arg.stopped, Number.NaN),
    });
  }

  #pid(fields: JsonFields): number {
    return fields.text(EventField.pid, this.#strings);
  }

  #lane(fields: JsonFields): number {
    return this.#origins.lane(this.#pid(fields), fields.text(EventField.tid, this.#strings));
  }

  #name(fields: JsonFields): number {
    const name = fields.text(EventField.name, this.#strings);
    return name < 0 ? this.#strings.internString('') : name;
  }

  #text(field: number): number {
    return this.#args.text(field, this.#strings);
  }

  #string(field: number): string {
    const id = this.#text(field);
    return id < 0 ? '' : this.#strings.get(id);
  }

  #choice(field: number, among: readonly string[]): number {
    return indexIn(among, this.#string(field));
  }

  /** A number is microseconds since the origin, a number in quotes exact seconds. */
  #time(field: number, absent: number): number {
    const value = this.#args.number(field);
    if (Number.isNaN(value)) return absent;
    return this.#args.type(field) === QUOTE ? value : secondsOf(value, this.origin);
  }

  /** The strings of an array. */
  #eachKey(field: number, use: (key: number) => void): void {
    const cursor = this.#cursor;
    if (this.#args.type(field) !== OPEN_BRACKET || !this.#args.enter(field)) return;
    do {
      cursor.at++;
      if (cursor.peek() !== QUOTE || !cursor.readString()) return;
      const { bytes, view, start, stop, escaped } = cursor;
      use(
        escaped
          ? this.#strings.internString(unescaped(bytes, start - 1, stop + 1))
          : this.#strings.intern(bytes, view, start, stop),
      );
    } while (cursor.peek() === COMMA);
  }
}

function indexIn(texts: readonly string[], text: string): number {
  return texts.indexOf(text);
}

function orAbsent(number: number): number {
  return Number.isInteger(number) && number >= 0 && number < 2 ** 31 ? number : -1;
}
