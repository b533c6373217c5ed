// Writes traces in the formats of other programs.
import { dirname, join } from 'node:path';
import { ANY, CALLABLE, checkArgument, checkOptions, type OptionKinds, TEXT } from '../base/arguments.js';
import { invalidArgument } from '../base/errors.js';
import { makeFolder, writePieces } from '../files/writePieces.js';
import type { Trace } from '../trace/trace.js';
import { EXPORTERS, type Exporter } from './exporters.js';

export interface ExportTraceOptions {
  /** The name of an exporter: `chrome`, `dasf`, `speedscope`, `parquet`, `csv`, `json`, … */
  readonly to: string;
  /** A file, or for the formats that write one file for each table a folder. Folders that are missing are made. */
  readonly output: string;
  /** Called while writing with the bytes written so far, all files together. */
  readonly onProgress?: (bytes: number) => void;
}

const OPTIONS: OptionKinds<ExportTraceOptions> = { to: ANY, output: TEXT, onProgress: CALLABLE };

/**
 * Writes a trace in another program's format and returns the files that were written. A file gets its name when it is
 * whole. Memory is for one piece at a time, whatever the size of the trace.
 *
 * Throws ERR_LONGPOLE_INVALID_ARGUMENT if there is no such format, ERR_LONGPOLE_TRACE_FILE if a file cannot be written.
 */
export function exportTrace(trace: Trace, options: ExportTraceOptions): string[] {
  checkOptions('exportTrace()', options ?? null, OPTIONS);
  const { to, output, onProgress } = options;
  checkArgument('exportTrace(): output', output, TEXT);
  const exporter = exporterOf(to);
  if (exporter.kind === 'file') {
    makeFolder(dirname(output));
    writePieces(output, exporter.write(trace), onProgress);
    return [output];
  }
  makeFolder(output);
  const files: string[] = [];
  let before = 0;
  for (const { name, pieces } of exporter.write(trace)) {
    const file = join(output, `${name}${exporter.extension}`);
    before += writePieces(file, pieces, (bytes) => onProgress?.(before + bytes));
    files.push(file);
  }
  return files;
}

/** Throws ERR_LONGPOLE_INVALID_ARGUMENT if there is none of this name. */
export function exporterOf(name: string): Exporter {
  const exporter = EXPORTERS.find((one) => one.name === name);
  if (exporter !== undefined) return exporter;
  throw invalidArgument(
    `There is no format called '${name}'. There are: ${EXPORTERS.map((one) => one.name).join(', ')}.`,
  );
}
