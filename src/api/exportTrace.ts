// `exportTrace`: writes traces in the formats of other programs.
import { dirname, join } from 'node:path';
import {
  ANY,
  CALLABLE,
  checkArgument,
  checkOptions,
  type OptionKinds,
  TEXT,
  TRACE,
} from '../base/arguments.js';
import { invalidArgument } from '../base/errors.js';
import { makeFolder, writePieces } from '../files/writePieces.js';
import type { Trace } from '../trace/trace.js';
import { EXPORTERS, type Exporter } from './exporters.js';

export interface ExportTraceOptions {
  /** Name of a format: `html`, `chrome`, `dasf`, `speedscope`, `pprof`, `parquet`, `csv` or `json`. */
  readonly to: string;
  /** Path of the file; for `parquet` and `csv`, the folder for one file per table. Missing folders are created. */
  readonly output: string;
  /** Receives the number of bytes written so far, summed over all files. */
  readonly onProgress?: (bytes: number) => void;
}

const OPTIONS: OptionKinds<ExportTraceOptions> = { to: ANY, output: TEXT, onProgress: CALLABLE };

/**
 * Writes a trace in the format of another program. Needs memory for one piece of a file at a time. A file gets its
 * final name when it is complete.
 *
 * @returns the paths of the files
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for an unknown format, ERR_LONGPOLE_TRACE_FILE if a file cannot
 *   be written
 */
export function exportTrace(trace: Trace, options: ExportTraceOptions): string[] {
  checkArgument('exportTrace(): trace', trace, TRACE);
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

/** @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for an unknown name */
export function exporterOf(name: string): Exporter {
  const exporter = EXPORTERS.find((one) => one.name === name);
  if (exporter !== undefined) return exporter;
  throw invalidArgument(
    `There is no format '${name}'. The formats are: ${EXPORTERS.map((one) => one.name).join(', ')}.`,
  );
}
