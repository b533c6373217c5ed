// The line of the user's program that called into the package, as a text for people.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Frames that are looked through for the caller: Node's own and the package's are none. */
const DEPTH = 10;
/** Files whose text is kept; beyond it all are forgotten. */
const MAX_FILES = 50;
const MAX_LINE = 200;
/** The package's own code that a program's call passes through; beside it are the examples, which are programs. */
const PARTS = ['api', 'graph', 'diagnostics', 'engine'].flatMap((part) => {
  const { href } = new URL(`../${part}/`, import.meta.url);
  return [href, fileURLToPath(href)];
});

/** Calls whose lines are kept; beyond it all are forgotten. */
const MAX_CALLS = 1000;

const texts = new Map<string, readonly string[] | undefined>();
/** Place of a call in the code that runs → its line, as `callingLine` says it. */
const known = new Map<string, string>();

/**
 * Where the running call of the package's function `entry` was made: the file relative to the working directory, the
 * number of the line and the line itself, e.g. `src/main.ts:12  using s = span('load');`; empty if there is none. The stack is mapped to
 * TypeScript where Node maps stacks (under tsx it does). Costs ~3 µs,
 * and the first time from a place ~20 µs and reading the file.
 */
export function callingLine(entry: (...args: never[]) => unknown): string {
  const limit = Error.stackTraceLimit;
  // Mostly the program calls itself.
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

/** Where the call is in the code that runs, which may be compiled from something else; empty if there is no such place. */
function callPlace(entry: (...args: never[]) => unknown): string {
  const { prepareStackTrace } = Error;
  let place = '';
  const holder = { stack: '' };
  try {
    Error.prepareStackTrace = (_error, frames) => {
      const frame = frames.find((each) => isProgram(each.getScriptNameOrSourceURL() ?? ''));
      const url = frame?.getScriptNameOrSourceURL() ?? '';
      if (url !== '') place = `${url}:${frame?.getLineNumber()}:${frame?.getColumnNumber()}`;
      return '';
    };
    Error.captureStackTrace(holder, entry);
    // V8 asks only when somebody reads.
    void holder.stack;
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
  }
  return place;
}

function isProgram(url: string): boolean {
  return !url.startsWith('node:') && !PARTS.some((part) => url.startsWith(part));
}

/** As Node maps it. */
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
    // Code that is no file, such as that of `node --eval`, has no lines to show.
    return undefined;
  }
}
