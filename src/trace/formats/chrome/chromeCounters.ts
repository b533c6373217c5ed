// Counters of Chrome traces: figures of a process at a time. Consecutive counters of one process and one time form one
// sample.
import type { TraceBuilder } from '../../traceBuilder.js';
import { COLON, COMMA, type JsonCursor, numberAt, OPEN_BRACE, QUOTE } from '../json/jsonCursor.js';
import { type JsonFields, unescaped } from '../json/jsonFields.js';
import type { ChromeOrigins, ChromeProcess } from './chromeOrigins.js';
import { EventField } from './chromeText.js';

/** Limit for the series of one event; a damaged event may have any number. */
const MAX_SERIES = 256;

interface Sample {
  readonly time: number;
  readonly process: ChromeProcess;
  readonly device: number;
  readonly figures: Map<string, number>;
}

export class ChromeCounters {
  readonly #builder: TraceBuilder;
  readonly #origins: ChromeOrigins;
  readonly #cursor: JsonCursor;
  /** Samples of processes whose names may still follow. */
  readonly #waiting: Sample[] = [];
  /** Sample that is being collected. */
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
