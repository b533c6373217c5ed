// `MemorySampler`: samples the memory of a cluster during computations, to plot and compare them.
import { Table } from '../analysis/table.js';
import {
  checkArgument,
  checkOptions,
  FLAG,
  fileName,
  INTERVAL,
  kind,
  MAX_TIMER_SECONDS,
  type OptionKinds,
  oneOf,
  TEXT,
} from '../base/arguments.js';
import { invalidArgument } from '../base/errors.js';
import { hasFields } from '../base/json.js';
import { recordOf } from '../base/lookUps.js';
import { Printed } from '../base/printed.js';
import { visibleName } from '../base/visibleText.js';
import { countText } from '../base/words.js';
import { epochSeconds } from '../resources/clock.js';
import { processRss } from '../resources/processRss.js';
import { type MemorySeries, memoryPlot } from './memoryPlot.js';
import { writeWhole } from './wholeFile.js';

/** Memory of all processes of workers of a cluster, in bytes; see SampleOptions. */
export type ClusterMemory = Readonly<Record<MemoryMeasure, number>>;

/** Source of samples: a Client, or another object with this method. */
export interface MemorySource {
  memory(): ClusterMemory | Promise<ClusterMemory>;
}

export const MEMORY_MEASURES = [
  'process',
  'managed',
  'unmanaged',
  'spilled',
  'optimistic',
  'unmanaged_old',
  'unmanaged_recent',
] as const;
export type MemoryMeasure = (typeof MEMORY_MEASURES)[number];

export interface SampleOptions {
  /**
   * - `process`: resident memory of the workers' processes, from the operating system; the default. Workers that are
   *   threads share the program's process, which counts once
   * - `managed`: results in memory
   * - `unmanaged`: `process` without `managed`
   * - `spilled`: results on disk
   * - `unmanaged_old`: minimum of `unmanaged` in the last 30 s
   * - `unmanaged_recent`: `unmanaged` without `unmanaged_old`, e.g. the memory that running tasks use
   * - `optimistic`: `managed` and `unmanaged_old` together
   *
   * @source Dask's `distributed.scheduler.MemoryState`
   */
  readonly measure?: MemoryMeasure;
  /** Seconds between two samples, at least 0.01. Default 0.5. */
  readonly interval?: number;
  /**
   * Client of the sampled cluster. Default: the most recently connected client. Without a client, this process is
   * sampled, for which only `process` is available.
   */
  readonly client?: MemorySource;
}

export interface MemoryPoint {
  /** Seconds since the epoch. */
  readonly time: number;
  readonly bytes: number;
}

export interface AlignOptions {
  /** Whether times are relative to the first sample of each label, to compare successive runs. Default false. */
  readonly align?: boolean;
}

export interface MemoryPlotOptions extends AlignOptions {
  /** Path of a file for the plot: an SVG image if it ends in `.svg`, a page if it ends in `.html`. Default: none. */
  readonly filename?: string;
}

const SAMPLE_OPTIONS: OptionKinds<SampleOptions> = {
  measure: oneOf(MEMORY_MEASURES),
  interval: kind(
    `seconds, from 0.01 to ${MAX_TIMER_SECONDS}`,
    (value) => typeof value === 'number' && value >= 0.01 && INTERVAL.accepts(value),
  ),
  client: kind('a Client, or an object with memory()', (value) => hasFields(value, { memory: 'function' })),
};
const ALIGN_OPTIONS: OptionKinds<AlignOptions> = { align: FLAG };
const PLOT_OPTIONS: OptionKinds<MemoryPlotOptions> = {
  ...ALIGN_OPTIONS,
  filename: fileName(['.svg', '.html', '.htm']),
};

let defaultSource = (): MemorySource | undefined => undefined;

/** @internal @param source returns the most recently connected client; undefined if there is none */
export function setDefaultMemorySource(source: () => MemorySource | undefined): void {
  defaultSource = source;
}

/**
 * Samples the memory of a cluster while a block runs:
 *
 *     const ms = new MemorySampler();
 *     {
 *       await using _ = ms.sample('collection 1');
 *       await client.compute(collection1);
 *     }
 *     ms.plot({ align: true, filename: 'memory.html' });
 *
 * Samples of several labels may overlap in time. Samples are kept if the block throws.
 *
 * @source Dask's `distributed.diagnostics.MemorySampler`
 */
export class MemorySampler extends Printed {
  readonly #samples = new Map<string, MemoryPoint[]>();

  /** Samples by label, in the order of time. The first is taken at the start of the sampling, the last at its end. */
  get samples(): ReadonlyMap<string, readonly MemoryPoint[]> {
    return this.#samples;
  }

  /**
   * Starts to sample until the end of the `await using` block. Replaces earlier samples of the same label.
   *
   * @param label default `sample 1`, `sample 2`, …
   * @returns an object that ends the sampling when it is disposed of. This rejects with the error of `client.memory()`,
   *   if any
   * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for an unknown measure or an interval below 0.01 s
   */
  sample(label?: string, options: SampleOptions = {}): AsyncDisposable {
    if (label !== undefined) checkArgument('MemorySampler.sample: label', label, TEXT);
    checkOptions('MemorySampler.sample', options, SAMPLE_OPTIONS);
    const { measure = 'process', interval = 0.5, client } = options;
    const source = client ?? defaultSource();
    checkSource(measure, source);
    const points: MemoryPoint[] = [];
    this.#samples.set(label ?? this.#freeLabel(), points);
    const stop = sampled(source ?? THIS_PROCESS, measure, interval, points);
    const loaded = loadPage();
    // The end of the sampling reports the error.
    loaded.catch(() => undefined);
    return { [Symbol.asyncDispose]: () => stop().finally(() => loaded) };
  }

  /**
   * Returns the samples as a table with a column `time` and one column of bytes per label. Times are seconds since the
   * first sample of all labels; with `align`, since the first sample of each label. Times between two samples of a
   * label have the value of the earlier one. Times before the first and after the last sample have no value.
   */
  toTable(options: AlignOptions = {}): Table {
    checkOptions('MemorySampler.toTable', options, ALIGN_OPTIONS);
    const { align = false } = options;
    const series = this.#series(align);
    const times = Float64Array.from(
      new Set(series.flatMap(({ points }) => points.map(({ time }) => time))),
    ).sort();
    const [start = 0] = times;
    const columns = series.map(({ label, points }) => ({ title: label, numbers: filled(points, times) }));
    return new Table([
      { title: 'time', numbers: times.map((time) => time - start), float: true },
      ...columns,
    ]);
  }

  /**
   * Plots the memory of all labels over time.
   *
   * @param options.filename path of a file for the plot: an SVG image if it ends in `.svg`, else a self-contained page
   *   like that of `visualize`; default: none
   * @returns the text of the file; without a filename, the SVG image
   * @throws LongpoleError ERR_LONGPOLE_PAGE_FILE if the file cannot be written or the page's template is missing;
   *   ERR_LONGPOLE_INVALID_ARGUMENT for a page before the first sampling has ended
   */
  plot(options: MemoryPlotOptions = {}): string {
    checkOptions('MemorySampler.plot', options, PLOT_OPTIONS);
    const { align = false, filename } = options;
    const series = this.#series(align);
    if (filename === undefined) return memoryPlot(series, align);
    const text = filename.toLowerCase().endsWith('.svg') ? memoryPlot(series, align) : memoryPage(series);
    writeWhole('plot', filename, text);
    return text;
  }

  /** Returns a text such as `<MemorySampler: 'before' 12 samples, 'after' 9 samples>`. */
  override toString(): string {
    return `<MemorySampler: ${Array.from(this.#samples, ([label, { length }]) => `'${visibleName(label)}' ${countText(length, 'sample')}`).join(', ') || 'no samples'}>`;
  }

  #series(align: boolean): MemorySeries[] {
    return Array.from(this.#samples, ([label, points]) => {
      const origin = align ? (points[0]?.time ?? 0) : 0;
      return { label, points: points.map(({ time, bytes }) => ({ time: time - origin, bytes })) };
    });
  }

  #freeLabel(): string {
    for (let number = 1; ; number++) if (!this.#samples.has(`sample ${number}`)) return `sample ${number}`;
  }
}

/** Loaded at the start of a sampling, because `import 'longpole'` should not load the code that writes traces. */
let page: typeof import('./memoryPage.js') | undefined;

async function loadPage(): Promise<void> {
  page ??= await import('./memoryPage.js');
}

function memoryPage(series: readonly MemorySeries[]): string {
  if (page !== undefined) return page.memoryPage(series);
  throw invalidArgument(
    'MemorySampler.plot: no sampling has ended yet. Call plot after the block that samples, or pass a filename in .svg.',
  );
}

/** Returns the bytes at each time: those of the latest sample, NaN before the first and after the last sample. */
function filled(points: readonly MemoryPoint[], times: Float64Array): Float64Array {
  const last = points.at(-1)?.time ?? Number.NEGATIVE_INFINITY;
  let next = 0;
  let bytes = Number.NaN;
  return times.map((time) => {
    for (; next < points.length && points[next]!.time <= time; next++) bytes = points[next]!.bytes;
    return time > last ? Number.NaN : bytes;
  });
}

/** Takes samples until the call of the returned function, which rejects with the first error of the source. */
function sampled(
  source: MemorySource,
  measure: MemoryMeasure,
  interval: number,
  points: MemoryPoint[],
): () => Promise<void> {
  let pending: Promise<void> | undefined;
  let failure: { readonly error: unknown } | undefined;
  const take = async (): Promise<void> => {
    try {
      const memory = await source.memory();
      points.push({ time: epochSeconds(), bytes: memory[measure] });
    } catch (error) {
      failure ??= { error };
      clearInterval(timer);
    }
    pending = undefined;
  };
  /** Takes a sample, unless a request is pending. Never rejects. */
  const request = (): Promise<void> => {
    pending ??= take();
    return pending;
  };
  const timer = setInterval(request, interval * 1000).unref();
  void request();
  return async () => {
    clearInterval(timer);
    await pending;
    if (failure === undefined) await request();
    if (failure !== undefined) throw failure.error;
  };
}

/** Source without a cluster. Results of threads are in this process, and only its total memory is known. */
const THIS_PROCESS: MemorySource = {
  memory: () => ({ ...recordOf(MEMORY_MEASURES, () => 0), process: processRss() }),
};

function checkSource(measure: MemoryMeasure, source: MemorySource | undefined): void {
  if (source === undefined && measure !== 'process')
    throw invalidArgument(
      `measure: only a cluster can measure '${measure}' memory. Connect a client before sampling, or pass one as \`client\`.`,
    );
}
