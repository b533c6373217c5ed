// Opens several trace files, as given to a command.
import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { ANY, CALLABLE, checkArgument, checkOptions, kind, type OptionKinds } from '../base/arguments.js';
import { attempt } from '../base/errors.js';
import { checkMaxUnpackedBytes } from '../base/unpackLimit.js';
import { looksLikeDasf } from '../trace/formats/dasf/dasfRecords.js';
import type { Trace } from '../trace/trace.js';
import { TraceBuilder } from '../trace/traceBuilder.js';
import { type OpenTraceOptions, openTrace } from './openTrace.js';
import { headOf, readInChunks } from './readFile.js';
import { TraceFileReader } from './traceFormat.js';

export interface OpenedTrace {
  /** The names of the files, joined by ` + `. */
  readonly name: string;
  readonly files: readonly string[];
  readonly trace: Trace;
}

const OPTIONS: OptionKinds<Pick<OpenTraceOptions, 'maxUnpackedBytes'>> = { maxUnpackedBytes: ANY };
const PATHS = kind(
  'an array of paths',
  (value) => Array.isArray(value) && value.every((path) => typeof path === 'string'),
);

/**
 * Opens traces. DASF records tasks and resources of one run in several files. DASF's event files therefore become one
 * trace, at the place of the first. Every other file is a separate trace. `onProgress` receives the share of the
 * bytes that were read, 0 to 1. `maxUnpackedBytes` is for each file. Throws the errors of `openTrace`.
 */
export function openTraces(
  paths: readonly string[],
  onProgress?: (part: number) => void,
  options: Pick<OpenTraceOptions, 'maxUnpackedBytes'> = {},
): OpenedTrace[] {
  checkArgument('openTraces(): paths', paths, PATHS);
  if (onProgress !== undefined) checkArgument('openTraces(): onProgress', onProgress, CALLABLE);
  checkOptions('openTraces()', options, OPTIONS);
  const { maxUnpackedBytes } = options;
  checkMaxUnpackedBytes(maxUnpackedBytes);
  const limit = maxUnpackedBytes === undefined ? {} : { maxUnpackedBytes };
  const groups = grouped(paths);
  const total = paths.reduce((sum, path) => sum + sizeOf(path), 0);
  let before = 0;
  return groups.map((files) => {
    const [first = '', ...more] = files;
    const report = (bytes: number): void => onProgress?.(total === 0 ? 1 : (before + bytes) / total);
    if (more.length === 0) {
      const trace = openTrace(first, { onProgress: report, ...limit });
      before += sizeOf(first);
      return { name: first, files, trace };
    }
    const builder = new TraceBuilder();
    for (const file of files) {
      builder.file = basename(file);
      for (const bytes of readInChunks(file, new TraceFileReader(file, builder))) report(bytes);
      before += sizeOf(file);
    }
    return { name: files.join(' + '), files, trace: builder.build() };
  });
}

function grouped(paths: readonly string[]): string[][] {
  const groups: string[][] = [];
  let dasf: string[] | undefined;
  for (const path of paths) {
    if (!beginsLikeDasf(path)) groups.push([path]);
    else if (dasf !== undefined) dasf.push(path);
    else {
      dasf = [path];
      groups.push(dasf);
    }
  }
  return groups;
}

/** Returns whether a file begins like DASF's. False if it cannot be read, because opening it will throw the reason. */
function beginsLikeDasf(path: string): boolean {
  const head = headOf(path);
  return head.length > 0 && looksLikeDasf(head);
}

/** Returns the bytes of a file, 0 if they are unknown, because opening it will throw the reason. */
function sizeOf(path: string): number {
  return attempt(() => statSync(path).size, 0);
}
