// Finds the line of the user's program that called into the package.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Stack frames in which the caller is searched. */
const DEPTH = 10;
/** Maximum number of cached files. A full cache is cleared. */
const MAX_FILES = 50;
const MAX_LINE = 200;
/** Folders of the package through which calls of a program pass. The examples beside them are programs. */
const PARTS = ['api', 'bundle', 'graph', 'diagnostics', 'engine'].flatMap((part) => {
  const { href } = new URL(`../${part}/`, import.meta.url);
  return [href, fileURLToPath(href)];
});

/** Maximum number of cached calls. A full cache is cleared. */
const MAX_CALLS = 1000;

const texts = new Map<string, readonly string[] | undefined>();
/** Results of `callingLine` by place of the call in the running code. */
const known = new Map<string, string>();

/**
 * Returns the place of the running call of `entry`, a function of the package: the file relative to the working
 * directory, the number and the text of the line, e.g. `src/main.ts:12  using s = span('load');`. Returns an empty text
 * if no program made the call. Places are in TypeScript if Node maps stacks, e.g. under tsx. Costs about 3 µs; the
 * first call from a place costs about 20 µs and reads the file.
 */
export function callingLine(entry: (...args: never[]) => unknown): string {
  const limit = Error.stackTraceLimit;
  // Usually the program calls `entry` directly.
  Error.stackTraceLimit = 1;
  let place = callPlace(entry);
  Error.stackTraceLimit = DEPTH;
  if (place === '') place = callPlace(entry);
  let line = known.get(place);
  if (line === undefined || place === '') {
    line = searchedLine(entry);
    if (known.size >= MAX_CALLS) known.clear();
    known.set(place, line);
  }
  Error.stackTraceLimit = limit;
  return line;
}

/** Returns the place of the first stack frame of the program; empty if there is none. */
function placeOf(_error: unknown, frames: readonly NodeJS.CallSite[]): string {
  for (const frame of frames) {
    const url = frame.getScriptNameOrSourceURL() ?? '';
    // The position costs less than the line and the column.
    if (url !== '' && isProgram(url)) return `${url}:${frame.getPosition()}`;
  }
  return '';
}

/** Returns the place of the call in the running code, which may be compiled from TypeScript; empty if there is none. */
function callPlace(entry: (...args: never[]) => unknown): string {
  const { prepareStackTrace } = Error;
  const holder = { stack: '' };
  try {
    Error.prepareStackTrace = placeOf;
    Error.captureStackTrace(holder, entry);
    // V8 calls prepareStackTrace when the property is read.
    return holder.stack;
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
  }
}

function isProgram(url: string): boolean {
  return !url.startsWith('node:') && !PARTS.some((part) => url.startsWith(part));
}

/** Returns the line in the source, e.g. in TypeScript, to which Node maps the call. */
function searchedLine(entry: (...args: never[]) => unknown): string {
  const holder = { stack: '' };
  Error.captureStackTrace(holder, entry);
  for (const frame of holder.stack.split('\n').slice(1)) {
    const place = /(?:\(|at (?:async )?)((?:file:\/\/)?[^()]*):(\d+):\d+\)?$/.exec(frame);
    if (place === null) continue;
    const [, url = '', line = ''] = place;
    if (!isProgram(url)) continue;
    const file = url.startsWith('file:') ? fileURLToPath(url) : url;
    const text = lineOf(file, Number(line)).slice(0, MAX_LINE);
    const path = relative(process.cwd(), file);
    return `${path.startsWith('..') ? file : path}:${line}${text === '' ? '' : `  ${text}`}`;
  }
  return '';
}

function lineOf(file: string, line: number): string {
  let lines = texts.get(file);
  if (lines === undefined && !texts.has(file)) {
    if (texts.size >= MAX_FILES) texts.clear();
    lines = readLines(file);
    texts.set(file, lines);
  }
  return lines?.[line - 1]?.trim() ?? '';
}

function readLines(file: string): readonly string[] | undefined {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    // Code without a file, e.g. of `node --eval`, has no lines.
    return undefined;
  }
}
