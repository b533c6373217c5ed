// `MemorySampler`: how the memory of a cluster changes while something is computed, and how two ways to compute it
// compare.
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
import { epochSeconds } from '../resources/clock.js';
import type { MemorySeries } from './memoryPlot.js';
import { memoryPlot } from './memoryPlot.js';
import { writeWhole } from './wholeFile.js';

/** Bytes of the whole cluster at this moment. */
export interface ClusterMemory {
  readonly process: number;
  readonly managed: number;
  readonly unmanaged: number;
  readonly spilled: number;
}

/** What is sampled: a Client, or anything that can tell. */
export interface MemorySource {
  memory(): ClusterMemory | Promise<ClusterMemory>;
}

export const MEMORY_MEASURES = ['process', 'managed', 'unmanaged', 'spilled'] as const;
export type MemoryMeasure = (typeof MEMORY_MEASURES)[number];

export interface SampleOptions {
  /**
   * - `process`: the processes of the workers, as the operating system sees them; the default
   * - `managed`: results that the workers hold in memory
   * - `unmanaged`: what the processes hold besides
   * - `spilled`: results on disk
   */
  readonly measure?: MemoryMeasure;
  /** Seconds between two samples, at least 0.01, default 0.5. */
  readonly interval?: number;
  /** Whose memory. Default: the client that was connected last, or without one this process, of which only `process` is known. */
  readonly client?: MemorySource;
}

export interface MemoryPoint {
  /** Seconds since the epoch. */
  readonly time: number;
  readonly bytes: number;
}

export interface AlignOptions {
  /** Times count from the first sample of each label, so that runs one after the other lie over each other. Default false. */
  readonly align?: boolean;
}

export interface MemoryPlotOptions extends AlignOptions {
  /** Written if given: as SVG if it ends in `.svg`, as a page if it ends in `.html`. */
  readonly filename?: string;
}

const SAMPLE_OPTIONS: OptionKinds<SampleOptions> = {
  measure: oneOf(MEMORY_MEASURES),
  interval: kind(
    `seconds, from 0.01 to ${MAX_TIMER_SECONDS}`,
    (value) => typeof value === 'number' && value >= 0.01 && INTERVAL.accepts(value),
  ),
  client: kind(
    'a Client, or an object with memory()',
    (value) =>
      typeof value === 'object' && value !== null && 'memory' in value && typeof value.memory === 'function',
  ),
};
const ALIGN_OPTIONS: OptionKinds<AlignOptions> = { align: FLAG };
const PLOT_OPTIONS: OptionKinds<MemoryPlotOptions> = {
  ...ALIGN_OPTIONS,
  filename: fileName(['.svg', '.html', '.htm']),
};

let defaultSource: MemorySource | undefined;

/** @internal The client that was connected last; undefined: there is none any more. */
export function setDefaultMemorySource(source: MemorySource | undefined): void {
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
 * Samples of several labels may overlap. A block that throws keeps what was sampled.
 *
 * @source Dask's `distributed.diagnostics.MemorySampler`
 */
export class MemorySampler {
  readonly #samples = new Map<string, MemoryPoint[]>();

  /** Label → its samples in the order of time. The first is taken when sampling begins, the last when it ends. */
  get samples(): ReadonlyMap<string, readonly MemoryPoint[]> {
    return this.#samples;
  }

  /**
   * Starts to sample; the end of the block ends it. A label that was used before is sampled anew.
   *
   * @param label default `sample 1`, `sample 2`, …
   * @returns what ends the sampling: `await using`, or `await sampling[Symbol.asyncDispose]()`
   * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for an unknown measure or an interval below 0.01 s; when it ends, what
   *   the client threw when it was asked
   */
  sample(label?: string, options: SampleOptions = {}): AsyncDisposable {
    if (label !== undefined) checkArgument('MemorySampler.sample: label', label, TEXT);
    checkOptions('MemorySampler.sample', options, SAMPLE_OPTIONS);
    const { measure = 'process', interval = 0.5, client } = options;
    const source = client ?? defaultSource;
    checkSource(measure, source);
    const points: MemoryPoint[] = [];
    this.#samples.set(label ?? this.#freeLabel(), points);
    const sampling = new Sampling(source ?? THIS_PROCESS, measure, points);
    sampling.start(interval);
    const loaded = loadPage();
    // The end of the sampling reports it.
    loaded.catch(() => undefined);
    return { [Symbol.asyncDispose]: () => sampling.stop().finally(() => loaded) };
  }

  /**
   * The samples as a table: a column `time` and one column of bytes per label. Between two samples of a label stands the one
   * before; before its first and after its last nothing.
   */
  toTable(options: AlignOptions = {}): Table {
    checkOptions('MemorySampler.toTable', options, ALIGN_OPTIONS);
    const { align = false } = options;
    const series = this.#series(align);
    const times = Float64Array.from(
      new Set(series.flatMap(({ points }) => points.map(({ time }) => time))),
    ).sort();
    const columns = series.map(({ label, points }) => ({ title: label, numbers: filled(points, times) }));
    return new Table([{ title: 'time', numbers: times, float: true }, ...columns]);
  }

  /**
   * A chart of all labels over time.
   *
   * @param options.filename written if given, as SVG if it ends in `.svg`, else as a page that needs nothing else, the same as that of `visualize`
   * @returns the text of the file: SVG without a filename
   * @throws LongpoleError ERR_LONGPOLE_PAGE_FILE if the file cannot be written or the page is not part of the installation;
   *   ERR_LONGPOLE_INVALID_ARGUMENT if a page is asked for before a sampling has ended
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

/** Loaded when sampling begins: `import 'longpole'` does not load what writes a trace. */
let page: typeof import('./memoryPage.js') | undefined;

async function loadPage(): Promise<void> {
  page ??= await import('./memoryPage.js');
}

function memoryPage(series: readonly MemorySeries[]): string {
  if (page !== undefined) return page.memoryPage(series);
  throw invalidArgument(
    'plot: no sampling has ended yet. Call it after the block that samples, or give a filename in .svg.',
  );
}

/** The bytes at each of the times: those of the sample before, NaN outside the samples. */
function filled(points: readonly MemoryPoint[], times: Float64Array): Float64Array {
  const last = points.at(-1)?.time ?? Number.NEGATIVE_INFINITY;
  let next = 0;
  let bytes = Number.NaN;
  return times.map((time) => {
    for (; next < points.length && points[next]!.time <= time; next++) bytes = points[next]!.bytes;
    return time > last ? Number.NaN : bytes;
  });
}

class Sampling {
  readonly #source: MemorySource;
  readonly #measure: MemoryMeasure;
  readonly #points: MemoryPoint[];
  #timer: NodeJS.Timeout | undefined;
  /** The question that has not been answered. */
  #asking: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(source: MemorySource, measure: MemoryMeasure, points: MemoryPoint[]) {
    this.#source = source;
    this.#measure = measure;
    this.#points = points;
  }

  start(interval: number): void {
    void this.#ask();
    this.#timer = setInterval(() => void this.#ask(), interval * 1000);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#asking;
    if (this.#failure === undefined) await this.#ask();
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Never rejects; a question is not asked while the one before has no answer. */
  #ask(): Promise<void> {
    this.#asking ??= this.#take().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #take(): Promise<void> {
    try {
      const memory = await this.#source.memory();
      this.#points.push({ time: epochSeconds(), bytes: memory[this.#measure] });
    } catch (error) {
      this.#failure ??= { error };
      clearInterval(this.#timer);
    }
  }
}

/** Where no cluster is: threads' results are in this process, and only the whole of it can be told. */
const THIS_PROCESS: MemorySource = {
  memory: () => ({ process: process.memoryUsage.rss(), managed: 0, unmanaged: 0, spilled: 0 }),
};

function checkSource(measure: MemoryMeasure, source: MemorySource | undefined): void {
  if (source === undefined && measure !== 'process')
    throw invalidArgument(
      `measure: only a cluster can tell '${measure}' memory. Connect a client before sampling, or pass one as \`client\`.`,
    );
}
