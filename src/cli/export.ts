// `longpole export`: writes a trace in the format of another program.
import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { EXPORTERS, type Exporter, type Pieces } from '../api/exporters.js';
import { exporterOf, exportTrace } from '../api/exportTrace.js';
import type { Trace } from '../api/traceFiles.js';
import { bytesText } from '../base/words.js';
import { type InputOptions, ONE_TRACE, openOne, withInputOptions } from './openInput.js';
import { isStandardOutput, refuseStandardOutput } from './outputFile.js';
import { Progress, requested } from './progress.js';
import {
  CommandError,
  FAILED,
  failingWith,
  note,
  print,
  printText,
  runCommand,
  WRONG_USAGE,
} from './terminal.js';

const FORMATS = EXPORTERS.map(({ name }) => name);

interface ExportOptions extends InputOptions {
  readonly to?: string;
  readonly output?: string;
  readonly json?: boolean;
}

export function addExport(program: Command): void {
  const formats = EXPORTERS.map(({ name, description }) => `  ${name.padEnd(12)}${description}`).join('\n');
  withInputOptions(
    program
      .command('export')
      .description('write a trace in the format of another program')
      .argument('<trace...>', ONE_TRACE)
      .addOption(new Option('-t, --to <format>', 'format, see below').choices(FORMATS))
      .option(
        '-o, --output <path>',
        'path of the file (compressed if it ends in .gz; - for the standard output) or of the folder (default: named after the trace)',
      )
      .option('--json', 'print the paths and sizes of the written files as JSON'),
  )
    .addHelpText('after', `\nFormats:\n${formats}`)
    .action((files: readonly string[], options: ExportOptions) =>
      runCommand(() => runExport(files, options)),
    );
}

async function runExport(files: readonly string[], options: ExportOptions): Promise<void> {
  const { to, output, json, progress: shown } = options;
  if (to === undefined) {
    const example = `longpole export ${files.join(' ')} --to ${FORMATS[0]}`;
    throw new CommandError(`Pass a format: ${example}. The formats are: ${FORMATS.join(', ')}.`, WRONG_USAGE);
  }
  const exporter = exporterOf(to);
  if (exporter.kind === 'folder') refuseStandardOutput('--output', output, `The format ${to} is a folder.`);
  else if (isStandardOutput(output)) {
    if (json === true)
      throw new CommandError('--json needs the standard output. Name a file with --output.', WRONG_USAGE);
    await streamTrace(openOne(files, options).trace, exporter.write, shown);
    return;
  }
  const opened = openOne(files, options);
  const target = output ?? defaultOutput(opened.files[0] ?? 'trace', exporter);
  if (opened.files.some((file) => realPath(file) === realPath(target))) {
    throw new CommandError(`${target} is the trace itself. Name another file with --output.`, WRONG_USAGE);
  }
  const progress = new Progress('writing', requested(shown));
  let total = 0;
  const onProgress = (bytes: number): void => {
    total = bytes;
    progress.bytes(bytes);
  };
  const written = failingWith(FAILED, () => {
    try {
      return exportTrace(opened.trace, { to, output: target, onProgress });
    } finally {
      progress.end();
    }
  });
  // A pipe has no size. It can only be a single output, so its size is the total.
  const sizes = written.map((file) => {
    const stat = statSync(file);
    return { file, bytes: stat.isFile() ? stat.size : total, isFile: stat.isFile() };
  });
  if (json === true) {
    const files = sizes.map(({ file, bytes }) => ({ file, bytes }));
    await print(`${JSON.stringify({ files }, null, 1)}\n`);
    return;
  }
  for (const { file, bytes, isFile } of sizes) {
    const line = `${file}  ${bytesText(bytes)}`;
    // The trace may have been written to the standard output.
    if (isFile) await printText(`${line}\n`);
    else note(line);
  }
}

/** Writes the file of a format to the standard output. If the reader closes the pipe, the command ends. */
async function streamTrace(
  trace: Trace,
  write: (trace: Trace) => Pieces,
  shown: boolean | undefined,
): Promise<void> {
  const progress = new Progress('writing', requested(shown));
  let total = 0;
  try {
    for (const piece of write(trace)) {
      await print(piece);
      total += Buffer.byteLength(piece);
      progress.bytes(total);
    }
  } finally {
    progress.end();
  }
  note(`standard output  ${bytesText(total)}`);
}

/** Returns the path without symbolic links; for a missing file the absolute path. */
function realPath(file: string): string {
  return existsSync(file) ? realpathSync(file) : resolve(file);
}

/** Returns a name in the working directory: that of the trace with the extension of the format. */
function defaultOutput(trace: string, { kind, name, extension }: Exporter): string {
  // The name of `.` is that of the folder.
  const own = basename(resolve(trace)).replace(/(\.trace|\.json|\.msgpack)?(\.gz)?$/, '');
  return kind === 'folder' ? `${own}-${name}` : `${own}${extension}`;
}
