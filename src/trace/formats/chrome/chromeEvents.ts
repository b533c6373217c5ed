// Converts the events of a Chrome trace to rows: slices to tasks, counters to figures, instants to events.

import { Float64Column } from '../../../base/columns.js';
import { getOrMake, pushTo } from '../../../base/lookUps.js';
import { TASK_MEMORY, TASK_STATES } from '../../../protocol/clusterObserver.js';
import type { TraceBuilder } from '../../traceBuilder.js';
import { COLON, COMMA, type JsonCursor, numberAt, OPEN_BRACE, QUOTE } from '../json/jsonCursor.js';
import { type JsonFields, unescaped } from '../json/jsonFields.js';
import { FLOW_BEGIN, FLOW_END, FLOW_END_NEXT, FLOW_STEP } from './chromeFlows.js';
import { ChromeOrigins, type ChromeProcess } from './chromeOrigins.js';
import { ChromeSlices } from './chromeSlices.js';
import { Arg, EventField } from './chromeText.js';

const code = (letter: string): number => letter.charCodeAt(0);
const PHASE = {
  complete: code('X'),
  begin: code('B'),
  end: code('E'),
  instant: code('i'),
  oldInstant: code('I'),
  mark: code('R'),
  asyncInstant: code('n'),
  asyncBegin: code('b'),
  asyncEnd: code('e'),
  oldAsyncBegin: code('S'),
  oldAsyncEnd: code('F'),
  counter: code('C'),
  metadata: code('M'),
  flowBegin: code('s'),
  flowStep: code('t'),
  flowEnd: code('f'),
} as const;

/** Limit for an event's arguments as text, in bytes. */
const MAX_TEXT = 1000;

/** Categories of the slices of an exported trace that are no tasks: its intervals and its transfers. */
export const INTERVALS = 'longpole.interval';
export const TRANSFERS = 'longpole.transfer';

/** A slice without an end yet. */
interface OpenSlice {
  readonly name: number;
  readonly key: number;
  readonly start: number;
}

export class ChromeEvents {
  readonly #builder: TraceBuilder;
  readonly #origins: ChromeOrigins;
  readonly #slices = new ChromeSlices();
  readonly #counters: ChromeCounters;
  readonly #args: JsonFields;
  /** Slices with a `B` but no `E`, by lane; the innermost is the last. */
  readonly #open = new Map<number, OpenSlice[]>();
  /** Slices with a `b` but no `e`, by category, id and name. */
  readonly #openAsync = new Map<string, (OpenSlice & { readonly lane: number })[]>();
  readonly #flows = new Map<string, number>();
  /** Ids of TASK_STATES. */
  readonly #states: readonly number[];
  /** Ids of the categories whose slices are no tasks. */
  readonly #beside: readonly number[];
  /** Instants, until the names of their processes are known: time, process, topic, text. */
  readonly #instants = new Float64Column();

  constructor(builder: TraceBuilder, cursor: JsonCursor, args: JsonFields) {
    this.#builder = builder;
    this.#origins = new ChromeOrigins(builder);
    this.#counters = new ChromeCounters(builder, this.#origins, cursor);
    this.#args = args;
    this.#states = TASK_STATES.map((state) => builder.strings.internString(state));
    this.#beside = [INTERVALS, TRANSFERS].map((category) => builder.strings.internString(category));
  }

  event(fields: JsonFields): boolean {
    const phase = fields.letter(EventField.ph);
    if (phase < 0) return false;
    const time = fields.number(EventField.ts) / 1e6;
    const known = phase === PHASE.metadata ? this.#metadata(fields) : this.#timed(fields, phase, time);
    if (known) this.#builder.eventCount++;
    return known;
  }

  /**
   * Handles an event with a time. Returns false if it has no time. Events of phases without a table are only counted.
   */
  #timed(fields: JsonFields, phase: number, time: number): boolean {
    if (!Number.isFinite(time)) return false;
    switch (phase) {
      case PHASE.complete:
        return this.#complete(fields, time);
      case PHASE.begin:
        this.#begin(fields, time);
        break;
      case PHASE.end:
        this.#end(fields, time);
        break;
      case PHASE.asyncBegin:
      case PHASE.oldAsyncBegin:
        this.#asyncBegin(fields, time);
        break;
      case PHASE.asyncEnd:
      case PHASE.oldAsyncEnd:
        this.#asyncEnd(fields, time);
        break;
      case PHASE.counter:
        this.#counters.add(fields, time);
        break;
      case PHASE.instant:
      case PHASE.oldInstant:
      case PHASE.mark:
      case PHASE.asyncInstant:
        this.#instant(fields, time);
        break;
      case PHASE.flowBegin:
        this.#flow(fields, time, FLOW_BEGIN);
        break;
      case PHASE.flowStep:
        this.#flow(fields, time, FLOW_STEP);
        break;
      case PHASE.flowEnd:
        this.#flow(fields, time, fields.letter(EventField.bp) === code('e') ? FLOW_END : FLOW_END_NEXT);
        break;
    }
    return true;
  }

  #complete(fields: JsonFields, time: number): boolean {
    const duration = fields.number(EventField.dur) / 1e6;
    // A slice without a duration did not end.
    if (!(duration >= 0 && duration < Number.POSITIVE_INFINITY)) return !fields.has(EventField.dur);
    if (this.#beside.includes(this.#text(fields, EventField.cat))) return true;
    const key = this.#argument(Arg.key);
    this.#slices.add(this.#name(fields), key, this.#lane(fields), time, duration);
    if (key >= 0) this.#slices.describe(this.#state(), this.#argument(Arg.prefix));
    return true;
  }

  /** Returns the state of a task of an exported trace. A task with a result has none. */
  #state(): number {
    return Math.max(TASK_MEMORY, this.#states.indexOf(this.#argument(Arg.state)));
  }

  #begin(fields: JsonFields, start: number): void {
    const lane = this.#lane(fields);
    const slice = { name: this.#name(fields), key: this.#argument(Arg.key), start };
    pushTo(this.#open, lane, slice);
  }

  /** Ends the innermost slice. Its name is ignored, because the slices of a thread nest. */
  #end(fields: JsonFields, stop: number): void {
    const lane = this.#lane(fields);
    const slice = this.#open.get(lane)?.pop();
    if (slice === undefined) return;
    const key = slice.key < 0 ? this.#argument(Arg.key) : slice.key;
    this.#slices.add(slice.name, key, lane, slice.start, Math.max(0, stop - slice.start));
  }

  #asyncBegin(fields: JsonFields, start: number): void {
    const lane = this.#lane(fields);
    const id = this.#id(fields);
    const slice = { name: this.#name(fields), key: this.#argument(Arg.key), start, lane };
    pushTo(this.#openAsync, id, slice);
  }

  #asyncEnd(fields: JsonFields, stop: number): void {
    const id = this.#id(fields);
    const stack = this.#openAsync.get(id);
    const slice = stack?.pop();
    if (stack === undefined || slice === undefined) return;
    if (stack.length === 0) this.#openAsync.delete(id);
    this.#slices.add(slice.name, slice.key, ~slice.lane, slice.start, Math.max(0, stop - slice.start));
  }

  #flow(fields: JsonFields, time: number, phase: number): void {
    const id = this.#id(fields);
    const flow = getOrMake(this.#flows, id, () => this.#flows.size);
    const points = this.#slices.flows;
    points.time.push(time);
    points.lane.push(this.#lane(fields));
    points.flow.push(flow);
    points.phase.push(phase);
  }

  #instant(fields: JsonFields, time: number): void {
    const row = this.#instants;
    row.push(time);
    row.push(this.#origins.process(this.#text(fields, EventField.pid)));
    row.push(this.#name(fields));
    row.push(this.#argumentText(fields));
  }

  /** Returns the argument `text`, or the JSON text of all arguments. */
  #argumentText(fields: JsonFields): number {
    const text = this.#argument(Arg.text);
    if (text >= 0) return text;
    if (fields.type(EventField.args) !== OPEN_BRACE) return -1;
    const size = fields.size(EventField.args);
    return size <= 2 || size > MAX_TEXT ? -1 : fields.raw(EventField.args, this.#builder.strings);
  }

  #metadata(fields: JsonFields): boolean {
    const event = this.#text(fields, EventField.name);
    if (event < 0) return false;
    if (this.#builder.strings.get(event) !== 'process_name') return true;
    const process = this.#origins.processes[this.#origins.process(this.#text(fields, EventField.pid))]!;
    const given = this.#argument(Arg.name);
    if (given >= 0) process.name = given;
    return true;
  }

  /** Creates the rows that waited for names. Call this after the last event. */
  finish(): void {
    const origins = this.#origins;
    for (const process of origins.processes) origins.workerOf(process);
    this.#slices.finish(this.#builder, origins);
    this.#counters.finish();
    const instants = this.#instants.take();
    for (let at = 0; at < instants.length; at += 4) {
      const worker = origins.workerOf(origins.processes[instants[at + 1]!]!);
      this.#builder.events.add({
        time: instants[at]!,
        worker,
        topic: instants[at + 2]!,
        text: instants[at + 3]!,
      });
    }
  }

  #text(fields: JsonFields, field: number): number {
    return fields.text(field, this.#builder.strings);
  }

  /** Returns the name of an event, or an empty name. */
  #name(fields: JsonFields): number {
    const name = this.#text(fields, EventField.name);
    return name < 0 ? this.#builder.strings.internString('') : name;
  }

  #lane(fields: JsonFields): number {
    return this.#origins.lane(this.#text(fields, EventField.pid), this.#text(fields, EventField.tid));
  }

  #argument(field: number): number {
    return this.#args.text(field, this.#builder.strings);
  }

  /** Returns the common identity of the events of an async slice or a flow. Local ids are specific to a process. */
  #id(fields: JsonFields): string {
    const category = this.#text(fields, EventField.cat);
    const name = this.#text(fields, EventField.name);
    if (fields.has(EventField.id)) return `${category} ${name} ${this.#text(fields, EventField.id)}`;
    const pid = this.#text(fields, EventField.pid);
    return `${category} ${name} ${pid} ${fields.raw(EventField.id2, this.#builder.strings)}`;
  }
}

/** Limit for the series of one event; a damaged event may have any number. */
const MAX_SERIES = 256;

interface Sample {
  readonly time: number;
  readonly process: ChromeProcess;
  readonly device: number;
  readonly figures: Map<string, number>;
}

/** Figures of a process at a time. Consecutive counters of one process and one time form one sample. */
class ChromeCounters {
  readonly #builder: TraceBuilder;
  readonly #origins: ChromeOrigins;
  readonly #cursor: JsonCursor;
  /** Samples of processes whose names may still follow. */
  readonly #waiting: Sample[] = [];
  #sample: Sample | undefined;

  constructor(builder: TraceBuilder, origins: ChromeOrigins, cursor: JsonCursor) {
    this.#builder = builder;
    this.#origins = origins;
    this.#cursor = cursor;
  }

  /**
   * Adds a counter. A series `name` or `value` of the counter `name` becomes the figure `name`; other series become
   * `name.series`.
   */
  add(fields: JsonFields, time: number): void {
    const { strings } = this.#builder;
    const pid = fields.text(EventField.pid, strings);
    const process = this.#origins.processes[this.#origins.process(pid)]!;
    const device = fields.text(EventField.id, strings);
    const nameId = fields.text(EventField.name, strings);
    const name = nameId < 0 ? '' : strings.get(nameId);
    if (!fields.enter(EventField.args)) return;
    const series = this.#readSeries();
    const sample = continued(this.#sample, time, process, device);
    if (sample !== this.#sample) this.#endSample();
    this.#sample = sample;
    for (const [one, value] of series) {
      sample.figures.set(one === name || one === 'value' ? name : `${name}.${one}`, value);
    }
  }

  /** Adds the last sample and the samples that waited for the names of their processes. */
  finish(): void {
    this.#endSample();
    for (const { time, process, device, figures } of this.#waiting) {
      const worker = this.#origins.workerOf(process);
      this.#builder.resources.add({ time, worker, device }, figures);
    }
    this.#waiting.length = 0;
  }

  #endSample(): void {
    const sample = this.#sample;
    this.#sample = undefined;
    if (sample !== undefined && sample.figures.size > 0) this.#waiting.push(sample);
  }

  /** Returns the numbers in the object at the cursor by name, up to the first invalid field. */
  #readSeries(): [string, number][] {
    const cursor = this.#cursor;
    const series: [string, number][] = [];
    if (!cursor.expect(OPEN_BRACE)) return series;
    while (series.length < MAX_SERIES && cursor.peek() === QUOTE) {
      if (!cursor.readString()) return series;
      const name = unescaped(cursor.bytes, cursor.start - 1, cursor.stop + 1);
      if (!cursor.expect(COLON)) return series;
      const quotes = cursor.peek() === QUOTE ? 1 : 0;
      const { at } = cursor;
      if (!cursor.skipValue()) return series;
      const value = numberAt(cursor.bytes, at + quotes, cursor.at - quotes);
      if (!Number.isNaN(value)) series.push([name, value]);
      const next = cursor.peek();
      cursor.at++;
      if (next !== COMMA) return series;
    }
    return series;
  }
}

function continued(sample: Sample | undefined, time: number, process: ChromeProcess, device: number): Sample {
  return sample !== undefined &&
    sample.time === time &&
    sample.process === process &&
    sample.device === device
    ? sample
    : { time, process, device, figures: new Map() };
}
