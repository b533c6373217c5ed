// What a trace can be exported to: one entry for each format. The command line and `exportTrace` know no others.
import { renderReport } from '../diagnostics/performanceReport.js';
import { chromeTrace } from '../trace/formats/chrome/chromeWriter.js';
import { dasfEventFile } from '../trace/formats/dasf/dasfExport.js';
import { parquetTable } from '../trace/formats/parquetWriter.js';
import { speedscopeProfile } from '../trace/formats/speedscope/speedscopeWriter.js';
import { csvTable, jsonTables } from '../trace/formats/tableText.js';
import { plainTables } from '../trace/plainTables.js';
import type { Trace } from '../trace/trace.js';
import { pprofProfile } from './pprofExport.js';

/** Text is written as UTF-8. Each piece is written before the next is asked for. */
export type Pieces = Iterable<string | Uint8Array>;

/** One file, or a folder with a file for each table. */
export type Exporter = {
  /** Lower case; never changes once it was published. */
  readonly name: string;
  /** What it is and who reads it, for the help text. */
  readonly description: string;
  /** Of the files' names, with the point. */
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
    description:
      'a performance report: the dashboard with the trace in it, in one file; opens as a trace again',
    extension: '.html',
    kind: 'file',
    write: (trace) => renderReport(trace),
  },
  {
    name: 'chrome',
    description: 'Chrome Trace JSON: Perfetto, speedscope, chrome://tracing',
    extension: '.json',
    kind: 'file',
    write: chromeTrace,
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
    description: "the profiler's samples and the task stream for speedscope, a profile for each thread",
    extension: '.speedscope.json',
    kind: 'file',
    write: (trace) => speedscopeProfile(trace),
  },
  {
    name: 'pprof',
    description: "the profiler's samples, or the time of tasks by span and function, for pprof",
    extension: '.pb',
    kind: 'file',
    write: pprofProfile,
  },
  {
    name: 'parquet',
    description: 'a folder with a Parquet file for each table',
    extension: '.parquet',
    kind: 'folder',
    *write(trace) {
      for (const table of plainTables(trace)) yield { name: table.name, pieces: parquetTable(table) };
    },
  },
  {
    name: 'csv',
    description: 'a folder with a CSV file for each table',
    extension: '.csv',
    kind: 'folder',
    *write(trace) {
      for (const table of plainTables(trace)) yield { name: table.name, pieces: csvTable(table) };
    },
  },
  {
    name: 'json',
    description: 'all tables as arrays of rows in one JSON object',
    extension: '.json',
    kind: 'file',
    write: (trace) => jsonTables(plainTables(trace)),
  },
];
