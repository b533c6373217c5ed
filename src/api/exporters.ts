// The export formats of a trace, for `exportTrace` and for `longpole export`.

import { profileTree, sampledTime, samplingInterval } from '../analysis/profile.js';
import { addTo } from '../base/lookUps.js';
import { inPieces } from '../base/pieces.js';
import { renderReport } from '../diagnostics/performanceReport.js';
import { childOf, emptyTree, type FrameDescription, type MutableCallTree } from '../profile/callTree.js';
import { toPprof } from '../profile/pprof.js';
import { chromeTrace } from '../trace/formats/chrome/chromeWriter.js';
import { dasfEventFile } from '../trace/formats/dasf/dasfExport.js';
import { parquetTable } from '../trace/formats/parquetWriter.js';
import { speedscopeProfile } from '../trace/formats/speedscope/speedscopeWriter.js';
import { csvTable, jsonTables } from '../trace/formats/tableText.js';
import { plainTables } from '../trace/plainTables.js';
import { type Trace, textOf } from '../trace/trace.js';

/**
 * Content of a file, piece by piece. Text is written as UTF-8. Each piece is written before the next one is requested.
 */
export type Pieces = Iterable<string | Uint8Array>;

/** A format: one file, or a folder with one file per table. */
export type Exporter = {
  /** Name in lower case. A published name never changes. */
  readonly name: string;
  /** Description for the help text, with the programs that read the format. */
  readonly description: string;
  /** Extension of the files, with the leading dot. */
  readonly extension: string;
} & (
  | { readonly kind: 'file'; readonly write: (trace: Trace) => Pieces }
  | {
      readonly kind: 'folder';
      readonly write: (trace: Trace) => Iterable<{ readonly name: string; readonly pieces: Pieces }>;
    }
);

export const EXPORTERS: readonly Exporter[] = [
  {
    name: 'html',
    description: 'a performance report: one page with the dashboard and the trace; openTrace reads it again',
    extension: '.html',
    kind: 'file',
    write: (trace) => renderReport(trace),
  },
  {
    name: 'chrome',
    description: 'Chrome Trace JSON: Perfetto, speedscope, chrome://tracing',
    extension: '.json',
    kind: 'file',
    write: (trace) => inPieces(chromeTrace(trace)),
  },
  {
    name: 'dasf',
    description: "an event file that DASF's profiler reads",
    extension: '.msgpack',
    kind: 'file',
    write: dasfEventFile,
  },
  {
    name: 'speedscope',
    description: "the profiler's samples and the task stream for speedscope, one profile per thread",
    extension: '.speedscope.json',
    kind: 'file',
    write: (trace) => inPieces(speedscopeProfile(trace)),
  },
  {
    name: 'pprof',
    description: "the profiler's samples for pprof; without samples, the time of tasks by span and function",
    extension: '.pb',
    kind: 'file',
    write: pprofProfile,
  },
  {
    name: 'parquet',
    description: 'a folder with one Parquet file per table',
    extension: '.parquet',
    kind: 'folder',
    *write(trace) {
      for (const table of plainTables(trace)) yield { name: table.name, pieces: parquetTable(table) };
    },
  },
  {
    name: 'csv',
    description: 'a folder with one CSV file per table',
    extension: '.csv',
    kind: 'folder',
    *write(trace) {
      for (const table of plainTables(trace)) yield { name: table.name, pieces: inPieces(csvTable(table)) };
    },
  },
  {
    name: 'json',
    description: 'one JSON object with an array of rows per table',
    extension: '.json',
    kind: 'file',
    write: (trace) => inPieces(jsonTables(plainTables(trace))),
  },
];

/** Seconds per sample. */
const INTERVAL = 1e-6;
/** Tasks of more seconds (285 years) have damaged times and are skipped, because pprof cannot represent their sum. */
const MAX_SECONDS = Number.MAX_SAFE_INTEGER * INTERVAL;

/**
 * Yields the samples of the statistical profiler. For a trace without samples, yields the duration of the tasks as if
 * sampled once per microsecond. The stack of a task is then its spans, outermost first, and its function. Stacks with
 * less than half a microsecond in total are missing.
 */
function* pprofProfile(trace: Trace): Generator<Uint8Array> {
  const { start, stop } = sampledTime(trace);
  yield trace.samples.length > 0
    ? toPprof(profileTree(trace), { interval: samplingInterval(trace), start, duration: stop - start })
    : taskProfile(trace);
}

function taskProfile(trace: Trace): Uint8Array {
  const { tasks, strings } = trace;
  const sums = new Map<number, number>();
  const width = strings.length + 1;
  let [start, stop] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let row = 0; row < tasks.length; row++) {
    const seconds = tasks.duration[row]!;
    if (!(seconds >= 0 && seconds <= MAX_SECONDS)) continue;
    const group = (tasks.span[row]! + 1) * width + tasks.functionName[row]! + 1;
    addTo(sums, group, seconds);
    start = Math.min(start, tasks.started[row]!);
    stop = Math.max(stop, tasks.stopped[row]!);
  }
  const tree = emptyTree();
  for (const [group, seconds] of sums) {
    const span = textOf(strings, Math.floor(group / width) - 1);
    const frames = span === '' ? [] : span.split('/').map((name) => name.trim());
    addStack(tree, [...frames, textOf(strings, (group % width) - 1)], Math.round(seconds / INTERVAL));
  }
  const times = start <= stop ? { start, duration: stop - start } : {};
  return toPprof(tree, { interval: INTERVAL, ...times });
}

function addStack(tree: MutableCallTree, names: readonly string[], samples: number): void {
  let node = tree;
  node.count += samples;
  for (const name of names) {
    const frame: FrameDescription = { name: name === '' ? '(no name)' : name, filename: '', lineNumber: 0 };
    node = childOf(node, frame);
    node.count += samples;
  }
}
