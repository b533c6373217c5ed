// The export formats of a trace, for `exportTrace` and for `longpole export`.
import { renderReport } from '../diagnostics/performanceReport.js';
import { chromeTrace } from '../trace/formats/chrome/chromeWriter.js';
import { dasfEventFile } from '../trace/formats/dasf/dasfExport.js';
import { parquetTable } from '../trace/formats/parquetWriter.js';
import { speedscopeProfile } from '../trace/formats/speedscope/speedscopeWriter.js';
import { csvTable, jsonTables } from '../trace/formats/tableText.js';
import { plainTables } from '../trace/plainTables.js';
import type { Trace } from '../trace/trace.js';
import { pprofProfile } from './pprofExport.js';

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
    description: "the profiler's samples and the task stream for speedscope, one profile per thread",
    extension: '.speedscope.json',
    kind: 'file',
    write: (trace) => speedscopeProfile(trace),
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
      for (const table of plainTables(trace)) yield { name: table.name, pieces: csvTable(table) };
    },
  },
  {
    name: 'json',
    description: 'one JSON object with an array of rows per table',
    extension: '.json',
    kind: 'file',
    write: (trace) => jsonTables(plainTables(trace)),
  },
];
