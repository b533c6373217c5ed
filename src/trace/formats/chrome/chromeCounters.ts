// Counters of Chrome traces: figures of a process at a time. Consecutive counters of one process and one time form one
// sample.
import type { TraceBuilder } from '../../traceBuilder.js';
import type { ChromeOrigins, ChromeProcess } from './chromeOrigins.js';
import type { ChromeEvent } from './chromeText.js';
import { argsOf, type ChromeTexts, numberOf } from './chromeValues.js';

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
  readonly #texts: ChromeTexts;
  /** Samples of processes whose names may still follow. */
  readonly #waiting: Sample[] = [];
  /** Sample that is being collected. */
  #sample: Sample | undefined;

  constructor(builder: TraceBuilder, origins: ChromeOrigins, texts: ChromeTexts) {
    this.#builder = builder;
    this.#origins = origins;
    this.#texts = texts;
  }

  /**
   * Adds a counter. A series `name` or `value` of the counter `name` becomes the figure `name`; other series become
   * `name.series`.
   */
  add(event: ChromeEvent, time: number): void {
    const process = this.#origins.processes[this.#origins.process(this.#texts.of(event.pid))]!;
    const sample = continued(this.#sample, time, process, this.#texts.of(event.id));
    if (sample !== this.#sample) this.#endSample();
    this.#sample = sample;
    const name = typeof event.name === 'string' ? event.name : '';
    for (const [one, figure] of Object.entries(argsOf(event)).slice(0, MAX_SERIES)) {
      const value = numberOf(figure);
      if (Number.isNaN(value)) continue;
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
}

function continued(sample: Sample | undefined, time: number, process: ChromeProcess, device: number): Sample {
  return sample !== undefined &&
    sample.time === time &&
    sample.process === process &&
    sample.device === device
    ? sample
    : { time, process, device, figures: new Map() };
}
